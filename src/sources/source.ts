import type { PipelineStage } from "mongoose";
import type { TransactionPart } from "../store/in_transaction.ts";
import type { TimeBudget } from "../store/time_budget.ts";
import type { PartPath } from "../store/parts/part_path.ts";
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
import type { StoredObject } from "../store/values.ts";
import type { JsonObject } from "../schema/fields/json.ts";
import type { Version } from "../schema/fields/system_fields.ts";

/**
 * A Mongoose document, a {@linkcode StoredEntity}, or a plain object that a `fetch` hook returned. Check for a document
 * before you use its methods.
 */
export type EntityValue = object;

/**
 * A string comes from the path of the request and is cast to the type of the field. An object with `_id` has the stored
 * identifier, which is not cast.
 */
export type EntityName = string | { readonly _id: unknown };

/** The hooks of a read that name the fields which they read. They need no entities. */
export interface Judge {
  /** The database returns these fields too, although the answer may not show them. */
  readonly reads: readonly string[];
  /** A cursor must not reveal the values of these fields. */
  readonly leavesOut: readonly string[];
  /** `undefined` if a hook rejects the entity. */
  pass(read: ReadFields): MaybePromise<Effect | undefined>;
  /** Whether nobody waits for the answer any more, so that the read can stop. */
  isOver(): boolean;
}

export interface ReadRequest {
  readonly hooks: Hooks<object>;
  /** Entities that change are read with all their fields, because validators and scopes need unselected fields too. */
  readonly forChange: boolean;
  /**
   * The fields that the client selects. Entities for hooks are read with all fields nevertheless, because a hook may
   * need other fields.
   */
  readonly select?: readonly string[] | undefined;
  readonly finder?: TargetFinder | undefined;
  /** The string between two entities of a list. The default is a comma. */
  readonly separator?: Separator | undefined;
  /** Missing if a hook gets whole entities. */
  readonly judge?: Judge | undefined;
}

/** Converts stored bytes to JSON without objects, if no hook gets an entity. Each list can be read only once. */
export interface BytesRead {
  readonly kind: "bytes";
  /**
   * Whether hooks with named fields run for each entity. A hook may fail, so the answer must not begin before the last
   * entity has passed the hooks.
   */
  readonly isJudged: boolean;
  /** The pieces contain the separators between entities. A long list is never in memory as a whole. */
  list(): AsyncIterable<JsonPiece>;
  /** Separate JSON for each entity, in batches. */
  each(page?: PageRead): AsyncIterable<readonly Uint8Array[]>;
  /** `count` adds the number of entities in the whole list, up to its limit. */
  page(page: PageRead, count?: CountRead): Promise<FoundPage>;
  /** `null` if the entity does not exist or does not match the filter and the scope. */
  one(name: EntityName): Promise<OneRead | null>;
}

/** Returns objects, because a hook gets them or the operation changes them. */
export interface EntitiesRead {
  readonly kind: "documents";
  list(page?: PageRead): AsyncIterable<readonly EntityValue[]>;
  /**
   * With `ignoresClient`, the filter of the client does not apply, but scopes and the filter of hooks do. `null` if no
   * entity matches.
   */
  one(name: EntityName, ignoresClient?: boolean): Promise<EntityValue | null>;
}

/** The property `kind` decides whether the read returns JSON or objects. */
export type Read = BytesRead | EntitiesRead;

/** The database counts up to `limit`, so that a long list does not cost much time. */
export interface CountRead {
  readonly limit?: number | undefined;
}

/** The version becomes the ETag of the answer. */
export interface OneRead {
  readonly text: string | Uint8Array;
  readonly version: Version;
}

export interface Aggregation {
  /** The query parameter that asks for the aggregation, for the message of a refusal. */
  readonly parameter: string;
  readonly stages: readonly PipelineStage[];
  /**
   * The fields whose stored values the result shows. A field is refused if a function of the model shows another value
   * to clients, because the result would reveal the stored value.
   */
  readonly fields: readonly string[];
}

