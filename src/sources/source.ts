import type { PipelineStage } from "mongoose";
import type { TransactionPart } from "../database/in_transaction.ts";
import type { TimeBudget } from "../database/time_budget.ts";
import type { PartPath } from "./parts/part_path.ts";
import type { Hooks, MaybePromise } from "../declare/hooks/hooks.ts";
import type { Effect, ReadFields } from "../declare/hooks/named_fields.ts";
import type { FrameworkModel } from "../declare/model/framework_model.ts";
import type { ModelQuery } from "../declare/operations/action.ts";
import type { OperationName } from "../declare/operations/operation.ts";
import type { Filter } from "../filter/filters.ts";
import type { SortValues } from "../filter/order.ts";
import type { JsonPiece, Separator } from "../json/bytes/json_writer.ts";
import type { TargetFinder } from "../json/populate.ts";
import type { StoredObject } from "../write/stored_values.ts";
import type { JsonObject } from "../schema/fields/json.ts";
import type { Version } from "../schema/fields/system_fields.ts";

/**
 * An entity on its way through the hooks of a request. The entity is a document, a {@linkcode StoredEntity} from which
 * a document can be made, or a plain object that a `fetch` hook returned. Code must therefore check for a document
 * before it uses the methods of one.
 */
export type EntityValue = object;

/**
 * The name by which a read finds one entity. The name is a text from the path of the request, which the source casts,
 * or an object with the stored identifier, which is not cast.
 */
export type EntityName = string | { readonly _id: unknown };

/**
 * The hooks of a read that name the fields which they read, for one request. Such hooks need no entities, so the read
 * writes JSON from bytes and leaves out entities and fields as the hooks say.
 */
export interface Judge {
  /** The fields that the hooks read. The read includes these fields, and the answer does not show them for that. */
  readonly reads: readonly string[];
  /** Runs the hooks on one entity. Returns `undefined` if a hook rejects the entity. */
  pass(read: ReadFields): MaybePromise<Effect | undefined>;
  /** Whether nothing needs the answer any more, so that the read can stop. */
  isOver(): boolean;
}

/** The parts of a request that decide how its entities are read and how their JSON is written. */
export interface ReadRequest {
  readonly hooks: Hooks<object>;
  /**
   * Whether the operation changes the entities. Such entities are read with all their fields, because validators and
   * scopes need unselected fields too.
   */
  readonly forChange: boolean;
  /**
   * The fields that the client selects. Only reads of bytes are limited to these fields. Reads for hooks ignore the
   * selection, so that a hook can use other fields.
   */
  readonly select?: readonly string[] | undefined;
  readonly finder?: TargetFinder | undefined;
  /** The text that is written between two entities of a list. The default is a comma. */
  readonly separator?: Separator | undefined;
  /** The hooks that name their fields. Missing if another hook gets entities, or no hook does. */
  readonly judge?: Judge | undefined;
}

/**
 * A read that returns JSON text without making entities, for requests in which no hook gets an entity. The list of one
 * read can be read only once.
 */
export interface BytesRead {
  readonly kind: "bytes";
  /**
   * Whether hooks with named fields run for each entity. Such a hook may fail, so the answer must not begin before the
   * last entity has passed.
   */
  readonly isJudged: boolean;
  /**
   * Reads the list as JSON text in pieces, with separators between entities. A long list is therefore never in memory
   * as a whole.
   */
  list(): AsyncIterable<JsonPiece>;
  /**
   * Reads the JSON text of each entity of the list or of a page, in batches. Live lists use the method, because they
   * need the text of each entity separately.
   */
  each(page?: PageRead): AsyncIterable<readonly Uint8Array[]>;
  /** Reads a page. With `count`, the page has the total of its list. The count stops at the limit of `count`. */
  page(page: PageRead, count?: CountRead): Promise<FoundPage>;
  /**
   * Reads the entity with a name. Returns `null` if no entity with the name matches the filter and the scope of the
   * request.
   */
  one(name: EntityName): Promise<OneRead | null>;
}

/** A read that returns entities, for requests in which a hook gets them or the operation changes them. */
export interface EntitiesRead {
  readonly kind: "documents";
  list(page?: PageRead): AsyncIterable<readonly EntityValue[]>;
  /**
   * Reads the entity with a name. With `ignoresClient`, the filter of the client does not apply. Returns `null` if no
   * entity matches.
   */
  one(name: EntityName, ignoresClient?: boolean): Promise<EntityValue | null>;
}

/** An opened read of a source. The property `kind` decides whether the read returns JSON text or entities. */
export type Read = BytesRead | EntitiesRead;

/**
 * The request of a page read for the total of its list. The count stops at `limit`, so the total of a longer list is
 * not known.
 */
export interface CountRead {
  readonly limit?: number | undefined;
}

