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
import type { SavedEntity } from "./saved_entity.ts";
import type { StoredObject } from "../write/stored_values.ts";
import type { JsonObject } from "../schema/fields/json.ts";
import type { Version } from "../schema/fields/system_fields.ts";

/**
 * An entity while the hooks of a request get it. The entity is a Mongoose document, a {@linkcode StoredEntity} from
 * which a document can be made, or a plain object that a `fetch` hook returned. Code must therefore check for a
 * document before it uses the methods of a document.
 */
export type EntityValue = object;

/**
 * The value by which a read finds one entity. A text comes from the path of the request and is cast to the type of the
 * field. An object with `_id` has the stored identifier, which is not cast.
 */
export type EntityName = string | { readonly _id: unknown };

/**
 * The hooks of a read that name the fields which they read, for one request. Such hooks need no entities, so the read
 * writes JSON from bytes and leaves out entities and fields as the hooks say.
 */
export interface Judge {
  /** The fields that the hooks read. The database returns these fields too, although the answer may not show them. */
  readonly reads: readonly string[];
  /** The fields that the hooks may leave out of the answer. A cursor must not reveal the values of these fields. */
  readonly leavesOut: readonly string[];
  /** Runs the hooks on one entity. Returns `undefined` if a hook rejects the entity. */
  pass(read: ReadFields): MaybePromise<Effect | undefined>;
  /** Whether nobody waits for the answer any more, such as after a lost connection, so that the read can stop. */
  isOver(): boolean;
}

/** The properties of a request, such as hooks and selected fields, that decide how its entities are read and shown. */
export interface ReadRequest {
  readonly hooks: Hooks<object>;
  /**
   * Whether the operation changes the entities. Such entities are read with all their fields, because validators and
   * scopes need unselected fields too.
   */
  readonly forChange: boolean;
  /**
   * The fields that the client selects. Entities for hooks are read with all fields nevertheless, because a hook may
   * need other fields. Only reads that return JSON text without hooks are limited to these fields.
   */
  readonly select?: readonly string[] | undefined;
  readonly finder?: TargetFinder | undefined;
  /** The text between two entities of a list, such as a line break for JSON lines. The default is a comma. */
  readonly separator?: Separator | undefined;
  /** The hooks of the read if all of them name the fields that they read. Missing if a hook gets whole entities. */
  readonly judge?: Judge | undefined;
}

/**
 * A read that converts stored bytes to JSON text and makes no objects of entities. This faster read is used for
 * requests in which no hook gets an entity. Each list can be read only once.
 */
export interface BytesRead {
  readonly kind: "bytes";
  /**
   * Whether hooks with named fields run for each entity. A hook may fail, so the answer must not begin before the last
   * entity has passed the hooks.
   */
  readonly isJudged: boolean;
  /**
   * Reads the list as several JSON texts, which contain the separators between entities. A long list is therefore never
   * in memory as a whole.
   */
  list(): AsyncIterable<JsonPiece>;
  /**
   * Reads the list, or a page of it, as a separate JSON text for each entity, in batches. Live lists compare the texts
   * of single entities.
   */
  each(page?: PageRead): AsyncIterable<readonly Uint8Array[]>;
  /**
   * Reads a page of the list. With `count`, the result also has the number of entities in the whole list, which is
   * counted up to the limit of `count`.
   */
  page(page: PageRead, count?: CountRead): Promise<FoundPage>;
  /** Reads one entity. Returns `null` if the named entity does not exist or does not match the filter and the scope. */
  one(name: EntityName): Promise<OneRead | null>;
}

/** A read that returns entities as objects, because a hook gets them or the operation changes them. */
export interface EntitiesRead {
  readonly kind: "documents";
  list(page?: PageRead): AsyncIterable<readonly EntityValue[]>;
  /**
   * Reads one entity. With `ignoresClient`, the filter of the client does not apply, but scopes and the filter of hooks
   * do. Returns `null` if no entity matches.
   */
  one(name: EntityName, ignoresClient?: boolean): Promise<EntityValue | null>;
}

