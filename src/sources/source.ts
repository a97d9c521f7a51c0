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

/** A document, a {@linkcode StoredEntity} of which one can be made, or a pojo that a `fetch` hook gave. */
export type EntityValue = object;

/** An identifier: as text from a path, or as it is stored. */
export type EntityName = string | { readonly _id: unknown };

/** The facts of a request that decide how its entities are read, and what their JSON looks like. */
export interface ReadRequest {
  readonly hooks: Hooks<object>;
  /** Whether entities are read whole, to be changed. */
  readonly forChange: boolean;
  /** The fields that the client selects. Entities for hooks have all fields. */
  readonly select?: readonly string[] | undefined;
  readonly finder?: TargetFinder | undefined;
  /** Stands between the entities of a list; a comma if there is none. */
  readonly separator?: Separator | undefined;
}

/** A read that answers with bytes of JSON. Its list can be read once. */
export interface BytesRead {
  readonly kind: "bytes";
  /** Reads the list as JSON text in pieces, with separators between entities. */
  list(): AsyncIterable<JsonPiece>;
  /** Reads the text of each entity of the list, or of a page. */
  each(page?: PageRead): AsyncIterable<readonly Uint8Array[]>;
  /** Reads a page, and the total of the list up to a limit. */
  page(page: PageRead, count?: CountRead): Promise<FoundPage>;
  /** Reads the entity with a name; `null` if there is none. */
  one(name: EntityName): Promise<OneRead | null>;
}

/** A read that gives entities to hooks. */
export interface EntitiesRead {
  readonly kind: "documents";
  list(page?: PageRead): AsyncIterable<readonly EntityValue[]>;
  /** Reads the entity with a name; with `ignoresClient`, whatever the client filters by. */
  one(name: EntityName, ignoresClient?: boolean): Promise<EntityValue | null>;
}

/** An opened read. Its kind decides which ways to read it has. */
export type Read = BytesRead | EntitiesRead;

/** Asks for the total of a list, counted no further than a limit. */
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
  /** The fields whose values the stages show. */
  readonly fields: readonly string[];
}

export interface PageRead {
  /** Selects the entities after the cursor of the page. */
  readonly afterCursor?: Filter | undefined;
  /** The paths that are always read: the cursor of the next page holds their values. */
  readonly paths: readonly string[];
  readonly note?: (end: () => SortValues | undefined) => void;
  readonly skip: number;
  readonly limit: number;
  /** Whether it fills a page from which hooks have left entities out. */
  readonly isRest?: boolean;
}

export interface FoundPage {
  /** The JSON text of its entities, with separators between them. */
  readonly text: string | Uint8Array;
  /** Its entities as values of JSON; only where a hook looks. */
  readonly values?: readonly unknown[];
  readonly size: number;
  /** Where the last entity stands, if a page can continue there. */
  readonly end?: SortValues | undefined;
  /** The last entity as JSON shows it; nothing where no hook looks. */
  readonly shown?: unknown;
  readonly more: boolean;
  /** How many entities the list has; only where the source has counted them. */
  readonly total?: number | undefined;
  /** How many entities were read up to the last one of the page, those included that hooks have left out. */
  readonly read: number;
}

/** A write to a source where no hook sees its entities. */
export interface DirectCall {
  readonly operation: OperationName;
  /** The identifier in the path; empty where the parent holds only one. */
  readonly id?: string | undefined;
  readonly body?: JsonObject | undefined;
  readonly bodies?: readonly JsonObject[] | undefined;
  readonly isAtomic?: boolean | undefined;
  readonly limit?: number | undefined;
  readonly reserved?: readonly unknown[] | undefined;
  readonly key?: TransactionKey | undefined;
  readonly minimal?: boolean;
}

export interface DirectResult {
  readonly text?: string | Uint8Array;
  readonly version?: Version;
  readonly created?: string;
  /** How many entities were changed; only where many may be. */
  readonly affected?: number;
  /** The fates of several new entities; nothing where that needs a document. */
  readonly results?: readonly (ItemResult | undefined)[];
}

export interface ItemResult {
  readonly _id?: unknown;
  readonly error?: unknown;
}

/** New entities by their places: each is saved, or has an error. */
export interface InsertedEach {
  readonly errors: ReadonlyMap<number, unknown>;
  /** Returns the saved entities as reads show them. */
  readonly shown: () => Promise<ReadonlyMap<number, EntityValue>>;
}

/** The bonds of a save of an action, besides the scope. */
export interface SaveBinding {
  /** The version before it; missing where it is not known. */
  readonly version?: Filter | undefined;
  /** Whether it is the first one, which what the client selects by binds, too. */
  readonly isFirst: boolean;
}

export interface ReadBinding {
  readonly timeBudget: TimeBudget;
  /** The identifiers of the entities that it reads, as they are stored; all if there are none. */
  readonly ids?: readonly unknown[] | undefined;
}

/** Where the entities of a route live. Every operation of the pipeline works on any of them. */
export interface Source {
  /** The identifier of the only entity of a source, by a reference that may change. */
  readonly only?: string | undefined;
  /** Opens a read as the plan of the level says, lowered by the request. */
  read(request: ReadRequest): Promise<Read>;
  /** Opens a read of entities, also where the plan of the level says bytes. */
  readEntities(request: ReadRequest): Promise<EntitiesRead>;
  /** Counts all that is selected, pages aside; no further than up to a number. */
  count(upTo?: number): Promise<number>;
  /** Runs the stages of an aggregation on all that is selected, pages aside, where it has a collection. */
  groups?(asked: Aggregation): Promise<Record<string, unknown>[]>;
  /** Reads values of an entity as they are stored, whatever the client filters by. */
  readStored(name: EntityName, paths: readonly string[]): Promise<StoredObject | undefined>;
  /** Writes without documents: `null` where it names no entity, `undefined` where it needs documents. */
  direct?(request: DirectCall): Promise<DirectResult | null | undefined>;
  newEntity(_id?: unknown): Promise<EntityValue>;
  /** Gives which identifiers are stored, whoever may see the entities, and ends what a lost request has begun for them. */
  resume(ids: readonly unknown[]): Promise<readonly unknown[]>;
  save(entity: EntityValue): Promise<EntityValue>;
  /** Saves new entities by one statement, each by itself; missing where each takes statements of its own. */
  readonly insertEach?: ((entities: readonly EntityValue[]) => Promise<InsertedEach>) | undefined;
  /** Saves new entities: all or none. */
  insertAll(entities: readonly EntityValue[]): Promise<EntityValue[]>;
  /** Saves entities that were read: all or none, each bound as one that is saved alone. */
  updateAll(entities: readonly EntityValue[]): Promise<void>;
  /** The same source, for one save of an action. */
  boundTo(binding: SaveBinding): Source;
  /** The same source for one more read of the same request, maybe of some entities alone. */
  within(read: ReadBinding): Source;
  query?(): Promise<ModelQuery<FrameworkModel>>;
  /** Tells where an entity of this source is stored, for the parts that it holds. */
  locate(entity: EntityValue): Promise<PartPath>;
  remove(entity: EntityValue): Promise<void>;
  identify(entity: EntityValue): unknown;
  removeMany(ids: readonly unknown[]): Promise<void>;
}
