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

/** A Mongoose document, a {@linkcode StoredEntity}, or a plain object from a `fetch` hook. */
export type EntityValue = object;

/** A string from the path is cast, but an object with the stored `_id` is not. */
export type EntityName = string | { readonly _id: unknown };

/** Hooks that name the fields which they read, and need no entities. */
export interface FieldHooks {
  readonly reads: readonly string[];
  /** Fields that a cursor must not reveal. */
  readonly leavesOut: readonly string[];
  pass(read: ReadFields): MaybePromise<Effect | undefined>;
  isOver(): boolean;
}

export interface ReadRequest {
  readonly hooks: Hooks<object>;
  /** Validators and scopes of a change need unselected fields too. */
  readonly forChange: boolean;
  readonly select?: readonly string[] | undefined;
  readonly finder?: TargetFinder | undefined;
  readonly separator?: Separator | undefined;
  readonly fieldHooks?: FieldHooks | undefined;
}

export interface BytesRead {
  readonly kind: "bytes";
  /** Hooks may fail, so the answer must not begin before the last entity has passed. */
  readonly runsHooks: boolean;
  list(): AsyncIterable<JsonPiece>;
  each(page?: PageRead): AsyncIterable<readonly Uint8Array[]>;
  page(page: PageRead, count?: CountRead): Promise<FoundPage>;
  one(name: EntityName): Promise<OneRead | null>;
}

export interface EntitiesRead {
  readonly kind: "documents";
  list(page?: PageRead): AsyncIterable<readonly EntityValue[]>;
  /** `ignoresClient` leaves out the client's filter, but not scopes and filters of hooks. */
  one(name: EntityName, ignoresClient?: boolean): Promise<EntityValue | null>;
}

export type Read = BytesRead | EntitiesRead;

export interface CountRead {
  readonly limit?: number | undefined;
}

export interface OneRead {
  readonly text: string | Uint8Array;
  readonly version: Version;
}

export interface Aggregation {
  readonly parameter: string;
  readonly stages: readonly PipelineStage[];
  /** Fields whose shown value differs from the stored one are refused, or else the result would reveal it. */
  readonly fields: readonly string[];
}

export interface PageRead {
  readonly afterCursor?: Filter | undefined;
  /** The paths in the cursor, which are read even if the answer does not show them. */
  readonly paths: readonly string[];
  readonly note?: (end: () => SortValues | undefined) => void;
  readonly skip: number;
  readonly limit: number;
  /** Hooks may leave out any number of entities, so this read has no limit. */
  readonly isRest?: boolean;
  /** Set if a collation may make different identifiers equal. */
  readonly isLoose?: boolean;
}

export interface FoundPage {
  readonly text: string | Uint8Array;
  readonly values?: readonly unknown[];
  readonly size: number;
  /** The sort values of the last entity. Missing if no page can begin after it. */
  readonly end?: SortValues | undefined;
  readonly next?: SortValues | undefined;
  /**
   * The JSON of the last entity with all fields that the reader may see: the cursor reveals nothing else. Missing if
   * the JSON shows the stored values.
   */
  readonly shown?: unknown;
  readonly more: boolean;
  readonly total?: number | undefined;
}

/** The identifiers that an idempotency key has reserved. */
export interface CreationClaim extends TransactionPart {
  readonly ids: readonly unknown[];
  takeId(): unknown;
  /**
   * Stores the identifiers before the write, because hooks may have changed them, so that a repeated request finds the
   * entities.
   */
  keep(entities: readonly object[]): Promise<void>;
  /** Runs after the write. A repeated request then answers with these entities. */
  finish(entities: readonly object[]): Promise<void>;
}

export interface WriteCommand {
  readonly hooks: Hooks<object>;
  readonly operation: OperationName;
  /** The identifier in the path. Empty for the only entity of a parent. */
  readonly id?: string | undefined;
  readonly body?: JsonObject | undefined;
  /** `undefined` stands for a body that strict bodies refuse. A Mongoose document must then report its errors. */
  readonly bodies?: readonly (JsonObject | undefined)[] | undefined;
  readonly isAtomic?: boolean | undefined;
  /** A request that selects more entities changes nothing. */
  readonly limit?: number | undefined;
  /** A hook has allowed a change of a stored entity, so the statement must not create one. */
  readonly isAsked?: boolean;
  readonly claim?: CreationClaim | undefined;
  /** The answer has no body. */
  readonly minimal?: boolean;
}