/** A read of the entities of a route. The property `kind` decides whether the read returns JSON text or objects. */
export type Read = BytesRead | EntitiesRead;

/**
 * The request for the number of entities in the whole list. The database counts up to `limit`, so that a long list does
 * not cost much time.
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
  /** The query parameter that asks for the aggregation, such as `group`. A refusal names the parameter. */
  readonly parameter: string;
  readonly stages: readonly PipelineStage[];
  /**
   * The fields whose stored values the result shows, such as the grouped fields. A field is refused if a function of
   * the model shows another value to clients, because the result would reveal the stored value.
   */
  readonly fields: readonly string[];
}

export interface PageRead {
  /**
   * The filter for the entities after the cursor of the request. If hooks have left out entities of a page, the filter
   * for further entities also excludes the entities that were read already.
   */
  readonly afterCursor?: Filter | undefined;
  /**
   * The paths whose values are needed for the cursor of the next page. These paths are read even if the answer does not
   * show them.
   */
  readonly paths: readonly string[];
  readonly note?: (end: () => SortValues | undefined) => void;
  readonly skip: number;
  readonly limit: number;
  /**
   * Whether the read fetches further entities for a page from which hooks have left out entities. Such a read has no
   * limit, because hooks may leave out any number of entities.
   */
  readonly isRest?: boolean;
  /** Whether the collation of the list may compare different identifiers as equal. */
  readonly isLoose?: boolean;
}

export interface FoundPage {
  /** The entities of the page as JSON text, with the separators between them. */
  readonly text: string | Uint8Array;
  /** The entities of the page as JSON values. Missing if no hook gets them, so that the page was read as JSON text. */
  readonly values?: readonly unknown[];
  readonly size: number;
  /**
   * The sort values of the last entity, from which the cursor of the next page is made. Missing if no page can begin
   * after this entity, so that the answer has no cursor.
   */
  readonly end?: SortValues | undefined;
  /** The sort values of the entity after the page, if {@linkcode PageRead.isLoose} is set. */
  readonly next?: SortValues | undefined;
  /**
   * The JSON of the last entity with all fields that the reader may see. The cursor of the next page contains only sort
   * values that this JSON shows, so that the cursor reveals no hidden value. Missing if the JSON of every entity shows
   * the stored values.
   */
  readonly shown?: unknown;
  readonly more: boolean;
  /** The number of entities in the whole list. Missing if the request does not ask for this number. */
  readonly total?: number | undefined;
  /**
   * The number of entities that were read up to the last entity of the page. The number includes the entities that
   * hooks have left out, because the link to the next page has this number in its parameter `skip`.
   */
  readonly read: number;
}

/**
 * The identifiers that an idempotency key has reserved for the new entities of a request. A repeated request with the
 * key finds the entities by these identifiers and creates no second entities.
 */
export interface CreationClaim extends TransactionPart {
  readonly ids: readonly unknown[];
  /** Returns the next identifier that is reserved for a new entity. */
  takeId(): unknown;
  /**
   * Stores the identifiers of the new entities with the idempotency key before the entities are written, so that a
   * repeated request finds the entities. Hooks may have changed the reserved identifiers.
   */
  keep(entities: readonly object[]): Promise<void>;
  /** Stores that the entities were written, so that a repeated request answers with them. */
  finish(entities: readonly object[]): Promise<void>;
}

/**
 * A change of stored entities, with the values by which a source decides how to write it. The source writes the change
 * by one statement of the database, or asks its caller to write Mongoose documents.
 */