export interface PageRead {
  readonly afterCursor?: Filter | undefined;
  /** The paths that the cursor of the next page needs. They are read even if the answer does not show them. */
  readonly paths: readonly string[];
  readonly note?: (end: () => SortValues | undefined) => void;
  readonly skip: number;
  readonly limit: number;
  /**
   * Whether the read fetches further entities after hooks have left some out. Such a read has no limit, because hooks
   * may leave out any number.
   */
  readonly isRest?: boolean;
  /** Whether the collation of the list may compare different identifiers as equal. */
  readonly isLoose?: boolean;
}

export interface FoundPage {
  /** The JSON of the entities, with the separators between them. */
  readonly text: string | Uint8Array;
  /** Missing if no hook gets the entities. */
  readonly values?: readonly unknown[];
  readonly size: number;
  /**
   * The sort values of the last entity. Missing if no page can begin after this entity, so that the answer has no
   * cursor.
   */
  readonly end?: SortValues | undefined;
  readonly next?: SortValues | undefined;
  /**
   * The JSON of the last entity with all fields that the reader may see, so that the cursor reveals no hidden value.
   * Missing if the JSON of every entity shows the stored values.
   */
  readonly shown?: unknown;
  readonly more: boolean;
  /** The number of entities in the whole list. */
  readonly total?: number | undefined;
  /**
   * Includes the entities that hooks have left out, because the link to the next page has this number in its parameter
   * `skip`.
   */
  readonly read: number;
}

/** The identifiers that an idempotency key has reserved, so that a repeated request creates no second entities. */
export interface CreationClaim extends TransactionPart {
  readonly ids: readonly unknown[];
  takeId(): unknown;
  /**
   * Runs before the entities are written, so that a repeated request finds them. Hooks may have changed the reserved
   * identifiers.
   */
  keep(entities: readonly object[]): Promise<void>;
  /** After this call, a repeated request answers with the entities. */
  finish(entities: readonly object[]): Promise<void>;
}