/** With `"documents"`, only Mongoose documents can apply the part of the model that `reason` names. */
export type PlannedWrite =
  | {
    readonly kind: "statement";
    /** `unchanged` has conditions on the values by which a hook has allowed the write. */
    send(unchanged?: Filter): Promise<StatementResult | Unsent>;
  }
  | { readonly kind: "documents"; readonly reason: string };

/** The fields by which a hook decides about a write. */
export interface AskedFields {
  readonly read: ReadFields;
  readonly unchanged: Filter;
}

/** After `"refused"`, Mongoose documents repeat the write, because their errors name the invalid field. */
export type Unsent = "missed" | "refused";

export interface StatementResult {
  readonly text?: string | Uint8Array;
  readonly version?: Version;
  readonly created?: string;
  readonly affected?: number;
  /** In the order of the bodies. `undefined` for a body that only a Mongoose document can store. */
  readonly results?: readonly (ItemResult | undefined)[];
}

export interface ItemResult {
  readonly _id?: unknown;
  readonly error?: unknown;
}

/** Both maps are keyed by the index in the inserted list. */
export interface InsertedEach {
  readonly errors: ReadonlyMap<number, unknown>;
  /** May read the entities again, so it is called only if a hook gets them. */
  readonly shown: () => Promise<ReadonlyMap<number, EntityValue | undefined>>;
}

/** Conditions by which a save overwrites no change of another request. */
export interface SaveBinding {
  readonly version?: Filter | undefined;
  /** An action may have changed the fields in the client's filter, so only the first save has it. */
  readonly isFirst: boolean;
}

export interface ReadBinding {
  readonly timeBudget: TimeBudget;
  readonly ids?: readonly unknown[] | undefined;
}

/** Entities in a collection, embedded in a parent, or referenced by a parent. */
export interface Source {
  /** The parent may reference another entity later, so the `ETag` contains a hash of this identifier. */
  readonly only?: string | undefined;
  /** Reads JSON, unless a hook or code of the model needs objects. */
  read(request: ReadRequest): Promise<Read>;
  readEntities(request: ReadRequest): Promise<EntitiesRead>;
  /** Counts up to `upTo`, without `skip` and `limit`. */
  count(upTo?: number): Promise<number>;
  /** `skip` and `limit` do not apply. Missing for embedded entities. */
  aggregate?(asked: Aggregation): Promise<Record<string, unknown>[]>;
  /** The filter of the client does not apply. */
  readStored(name: EntityName, paths: readonly string[]): Promise<StoredObject | undefined>;
  /** `null` if the request selects no such entity, and `undefined` if a condition cannot express the values. */
  readNamed?(
    name: EntityName,
    names: readonly string[],
  ): Promise<AskedFields | null | undefined>;
  /** Only `send()` of the result writes. */
  write(change: WriteCommand): Promise<PlannedWrite>;
  newEntity(_id?: unknown): Promise<EntityValue>;
  /** Sets values of class options, such as a time, before a hook writes the document. */
  stamp(entity: EntityValue): void;
  /** Returns the identifiers that are stored already, visible or not, so that a repeated request creates none twice. */
  resume(ids: readonly unknown[]): Promise<readonly unknown[]>;
  /** `undefined` if middleware of the model hides the written entity. */
  save(entity: EntityValue): Promise<SavedEntity | undefined>;
  /** Missing if each entity needs a separate statement. */
  readonly insertEach?: ((entities: readonly EntityValue[]) => Promise<InsertedEach>) | undefined;
  /** Saves all new entities or none. Returns the entities that middleware does not hide. */
  insertAll(entities: readonly EntityValue[]): Promise<EntityValue[]>;
  /** Saves all changes or none, with the conditions of single saves. */
  updateAll(entities: readonly EntityValue[]): Promise<void>;
  boundTo(binding: SaveBinding): Source;
  /** Returns a source that writes its creations and `part` in one transaction. */
  joining(part: TransactionPart): Source;
  /** Returns a source for another read with a separate time limit. */
  within(read: ReadBinding): Source;
  query?(): Promise<ModelQuery<FrameworkModel>>;
  locate(entity: EntityValue): Promise<PartPath>;
  remove(entity: EntityValue): Promise<void>;
  identify(entity: EntityValue): unknown;
  /** An entity stays if another request has changed a value in its condition in `unchanged`. */
  removeMany(ids: readonly unknown[], unchanged?: readonly Filter[]): Promise<number>;
}