/** The JSON text of one entity, with the version from which the ETag of the answer is made. */
export interface OneRead {
  readonly text: string | Uint8Array;
  readonly version: Version;
}

export interface Aggregation {
  readonly stages: readonly PipelineStage[];
  /**
   * The fields whose stored values the result of the stages shows. A field whose JSON may differ from its stored value
   * is refused.
   */
  readonly fields: readonly string[];
}

export interface PageRead {
  /**
   * The filter that selects the entities after the cursor of the request. In a read that fills up a page, the filter
   * also excludes the entities that were already read.
   */
  readonly afterCursor?: Filter | undefined;
  /**
   * The paths whose values are written into the cursor of the next page. A read includes the paths even if the
   * projection leaves them out, because the cursor could not be written without their values.
   */
  readonly paths: readonly string[];
  readonly note?: (end: () => SortValues | undefined) => void;
  readonly skip: number;
  readonly limit: number;
  /** Whether the read fills up a page from which hooks have left out entities. Such a read has no limit. */
  readonly isRest?: boolean;
}

export interface FoundPage {
  /** The JSON text of the entities of the page, with separators between them. */
  readonly text: string | Uint8Array;
  /**
   * The entities of the page as JSON values. Missing if the page was written from bytes, because no hook gets the
   * entities.
   */
  readonly values?: readonly unknown[];
  readonly size: number;
  /**
   * The sort values of the last entity, from which the cursor of the next page is made. Missing if no page can continue
   * after the last entity, so that the answer has no cursor.
   */
  readonly end?: SortValues | undefined;
  /**
   * The last entity as JSON shows it. If the JSON hides or changes a sort value, the cursor must not contain the value.
   * Missing if the JSON of every entity shows the stored values, so that no comparison is needed.
   */
  readonly shown?: unknown;
  readonly more: boolean;
  /** The number of entities in the list. Missing if the source has not counted the list. */
  readonly total?: number | undefined;
  /**
   * The number of entities that were read up to the last entity of the page. Entities that hooks have left out are
   * included, because the parameter `skip` of the next page counts them too.
   */
  readonly read: number;
}

/**
 * The claim of a request on the entities that it creates. The claim reserves their identifiers, so that a repeated
 * request finds entities that are stored already.
 */
export interface CreationClaim extends TransactionPart {
  readonly ids: readonly unknown[];
  /** Returns the next reserved identifier, for a new entity. */
  takeId(): unknown;
  /** Notes the identifiers of the entities before their write, because hooks may have changed the identifiers. */
  keep(entities: readonly object[]): Promise<void>;
  /** Notes that the entities are stored. */
  finish(entities: readonly object[]): Promise<void>;
}

/** A write that a request asks for. A source plans it as one statement or as a write of documents. */
export interface Change {
  readonly hooks: Hooks<object>;
  readonly operation: OperationName;
  /**
   * The identifier of the entity in the path. Empty if the parent holds only one entity, so that the path needs no
   * identifier. Missing if the operation is on a list.
   */
  readonly id?: string | undefined;
  readonly body?: JsonObject | undefined;
  /**
   * The bodies of several new entities. Missing if the request creates at most one entity. `undefined` stands for a body
   * that needs a document, because it is refused.
   */
  readonly bodies?: readonly (JsonObject | undefined)[] | undefined;
  /** Whether either all new entities are stored or none. Otherwise each new entity succeeds or fails by itself. */
  readonly isAtomic?: boolean | undefined;
  /**
   * The most entities that the change may affect. A request that selects more entities gets a 409 and changes nothing.
   */
  readonly limit?: number | undefined;
  readonly claim?: CreationClaim | undefined;
  /** Whether the answer has no body, so that the stored entity need not be returned. */
  readonly minimal?: boolean;
}

/**
 * The plan of a write. With `"statement"`, one statement writes the change without Mongoose documents. With
 * `"documents"`, the caller has to write the change with documents, for the given reason.
 */
export type Write =
  | {
    readonly kind: "statement";
    /** Sends the statement. The conditions in `unchanged` bind the statement to the values that a guard has read. */
    send(unchanged?: Filter): Promise<WriteResult | Unsent>;
  }
  | { readonly kind: "documents"; readonly reason: string };

/** The fields of a stored entity that a guard of a write reads. */
export interface GuardedFields {
  /** Returns the frozen values of fields that the guard names. */
  readonly read: ReadFields;
  /** The conditions that the fields are stored as they were read. */
  readonly unchanged: Filter;
}

/**
 * The reason why a statement has written nothing. With `"missed"`, no entity matched its conditions. With `"refused"`,
 * the server refused the data, and documents repeat the write to find the cause.
 */
export type Unsent = "missed" | "refused";

