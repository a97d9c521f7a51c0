import type { Place } from "./parts/place.ts";
import type { JsonObject } from "../schema/fields/json.ts";

/** A document, or a plain object of another database. */
export type EntityValue = object;

/** A new entity, stored. */
export interface Inserted {
  /** Its JSON text. */
  readonly text: string;
  /** Its identifier. */
  readonly id: string;
}

/** Where the entities of a route live. Every operation of the pipeline works on any of them. */
export interface Source {
  /** Reads all that is selected, several at a time: as a read shows it, or whole, so that it can be changed. */
  list(forChange: boolean): AsyncIterable<readonly EntityValue[]>;
  /**
   * Reads all that is selected as JSON text, pieces of one entity or several with commas between; `undefined` where that
   * takes documents.
   */
  listJson?(): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Reads the one with an identifier as JSON text: `null` where there is none, `undefined` where that takes documents. */
  byIdJson?(id: string): Promise<Uint8Array | null | undefined>;
  /** Reads the one with an identifier, as a read shows it. */
  byId(id: string): Promise<EntityValue | null>;
  /** Reads the one with an identifier, whole, so that it can be changed. */
  forChange(id: string): Promise<EntityValue | null>;
  /** Gives a new entity that is not stored yet. */
  fresh(): Promise<EntityValue>;
  /** Stores a new or changed entity; gives what the answer shows. */
  save(entity: EntityValue): Promise<EntityValue>;
  /** Tells where an entity of this source is stored, for what it holds itself. */
  locate(entity: EntityValue): Promise<Place>;
  /** Stores a new entity in one statement; `undefined` where that takes a document. */
  insert?(body: JsonObject): Promise<Inserted | undefined>;
  /**
   * Changes the one with an identifier in one statement, and gives its JSON text; `null` where there is none, `undefined`
   * where that takes the document.
   */
  patch?(id: string, body: JsonObject): Promise<string | Uint8Array | null | undefined>;
  /** Removes the one with an identifier in one statement; `undefined` where that takes the document. */
  removeById?(id: string): Promise<boolean | undefined>;
  /** Removes an entity. */
  remove(entity: EntityValue): Promise<void>;
  /** Gives the identifier of an entity that is to be removed. */
  identify(entity: EntityValue): unknown;
  /**
   * Reads again, whole and in any order, those of a list that are still selected; absent where the list is in memory
   * anyway.
   */
  listAgain?(ids: readonly unknown[]): Promise<readonly EntityValue[]>;
  /** Removes those entities of which only the identifiers are kept. */
  removeMany(ids: readonly unknown[]): Promise<void>;
  /** Removes all that is selected, in one go. */
  removeSelected(): Promise<void>;
}
