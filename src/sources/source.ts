import type { PipelineStage } from "mongoose";
import type { TransactionKey } from "../database/in_transaction.ts";
import type { TimeBudget } from "../database/time_budget.ts";
import type { PartPath } from "./parts/place.ts";
import type { Hooks } from "../declare/hooks/hooks.ts";
import type { FrameworkModel } from "../declare/model/framework_model.ts";
import type { ModelQuery } from "../declare/operations/action.ts";
import type { OperationName } from "../declare/operations/operation.ts";
import type { Filter } from "../filter/filters.ts";
import type { SortValues } from "../filter/parameters/order.ts";
import type { JsonPiece, Separator } from "../json/bytes/json_writer.ts";
import type { TargetFinder } from "../json/populate.ts";
import type { StoredObject } from "../write/stored_values.ts";
import type { JsonObject } from "../schema/fields/json.ts";
import type { Version } from "../schema/fields/system_fields.ts";

/**
 * The value of an entity in the pipeline. A value is a document, a {@linkcode StoredEntity} from which a document can
 * be made, or a plain object that a `fetch` hook returned.
 */
export type EntityValue = object;

/** The name of an entity, either the text of a path or an object with the stored identifier. */
export type EntityName = string | { readonly _id: unknown };

/** The facts of a request that decide how its entities are read and how their JSON is written. */
export interface ReadRequest {
  readonly hooks: Hooks<object>;
  /** Whether entities are read with all their fields, because the operation changes them. */
  readonly forChange: boolean;
  /** The fields that the client selects. Entities for hooks have all fields. */
  readonly select?: readonly string[] | undefined;
  readonly finder?: TargetFinder | undefined;
  /** The text between two entities of a list. The default is a comma. */
  readonly separator?: Separator | undefined;
}

/** A read whose answer is JSON as bytes. The list of one read can be read only once. */
export interface BytesRead {
  readonly kind: "bytes";
  /** Reads the list as JSON text in pieces, with separators between entities. */
  list(): AsyncIterable<JsonPiece>;
  /** Reads the JSON text of each entity of the list or of a page, in batches. */
  each(page?: PageRead): AsyncIterable<readonly Uint8Array[]>;
  /** Reads a page. With `count`, the page has the total of its list, counted up to a limit. */
  page(page: PageRead, count?: CountRead): Promise<FoundPage>;
  /** Reads the entity with a name. Returns `null` if no selected entity has the name. */
  one(name: EntityName): Promise<OneRead | null>;
}

/** A read that returns entities for hooks. */
export interface EntitiesRead {
  readonly kind: "documents";
  list(page?: PageRead): AsyncIterable<readonly EntityValue[]>;
  /** Reads the entity with a name. With `ignoresClient`, the filter of the client does not apply. */
  one(name: EntityName, ignoresClient?: boolean): Promise<EntityValue | null>;
}

/** An opened read of a source. The property `kind` decides which methods the read has. */
export type Read = BytesRead | EntitiesRead;

/** The request for the total of a list. The count stops at `limit`. */
export interface CountRead {
  readonly limit?: number | undefined;
}

/** The JSON text of one entity, with its version. */
export interface OneRead {
  readonly text: string | Uint8Array;
  readonly version: Version;
}

export interface Aggregation {
  readonly stages: readonly PipelineStage[];
  /** The fields whose values the result of the stages shows. */
  readonly fields: readonly string[];
}

export interface PageRead {
  /** The filter for the entities after the cursor of the page. */
  readonly afterCursor?: Filter | undefined;
  /**
   * The paths whose values the cursor of the next page holds. A read includes the paths even if the projection leaves
   * them out.
   */
  readonly paths: readonly string[];
  readonly note?: (end: () => SortValues | undefined) => void;
  readonly skip: number;
  readonly limit: number;
  /** Whether the read fills up a page from which hooks have left out entities. */
  readonly isRest?: boolean;
}

export interface FoundPage {
  /** The JSON text of the entities of the page, with separators between them. */
  readonly text: string | Uint8Array;
  /** The entities of the page as JSON values. Missing if no hook gets the entities. */
  readonly values?: readonly unknown[];
  readonly size: number;
  /**
   * The sort values of the last entity, from which the cursor of the next page is made. Missing if no page can continue
   * after the last entity.
   */
  readonly end?: SortValues | undefined;
  /**
   * The last entity as JSON shows it. Missing if JSON shows the stored values of every entity, which then need no
   * comparison with the sort values.
   */
  readonly shown?: unknown;
  readonly more: boolean;
  /** The number of entities in the list. Missing if the source has not counted the list. */
  readonly total?: number | undefined;
  /**
   * The number of entities that were read up to the last entity of the page. Entities that hooks have left out are
   * included.
   */
  readonly read: number;
}