export interface Change {
  readonly hooks: Hooks<object>;
  readonly operation: OperationName;
  /**
   * The identifier of the entity in the path of the request. Empty if the path has no identifier, because the parent
   * holds only one entity. Missing if the operation is on a list.
   */
  readonly id?: string | undefined;
  readonly body?: JsonObject | undefined;
  /**
   * The bodies of several new entities. Missing if the request creates at most one entity. `undefined` stands for a
   * body that strict bodies refuse. The caller makes a Mongoose document of this body, which reports the errors.
   */
  readonly bodies?: readonly (JsonObject | undefined)[] | undefined;
  /** Whether either all new entities are stored or none. Otherwise, each new entity succeeds or fails separately. */
  readonly isAtomic?: boolean | undefined;
  /** The maximum number of entities to affect. A request that selects more changes nothing. */
  readonly limit?: number | undefined;
  /** Whether the statement will have the conditions of a guard, so that it changes a stored entity only. */
  readonly isGuarded?: boolean;
  readonly claim?: CreationClaim | undefined;
  /** Whether the answer has no body, so that the stored entity need not be returned. */
  readonly minimal?: boolean;
}

/**
 * The decision how a change is written. With `"statement"`, `send()` writes the change by one statement of the
 * database, without Mongoose documents. With `"documents"`, the caller has to read the entities as Mongoose documents
 * and to save them, because only documents can apply a rule that `reason` names.
 */
export type Write =
  | {
    readonly kind: "statement";
    /** Sends the statement, with `unchanged` as conditions on the values that a hook has read to allow the write. */
    send(unchanged?: Filter): Promise<WriteResult | Unsent>;
  }
  | { readonly kind: "documents"; readonly reason: string };

/** The fields of a stored entity by which a hook decides whether a write is allowed (guard). */
export interface GuardedFields {
  /** Returns the values of fields that the hook names. They are frozen, so that the hook cannot change them. */
  readonly read: ReadFields;
  /** The conditions of the write that the stored values of these fields have not changed since they were read. */
  readonly unchanged: Filter;
}

/**
 * The reason why a statement has written nothing. With `"missed"`, no entity matched its conditions. With `"refused"`,
 * the database refused the data. Mongoose documents repeat the write, because their errors name the invalid field.
 */
export type Unsent = "missed" | "refused";

/** The result of a statement that has written a change. The answer to the request is made from this result. */
export interface WriteResult {
  readonly text?: string | Uint8Array;
  readonly version?: Version;
  readonly created?: string;
  /** The number of changed entities. Missing if the operation changes only one entity. */
  readonly affected?: number;
  /**
   * The results of several new entities, in the order of their bodies. `undefined` stands for an entity that the
   * statement could not create, so that the caller must create it as a document.
   */
  readonly results?: readonly (ItemResult | undefined)[];
}

export interface ItemResult {
  readonly _id?: unknown;
  readonly error?: unknown;
}

/**
 * The result of an insert in which each entity succeeds or fails separately. Errors and saved entities are found by the
 * index of the entity in the inserted list.
 */
export interface InsertedEach {
  readonly errors: ReadonlyMap<number, unknown>;
  /**
   * Returns the saved entities in the form in which a read returns them. The function may read the entities again, so
   * it is called only if a hook gets them.
   */
  readonly shown: () => Promise<ReadonlyMap<number, EntityValue>>;
}

/**
 * The conditions for one save in an action, or for a write whose body contains the version, in addition to the scope.
 * With them, the save fails and overwrites nothing if another request has changed the entity since it was read.
 */
export interface SaveBinding {
  /** The condition that the stored entity still has the version that was read. Missing if the version is not known. */
  readonly version?: Filter | undefined;
  /**
   * Whether the save is the first save of the action. Only the first save has the filter of the client as a condition,
   * because the action may have changed the fields in the filter.
   */
  readonly isFirst: boolean;
}

export interface ReadBinding {
  readonly timeBudget: TimeBudget;
  /** The identifiers of the entities to read. Missing if all selected entities are read. */
  readonly ids?: readonly unknown[] | undefined;
}

