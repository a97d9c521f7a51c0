import type { Place } from "./place/place.ts";
import type { OperationName } from "../declare/operations/operation.ts";
import type { JsonObject } from "../schema/fields/json.ts";
import type { DirectResult } from "./direct/direct_collection.ts";

/** A document, or a pojo that a `fetch` hook gave. */
export type EntityValue = object;

/** What a request asks of a source where no hook sees its entities. */
export interface DirectCall {
  readonly operation: OperationName;
  /** What names the entity in the path; empty where the parent holds only one. */
  readonly id?: string | undefined;
  /** The body of a write. */
  readonly body?: JsonObject | undefined;
}

/** Where the entities of a route live. Every operation of the pipeline works on any of them. */
export interface Source {
  /** Reads all that is selected, several at a time: as a read shows it, or whole, so that it can be changed. */
  list(forChange: boolean): AsyncIterable<readonly EntityValue[]>;
  /** Counts all that is selected, pages aside. */
  count(): Promise<number>;
  /** Answers a request without documents: `null` where it names no entity, `undefined` where it needs documents. */
  direct?(request: DirectCall): Promise<DirectResult | null | undefined>;
  /** Reads the one with an identifier, as a read shows it. */
  byId(id: string): Promise<EntityValue | null>;
  /** Reads the one with an identifier, whole, so that it can be changed. */
  forChange(id: string): Promise<EntityValue | null>;
  /** Gives a new entity that is not stored yet. */
  newEntity(): Promise<EntityValue>;
  /** Stores a new or changed entity; gives what the answer shows. */
  save(entity: EntityValue): Promise<EntityValue>;
  /** Tells where an entity of this source is stored, for what it holds itself. */
  locate(entity: EntityValue): Promise<Place>;
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
}