/** A change of stored entities, and the facts that decide how it is written. */
export interface Change {
  readonly hooks: Hooks<object>;
  readonly operation: OperationName;
  /**
   * Empty if the path has no identifier, because the parent holds only one entity. Missing if the operation is on a
   * list.
   */
  readonly id?: string | undefined;
  readonly body?: JsonObject | undefined;
  /**
   * The bodies of several new entities. `undefined` stands for a body that strict bodies refuse, whose Mongoose
   * document reports the errors.
   */
  readonly bodies?: readonly (JsonObject | undefined)[] | undefined;
  /** Whether either all new entities are stored or none. */
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
 * With `"documents"`, the caller has to save Mongoose documents, because only documents can apply a rule that `reason`
 * names.
 */
export type Write =
  | {
    readonly kind: "statement";
    /** `unchanged` has conditions on the values that a hook has read to allow the write. */
    send(unchanged?: Filter): Promise<WriteResult | Unsent>;
  }
  | { readonly kind: "documents"; readonly reason: string };

/** The fields by which a hook decides whether a write is allowed. */
export interface GuardedFields {
  /** Returns frozen values, so that the hook cannot change them. */
  readonly read: ReadFields;
  /** The conditions that these fields have not changed since they were read. */
  readonly unchanged: Filter;
}

/**
 * `"missed"` if no entity matched the conditions. After `"refused"`, Mongoose documents repeat the write, because their
 * errors name the invalid field.
 */
export type Unsent = "missed" | "refused";

/** The result of a statement, from which the answer is made. */
export interface WriteResult {
  readonly text?: string | Uint8Array;
  readonly version?: Version;
  readonly created?: string;
  /** Missing if the operation changes only one entity. */
  readonly affected?: number;
  /** In the order of the bodies. `undefined` stands for an entity that the caller must create as a document. */
  readonly results?: readonly (ItemResult | undefined)[];
}

export interface ItemResult {
  readonly _id?: unknown;
  readonly error?: unknown;
}

/** Both maps are keyed by the index of the entity in the inserted list. */
export interface InsertedEach {
  readonly errors: ReadonlyMap<number, unknown>;
  /** May read the entities again, so it is called only if a hook gets them. */
  readonly shown: () => Promise<ReadonlyMap<number, EntityValue>>;
}

/**
 * The conditions for one save, in addition to the scope. The save fails and overwrites nothing if another request has
 * changed the entity since it was read.
 */
export interface SaveBinding {
  /** Missing if the version is not known. */
  readonly version?: Filter | undefined;
  /**
   * Only the first save has the filter of the client as a condition, because an action may have changed the fields in
   * the filter.
   */
  readonly isFirst: boolean;
}

export interface ReadBinding {
  readonly timeBudget: TimeBudget;
  /** Missing if all selected entities are read. */
  readonly ids?: readonly unknown[] | undefined;
}

/**
 * The entities of a route, which are stored in a collection, embedded in a parent, or referenced by a parent. Every
 * operation works with each of these sources.
 */
export interface Source {
  /**
   * The identifier of the only entity, if a parent references it. The parent may reference another entity later, so the
   * `ETag` contains a hash of this identifier.
   */
  readonly only?: string | undefined;
  /** Reads JSON, which is faster, unless a hook or code of the model needs objects. */
  read(request: ReadRequest): Promise<Read>;
  /** Always reads objects. */
  readEntities(request: ReadRequest): Promise<EntitiesRead>;
  /**
   * Counts the entities that the filter and the scope select, up to `upTo`. The query options `skip` and `limit` do not
   * apply.
   */
  count(upTo?: number): Promise<number>;
  /**
   * Applies the filter and the scope, but not `skip` and `limit`. Missing if the entities are embedded in a parent,
   * because they have no collection.
   */
  aggregate?(asked: Aggregation): Promise<Record<string, unknown>[]>;
  /** The filter of the client does not apply. `undefined` if the entity does not exist. */
  readStored(name: EntityName, paths: readonly string[]): Promise<StoredObject | undefined>;
  /**
   * `null` if the request selects no such entity, and `undefined` if a condition cannot express the values. Missing if
   * the source has no collection.
   */
  readGuarded?(
    name: EntityName,
    names: readonly string[],
  ): Promise<GuardedFields | null | undefined>;
  /** Nothing is written before the caller calls `send()` of the result. */
  write(change: Change): Promise<Write>;
  newEntity(_id?: unknown): Promise<EntityValue>;
  /** For a document that a hook of the application will write. */
  stamp(entity: EntityValue): void;
  /**
   * Returns the stored identifiers, even if the client may not see the entities. Also completes a creation that a lost
   * request has begun.
   */
  resume(ids: readonly unknown[]): Promise<readonly unknown[]>;
  save(entity: EntityValue): Promise<SavedEntity>;
  /** Missing if each entity needs a separate statement. */
  readonly insertEach?: ((entities: readonly EntityValue[]) => Promise<InsertedEach>) | undefined;
  /** Saves all new entities or none. */
  insertAll(entities: readonly EntityValue[]): Promise<EntityValue[]>;
  /**
   * Saves all changes or none. Each update has the conditions of a single save, so that changes of other requests are
   * not overwritten.
   */
  updateAll(entities: readonly EntityValue[]): Promise<void>;
  /** Binds the source to one save, which fails if another request has changed the entity since it was read. */
  boundTo(binding: SaveBinding): Source;
  /** For another read of the same request, with a separate time limit. */
  within(read: ReadBinding): Source;
  query?(): Promise<ModelQuery<FrameworkModel>>;
  /** The place by which the parts of an entity are read and written. */
  locate(entity: EntityValue): Promise<PartPath>;
  remove(entity: EntityValue): Promise<void>;
  identify(entity: EntityValue): unknown;
  /**
   * `unchanged` has a condition for each entity, which fails if another request has changed a value that a hook has
   * read to allow the removal. Returns the number of removed entities.
   */
  removeMany(ids: readonly unknown[], unchanged?: readonly Filter[]): Promise<number>;
}