/**
 * The object that reads and writes the entities of a route (source). The entities may be stored in a collection, be
 * embedded in a parent, or be referenced by a parent. Every operation works with each of these sources.
 */
export interface Source {
  /**
   * The identifier of the only entity of the source, if a parent references it. The parent may reference another entity
   * later, so the `ETag` of the entity contains a hash of this identifier.
   */
  readonly only?: string | undefined;
  /**
   * Returns a read of the entities. The read returns JSON text if no hook and no code of the model needs the entities
   * as objects, because JSON text is faster.
   */
  read(request: ReadRequest): Promise<Read>;
  /** Returns a read that returns the entities as objects, such as for an update. */
  readEntities(request: ReadRequest): Promise<EntitiesRead>;
  /**
   * Counts the entities that the filter and the scope select, up to `upTo`. The query options `skip` and `limit` do not
   * apply.
   */
  count(upTo?: number): Promise<number>;
  /**
   * Runs an aggregation on the entities that the filter and the scope select. The query options `skip` and `limit` do
   * not apply. Missing if the entities are embedded in a parent, because they have no collection.
   */
  aggregate?(asked: Aggregation): Promise<Record<string, unknown>[]>;
  /**
   * Reads stored values of one entity, such as its version. The filter of the client does not apply. Returns
   * `undefined` if the entity does not exist.
   */
  readStored(name: EntityName, paths: readonly string[]): Promise<StoredObject | undefined>;
  /**
   * Reads the fields by which a hook decides about the write of an entity (guard). Returns `null` if the request
   * selects no such entity, and `undefined` if the conditions of a statement cannot express the values. Missing if the
   * source has no collection.
   */
  readGuarded?(
    name: EntityName,
    names: readonly string[],
  ): Promise<GuardedFields | null | undefined>;
  /** Decides how a change is written. Nothing is written before the caller calls `send()` of the result. */
  write(change: Change): Promise<Write>;
  newEntity(_id?: unknown): Promise<EntityValue>;
  /** Sets the values of class options on a document that a hook of the application will write. */
  stamp(entity: EntityValue): void;
  /**
   * Returns the given identifiers whose entities are stored, even if the client may not see them. Also completes a
   * creation that a lost request has begun, such as by adding the reference to a new entity to the parent.
   */
  resume(ids: readonly unknown[]): Promise<readonly unknown[]>;
  save(entity: EntityValue): Promise<SavedEntity>;
  /** Saves new entities by one statement, each separately. Missing if each entity needs a separate statement. */
  readonly insertEach?: ((entities: readonly EntityValue[]) => Promise<InsertedEach>) | undefined;
  /** Saves all new entities or none. */
  insertAll(entities: readonly EntityValue[]): Promise<EntityValue[]>;
  /**
   * Saves changes of several entities, either all or none. Each update has the same conditions as the save of a single
   * entity, so that changes of other requests are not overwritten.
   */
  updateAll(entities: readonly EntityValue[]): Promise<void>;
  /**
   * Returns a source for one save, which fails if another request has changed the entity since it was read. Actions and
   * strict bodies with a version use it.
   */
  boundTo(binding: SaveBinding): Source;
  /**
   * Returns a source for another read of the same request, such as each read of a live list. The read has a separate
   * time limit and may be restricted to some entities.
   */
  within(read: ReadBinding): Source;
  query?(): Promise<ModelQuery<FrameworkModel>>;
  /**
   * Returns the place where an entity of this source is stored, by which the parts of the entity are read and written.
   */
  locate(entity: EntityValue): Promise<PartPath>;
  remove(entity: EntityValue): Promise<void>;
  identify(entity: EntityValue): unknown;
  /**
   * Removes the entities with the given identifiers. `unchanged` has a condition for each entity, which fails if
   * another request has changed a value that a hook has read to allow the removal. Returns the number of removed
   * entities.
   */
  removeMany(ids: readonly unknown[], unchanged?: readonly Filter[]): Promise<number>;
}