/** A change that a request asks for. */
export interface Change {
  readonly hooks: Hooks<object>;
  readonly operation: OperationName;
  /** The identifier in the path. Empty if the parent holds only one entity. Missing if the operation is on a list. */
  readonly id?: string | undefined;
  readonly body?: JsonObject | undefined;
  /** The bodies of several new entities. */
  readonly bodies?: readonly JsonObject[] | undefined;
  /** Whether either all new entities are stored or none. */
  readonly isAtomic?: boolean | undefined;
  /** The most entities that the change may affect. */
  readonly limit?: number | undefined;
  /** The identifiers of new entities. */
  readonly reserved?: readonly unknown[] | undefined;
  readonly key?: TransactionKey | undefined;
  /** Whether the answer has no body. */
  readonly minimal?: boolean;
}

/** The plan of a write. Either one statement without documents writes the change, or documents do, for the reason. */
export type Write =
  | { readonly kind: "statement"; send(): Promise<WriteResult | Unsent> }
  | { readonly kind: "documents"; readonly reason: string };

/** Why a statement has written nothing: it has selected no entity, or the server has refused its data. */
export type Unsent = "missed" | "refused";

/** The result of a statement that has written a change. */
export interface WriteResult {
  readonly text?: string | Uint8Array;
  readonly version?: Version;
  readonly created?: string;
  /** The number of changed entities. Missing if the operation changes only one entity. */
  readonly affected?: number;
  /**
   * The results of several new entities, in the order of their bodies. `undefined` stands for an entity that only a
   * document can create.
   */
  readonly results?: readonly (ItemResult | undefined)[];
}

export interface ItemResult {
  readonly _id?: unknown;
  readonly error?: unknown;
}

/**
 * The result of an insert in which each entity succeeds or fails by itself. The keys of the maps are the positions of
 * the entities in the request.
 */
export interface InsertedEach {
  readonly errors: ReadonlyMap<number, unknown>;
  /** Returns the saved entities as reads show them. */
  readonly shown: () => Promise<ReadonlyMap<number, EntityValue>>;
}

/** The conditions that bind a save of an action, in addition to the scope. */
export interface SaveBinding {
  /** The condition on the version before the save. Missing if the version is not known. */
  readonly version?: Filter | undefined;
  /** Whether the save is the first one of the action. Only the first save is bound to the filter of the client. */
  readonly isFirst: boolean;
}

export interface ReadBinding {
  readonly timeBudget: TimeBudget;
  /** The stored identifiers of the entities to read. Missing if the read is not limited to some entities. */
  readonly ids?: readonly unknown[] | undefined;
}

/**
 * The source of a route reads and writes the entities of the route where they are stored. Every operation of the
 * pipeline works with every kind of source.
 */
export interface Source {
  /**
   * The identifier of the only entity of the source, if a parent refers to it. The reference may lead to another entity
   * later.
   */
  readonly only?: string | undefined;
  /** Opens a read by the plan of the level, which the request may lower. */
  read(request: ReadRequest): Promise<Read>;
  /** Opens a read of entities, even if the plan of the level is to read bytes. */
  readEntities(request: ReadRequest): Promise<EntitiesRead>;
  /** Counts the selected entities, without `skip` and `limit`. The count stops at `upTo`. */
  count(upTo?: number): Promise<number>;
  /**
   * Runs the stages of an aggregation on the selected entities, without `skip` and `limit`. Missing if the source has
   * no collection.
   */
  groups?(asked: Aggregation): Promise<Record<string, unknown>[]>;
  /** Reads stored values of an entity. The filter of the client does not apply. */
  readStored(name: EntityName, paths: readonly string[]): Promise<StoredObject | undefined>;
  /** Plans a change: one statement, or documents. */
  write(change: Change): Promise<Write>;
  newEntity(_id?: unknown): Promise<EntityValue>;
  /**
   * Returns the given identifiers that are stored, even if the client may not see the entities. Completes the creation
   * that a lost request has begun, such as the reference of a parent to a new entity.
   */
  resume(ids: readonly unknown[]): Promise<readonly unknown[]>;
  save(entity: EntityValue): Promise<EntityValue>;
  /** Saves new entities by one statement, each by itself. Missing if each entity needs a separate statement. */
  readonly insertEach?: ((entities: readonly EntityValue[]) => Promise<InsertedEach>) | undefined;
  /** Saves all new entities or none. */
  insertAll(entities: readonly EntityValue[]): Promise<EntityValue[]>;
  /**
   * Saves all given entities or none. The entities have been read before, and each update has the same conditions as
   * the save of a single entity.
   */
  updateAll(entities: readonly EntityValue[]): Promise<void>;
  /** Returns a source for one save of an action, with the conditions of the binding. */
  boundTo(binding: SaveBinding): Source;
  /**
   * Returns a source for another read of the same request, with another time budget. The read may be limited to some
   * entities.
   */
  within(read: ReadBinding): Source;
  query?(): Promise<ModelQuery<FrameworkModel>>;
  /**
   * Returns the path to an entity of this source, by which the embedded or referenced parts of the entity are read and
   * written.
   */
  locate(entity: EntityValue): Promise<PartPath>;
  remove(entity: EntityValue): Promise<void>;
  identify(entity: EntityValue): unknown;
  removeMany(ids: readonly unknown[]): Promise<void>;
}