/** The result of a statement that has written a change. The answer of the request is made from this result. */
export interface WriteResult {
  readonly text?: string | Uint8Array;
  readonly version?: Version;
  readonly created?: string;
  /** The number of changed entities. Missing if the operation changes only one entity. */
  readonly affected?: number;
  /**
   * The results of several new entities, in the order of their bodies. `undefined` stands for an entity that only a
   * document can create, so the caller must create it.
   */
  readonly results?: readonly (ItemResult | undefined)[];
}

export interface ItemResult {
  readonly _id?: unknown;
  readonly error?: unknown;
}

/**
 * The result of an insert in which each entity succeeds or fails by itself. The keys of both maps are the positions of
 * the entities in the list that was inserted.
 */
export interface InsertedEach {
  readonly errors: ReadonlyMap<number, unknown>;
  /**
   * Returns the saved entities as reads show them. The function may read the entities again, so it is called only if a
   * hook gets them.
   */
  readonly shown: () => Promise<ReadonlyMap<number, EntityValue>>;
}

/**
 * The conditions that bind a save of an action, in addition to the scope. They prevent that the save overwrites a
 * change of another request.
 */
export interface SaveBinding {
  /** The condition on the version that the stored entity has before the save. Missing if the version is not known. */
  readonly version?: Filter | undefined;
  /**
   * Whether the save is the first one of the action. Only the first save is bound to the filter of the client, because
   * the action may change the fields that the filter compares.
   */
  readonly isFirst: boolean;
}

export interface ReadBinding {
  readonly timeBudget: TimeBudget;
  /** The stored identifiers of the entities to read. Missing if the read is not limited to some entities. */
  readonly ids?: readonly unknown[] | undefined;
}

/**
 * The source of a route reads and writes the entities of the route where they are stored, in a collection or inside a
 * parent. Every operation of the pipeline works with every kind of source.
 */
export interface Source {
  /**
   * The identifier of the only entity of the source, if a parent refers to it. The reference may lead to another entity
   * later, so the ETag of the entity includes a hash of this identifier.
   */
  readonly only?: string | undefined;
  /**
   * Opens a read. The plan of the level decides whether the read returns JSON text or entities. A request may need
   * entities although the plan is bytes.
   */
  read(request: ReadRequest): Promise<Read>;
  /** Opens a read of entities, even if the plan of the level is bytes. */
  readEntities(request: ReadRequest): Promise<EntitiesRead>;
  /**
   * Counts the entities that the filter and the scope select. The query options `skip` and `limit` do not apply. The
   * count stops at `upTo`.
   */
  count(upTo?: number): Promise<number>;
  /**
   * Runs the stages of an aggregation on the entities that the filter and the scope select. The query options `skip`
   * and `limit` do not apply. Missing if the source has no collection, so that nothing can be aggregated.
   */
  aggregate?(asked: Aggregation): Promise<Record<string, unknown>[]>;
  /**
   * Reads stored values of the entity with a name. The filter of the client does not apply. Returns `undefined` if no
   * entity has the name.
   */
  readStored(name: EntityName, paths: readonly string[]): Promise<StoredObject | undefined>;
  /**
   * Reads the fields that a guard of a write names, of the entity that a change may write. Returns `null` if the request
   * selects no such entity, and `undefined` if a statement cannot be bound to the values. Missing if the source has no
   * collection.
   */
  readGuarded?(
    name: EntityName,
    names: readonly string[],
  ): Promise<GuardedFields | null | undefined>;
  /** Plans a change. Returns one statement that writes the change, or the reason why documents have to write it. */
  write(change: Change): Promise<Write>;
  newEntity(_id?: unknown): Promise<EntityValue>;
  /**
   * Returns the given identifiers that are stored, even if the client may not see their entities. Completes the
   * creation that a lost request has begun. For example, the method adds a reference to a new entity to the parent.
   */
  resume(ids: readonly unknown[]): Promise<readonly unknown[]>;
  save(entity: EntityValue): Promise<EntityValue>;
  /**
   * Saves new entities by one statement, so that each entity succeeds or fails by itself. Missing if each entity needs
   * a separate statement.
   */
  readonly insertEach?: ((entities: readonly EntityValue[]) => Promise<InsertedEach>) | undefined;
  /** Saves all new entities or none. */
  insertAll(entities: readonly EntityValue[]): Promise<EntityValue[]>;
  /**
   * Saves all given entities or none. The entities have been read before. Each update has the conditions that the save
   * of a single entity would have.
   */
  updateAll(entities: readonly EntityValue[]): Promise<void>;
  /** Returns a source for one save of an action. The source adds the conditions of the binding to its writes. */
  boundTo(binding: SaveBinding): Source;
  /**
   * Returns a source for another read of the same request, such as each read of a live list. The read has a separate
   * time budget and may be limited to some entities.
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
  /**
   * Removes the entities with the given identifiers. `unchanged` has a condition for each entity, which binds its removal
   * to the values that a guard has read.
   */
  removeMany(ids: readonly unknown[], unchanged?: readonly Filter[]): Promise<void>;
}
