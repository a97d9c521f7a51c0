import type { Model } from "mongoose";
import type { TimeBudget } from "../../database/time_budget.ts";
import type { OperationName } from "../../declare/operations/operation.ts";
import { castFilter } from "../../filter/cast_filter.ts";
import { everyFilter, isEmpty } from "../../filter/filters.ts";
import {
  isNarrowed,
  isSameForDatabase,
  projectionOf,
  withoutApart,
} from "../../filter/projection.ts";
import type { Filter } from "../../filter/filters.ts";
import { readOptions } from "../../filter/selection.ts";
import type { Selection } from "../../filter/selection.ts";
import type { TargetFinder } from "../../json/populate.ts";
import type { JsonObject } from "../../schema/fields/json.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import type { ListCount } from "./read_page.ts";
import type { JsonQuery } from "./json_reader.ts";
import { pageOptions } from "../collection_reads.ts";
import type { PageRead } from "../source.ts";
import { directSupport } from "./direct_support.ts";
import type { DirectReads } from "./direct_support.ts";
import { flatFields } from "./direct_writes.ts";
import type { EntityMaker } from "./direct_writes.ts";

/** A collection as one request may use it. */
export interface OpenCollection {
  readonly model: Model<unknown>;
  readonly shape: Shape;
  readonly selection: Selection;
  /** What hooks, scopes and the place of the route ask for. */
  readonly conditions: Filter;
  readonly timeBudget: TimeBudget;
  /** The time that the database itself may take. */
  readonly maxTimeMS: number;
  /** Whether a parent refers to its entities: each one is written together with the reference to it. */
  readonly linked?: boolean;
}

/** What a request without entity hooks asks of a collection. */
export interface DirectRequest {
  readonly operation: Exclude<OperationName, "removeAll" | "updateAll" | "replace">;
  readonly lean?: boolean;
  /** Whether the entity is read to be changed, and therefore whole. */
  readonly forChange?: boolean;
  readonly name?: Filter;
  readonly body?: JsonObject | undefined;
  readonly bodies?: readonly JsonObject[] | undefined;
  readonly isAtomic?: boolean | undefined;
  readonly page?: PageRead | undefined;
  readonly count?: { readonly limit?: number | undefined } | undefined;
  /** The fields that are shown besides `_id`. */
  readonly select?: readonly string[] | undefined;
  /** What finds the entities that are shown in the place of identifiers. */
  readonly finder?: TargetFinder | undefined;
}

type NewEntity = Record<string, unknown>;

export type DirectPlan =
  | Readonly<{ operation: "all" } & ReadPlan>
  | Readonly<{ operation: "one" } & ReadPlan>
  | Readonly<{ operation: "create"; entity: NewEntity }>
  | Readonly<{ operation: "create"; entities: readonly NewEntity[]; isAtomic: boolean }>
  | Readonly<{
    operation: "update";
    conditions: Filter;
    changes: Record<string, unknown>;
    reads: DirectReads | undefined;
  }>
  | Readonly<{ operation: "remove"; conditions: Filter }>;

interface ReadPlan {
  readonly page?: PageRead | undefined;
  readonly count?: ListCount | undefined;
  readonly name: Filter;
  readonly query: JsonQuery;
  readonly forChange?: boolean | undefined;
  readonly reads: DirectReads;
  readonly finder?: TargetFinder | undefined;
}

export type PlanOf<O> = Extract<DirectPlan, { readonly operation: O }>;

/** Options that the driver takes as they are; with any other, Mongoose has to run the query. */
const DRIVER_OPTIONS = new Set([
  "skip",
  "limit",
  "sort",
  "maxTimeMS",
  "hint",
  "comment",
  "strictQuery",
  "collation",
  "batchSize",
  "enableUtf8Validation",
]);

/** Plans how a request is answered without documents. Returns `undefined` if it is not known that this is possible. */
export function planDirect(
  request: DirectRequest,
  collection: OpenCollection,
): DirectPlan | undefined {
  const { operation, name = {}, body = {} } = request;
  const { model, shape, selection, conditions, linked = false } = collection;
  const { reads, inserts, updates, removes } = directSupport(model, shape);
  switch (operation) {
    case "create": {
      const maker = needsNoOtherRead(collection) && !linked ? inserts : undefined;
      const { bodies, isAtomic = true } = request;
      if (bodies === undefined) {
        const entity = maker?.make(body);
        return entity && { operation, entity };
      }
      const entities = maker && madeOf(bodies, maker);
      return entities && { operation, entities, isAtomic };
    }
    case "update": {
      const isDirect = updates && needsNoOtherRead(collection) && !setsArray(body, shape);
      const changes = isDirect ? flatFields(body, shape) : undefined;
      if (changes === undefined) return undefined;
      const named = castFilter(model, everyFilter(name, conditions, selection.version ?? {}));
      return { operation, conditions: named, changes, reads };
    }
    case "remove":
      return removes && isEmpty(selection.options) && !linked
        ? { operation, conditions: everyFilter(name, conditions, selection.version ?? {}) }
        : undefined;
    default: {
      const query = reads && planQuery(request, collection);
      const { page, finder, forChange } = request;
      const count = request.count &&
        { ...request.count, conditions: castFilter(model, conditions) };
      return query &&
        { operation, name: castFilter(model, name), reads, query, page, count, finder, forChange };
    }
  }
}

/** Makes an entity of each body; `undefined` where one of them needs a document. */
function madeOf(bodies: readonly JsonObject[], maker: EntityMaker): NewEntity[] | undefined {
  const entities: NewEntity[] = [];
  for (const body of bodies) {
    const entity = maker.make(body);
    if (entity === undefined) return undefined;
    entities.push(entity);
  }
  return entities;
}

/** Gives the query of a read; `undefined` if Mongoose has to run it. */
function planQuery(
  { operation, lean: takesLean = false, forChange = false, page, select }: DirectRequest,
  { model, shape, selection, conditions, maxTimeMS }: OpenCollection,
): JsonQuery | undefined {
  const given = forChange ? {} : selection.projection;
  // What a hook projects may be hidden from a client that selects it.
  if (!isEmpty(given) && select !== undefined) return undefined;
  const projection = select === undefined ? withoutApart(given, shape) : projectionOf(select);
  const { lean, ...read } = readOptions(selection, { maxTimeMS, page: operation !== "one" });
  const options: Record<string, unknown> = { ...read, ...page && pageOptions(page) };
  const isDirect = (lean === undefined || takesLean) &&
    Object.keys(options).every((name) => DRIVER_OPTIONS.has(name)) &&
    isSameForDatabase(projection, shape);
  if (!isDirect) return undefined;
  const selected = everyFilter(conditions, page?.behind ?? selection.sortable);
  const key: unknown = operation === "one" ? model.schema.get("versionKey") : undefined;
  const also = typeof key === "string" ? [key] : page?.paths;
  return { conditions: castFilter(model, selected), options, projection, also };
}

/** Whether a write has no scope and no options to obey, and its answer shows everything. */
function needsNoOtherRead({ selection, shape }: OpenCollection): boolean {
  return isEmpty(selection.scope) && isEmpty(selection.options) && !isNarrowed(selection, shape);
}

/** Whether a body replaces an array: that needs a read before, to see what other requests have changed. */
function setsArray(body: JsonObject, shape: Shape): boolean {
  return Object.keys(body).some((name) => shape.fields.get(name)?.kind === "array");
}
