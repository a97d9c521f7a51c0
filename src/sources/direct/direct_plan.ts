import type { Model } from "mongoose";
import type { TimeBudget } from "../../database/time_budget.ts";
import type { OperationName } from "../../declare/operations/operation.ts";
import { castFilter } from "../../filter/cast_filter.ts";
import { everyFilter, isCountable, isEmpty } from "../../filter/filters.ts";
import {
  isNarrowed,
  isSameForDatabase,
  projectionOf,
  withoutApart,
} from "../../filter/projection.ts";
import type { Filter } from "../../filter/filters.ts";
import { readOptions } from "../../filter/selection.ts";
import type { Selection } from "../../filter/selection.ts";
import type { Separator } from "../../json/bytes/json_writer.ts";
import type { TargetFinder } from "../../json/populate.ts";
import type { JsonObject } from "../../schema/fields/json.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import type { ListCount } from "./read_page.ts";
import type { JsonQuery } from "./json_reader.ts";
import { pageOptions } from "../collection_reads.ts";
import { keepsScopes } from "../parts/place.ts";
import type { PageRead } from "../source.ts";
import { directSupport } from "./direct_support.ts";
import type { DirectReads } from "./direct_support.ts";
import { flatFields } from "./direct_writes.ts";

/** A collection as one request may use it. */
export interface OpenCollection {
  readonly model: Model<unknown>;
  readonly shape: Shape;
  readonly selection: Selection;
  /** The needs of hooks, scopes and the place of the route. */
  readonly conditions: Filter;
  readonly timeBudget: TimeBudget;
  /** The time that the database itself may take. */
  readonly maxTimeMS: number;
  /** Whether a parent refers to its entities: each one is written together with the reference to it. */
  readonly linked?: boolean;
  /** The field by which a path names an entity that is replaced. */
  readonly by?: string | undefined;
}

/** A request without entity hooks, to a collection. */
export interface DirectRequest {
  readonly operation: Exclude<OperationName, "removeAll">;
  readonly lean?: boolean;
  /** Whether the entity is read to be changed, and therefore whole. */
  readonly forChange?: boolean;
  readonly name?: Filter;
  readonly body?: JsonObject | undefined;
  readonly bodies?: readonly JsonObject[] | undefined;
  readonly isAtomic?: boolean | undefined;
  readonly reserved?: readonly unknown[] | undefined;
  readonly minimal?: boolean;
  readonly page?: PageRead | undefined;
  readonly count?: { readonly limit?: number | undefined } | undefined;
  /** The fields that are shown besides `_id`. */
  readonly select?: readonly string[] | undefined;
  /** The finder of the entities that are shown in the place of identifiers. */
  readonly finder?: TargetFinder | undefined;
  readonly isApart?: boolean;
  readonly separator?: Separator | undefined;
}

export type NewEntity = Record<string, unknown>;

export type DirectPlan =
  | Readonly<{ operation: "all" } & ReadPlan>
  | Readonly<{ operation: "one" } & ReadPlan>
  | Readonly<{ operation: "create"; entity: NewEntity; minimal: boolean }>
  | Readonly<{
    operation: "create";
    /** Nothing where only a document can say why a body is refused, or store it. */
    entities: readonly (NewEntity | undefined)[];
    isAtomic: boolean;
    minimal: boolean;
  }>
  | Readonly<{ operation: "update"; minimal: boolean } & UpdatePlan & Partial<Replacement>>
  | Readonly<{ operation: "updateAll" } & UpdatePlan>
  | Readonly<{ operation: "remove"; conditions: Filter }>;

interface UpdatePlan {
  readonly conditions: Filter;
  readonly changes: Record<string, unknown>;
  readonly reads: DirectReads | undefined;
}

interface Replacement {
  /** The stages that replace the entity, or create it; without them, the changes are set. */
  readonly replacement: readonly object[];
  readonly upsert: boolean;
}

interface ReadPlan {
  readonly page?: PageRead | undefined;
  readonly count?: ListCount | undefined;
  readonly name: Filter;
  readonly query: JsonQuery;
  readonly forChange?: boolean | undefined;
  readonly reads: DirectReads;
  readonly finder?: TargetFinder | undefined;
  readonly isApart?: boolean | undefined;
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
  "readPreference",
]);

/** Plans how a request is answered without documents. Returns `undefined` if it is not known that this is possible. */
export function planDirect(
  request: DirectRequest,
  collection: OpenCollection,
): DirectPlan | undefined {
  const { operation, name = {}, minimal = false } = request;
  const { model, shape, selection, conditions, linked = false } = collection;
  const { reads, updates, removes } = directSupport(model, shape);
  switch (operation) {
    case "create":
      return planCreation(request, collection);
    case "update":
    case "updateAll": {
      const changes = updates ? changesBy(request, collection) : undefined;
      const named = everyFilter(name, conditions, selection.version);
      return changes &&
        { operation, conditions: castFilter(model, named), changes, reads, minimal };
    }
    case "replace":
      return planReplacement(request, collection);
    case "remove":
      return removes && isEmpty(selection.options) && !linked
        ? { operation, conditions: everyFilter(name, conditions, selection.version ?? {}) }
        : undefined;
    default: {
      const query = reads && planQuery(request, collection);
      const { page, finder, forChange, isApart } = request;
      const count = request.count &&
        { ...request.count, conditions: castFilter(model, conditions) };
      return query &&
        {
          ...{ operation, name: castFilter(model, name), reads, query },
          ...{ page, count, finder, forChange, isApart },
        };
    }
  }
}

/** Plans the insertion of an entity, or of one for each body. */
function planCreation(
  { body = {}, bodies, isAtomic = true, reserved = [], minimal = false }: DirectRequest,
  collection: OpenCollection,
): DirectPlan | undefined {
  const { model, shape, selection: { scope }, linked = false } = collection;
  const { inserts } = directSupport(model, shape);
  if (inserts === undefined || linked || !isEmpty(scope) || !showsWhole(collection)) {
    return undefined;
  }
  if (bodies === undefined) {
    const entity = inserts.make(body, reserved[0]);
    return entity && { operation: "create", entity, minimal };
  }
  const entities: (NewEntity | undefined)[] = [];
  for (const [index, each] of bodies.entries()) {
    const entity = inserts.make(each, reserved[index]);
    if (entity === undefined && isAtomic) return undefined;
    entities.push(entity);
  }
  return { operation: "create", entities, isAtomic, minimal };
}

/** Gives the changes of an update by one statement; `undefined` if it has to be made with documents. */
function changesBy(
  { operation, body = {} }: DirectRequest,
  collection: OpenCollection,
): Record<string, unknown> | undefined {
  const { model, shape, selection: { scope, options }, conditions } = collection;
  const isDirect = operation === "updateAll"
    ? isEmpty(options) && isCountable(conditions)
    : showsWhole(collection) && !setsArray(body, shape);
  const changes = isDirect ? flatFields(body, shape) : undefined;
  // An entity in the scope is in it afterwards.
  const isKept = changes && keepsScopes({ model, scope, steps: [] }, Object.keys(changes));
  return isKept ? changes : undefined;
}

/** Plans the update that replaces an entity, or creates it. */
function planReplacement(
  { name, body = {}, minimal = false }: DirectRequest,
  collection: OpenCollection,
): DirectPlan | undefined {
  const { model, shape, selection: { version }, conditions, by = "_id" } = collection;
  const { reads, inserts } = directSupport(model, shape);
  // A new entity would get what other conditions compare.
  const isDirect = showsWhole(collection) && isEmpty(conditions);
  const made = isDirect ? inserts?.replacement(body, { by, _id: name?._id }) : undefined;
  if (made === undefined) return undefined;
  const { entity: changes, stages: replacement } = made;
  return {
    ...{ operation: "update", changes, replacement, upsert: version === undefined, reads, minimal },
    // Both are cast already.
    conditions: everyFilter({ [by]: changes[by] }, version),
  };
}

/** Gives the query of a read; `undefined` if Mongoose has to run it. */
function planQuery(
  { operation, lean: takesLean = false, forChange = false, page, select, separator }: DirectRequest,
  { model, shape, selection, conditions, maxTimeMS }: OpenCollection,
): JsonQuery | undefined {
  const given = forChange ? {} : selection.projection;
  // A field that a hook projects may be hidden from a client that selects it.
  if (!isEmpty(given) && select !== undefined) return undefined;
  const projection = select === undefined ? withoutApart(given, shape) : projectionOf(select);
  const { lean, ...read } = readOptions(selection, { maxTimeMS, page: operation !== "one" });
  const options: Record<string, unknown> = { ...read, ...page && pageOptions(page) };
  const isDirect = (lean === undefined || takesLean) &&
    Object.keys(options).every((name) => DRIVER_OPTIONS.has(name)) &&
    isSameForDatabase(projection, shape);
  if (!isDirect) return undefined;
  const selected = everyFilter(conditions, page?.behind);
  const key: unknown = operation === "one" ? model.schema.get("versionKey") : undefined;
  const also = typeof key === "string" ? [key] : page?.paths;
  return { conditions: castFilter(model, selected), options, projection, also, separator };
}

/** Whether a write has no options to obey, and its answer shows everything. */
function showsWhole({ selection, shape }: OpenCollection): boolean {
  return isEmpty(selection.options) && !isNarrowed({ selection, shape });
}

/** Whether a body replaces an array: that needs a read before, to see what other requests have changed. */
function setsArray(body: JsonObject, shape: Shape): boolean {
  return Object.keys(body).some((name) => shape.fields.get(name)?.kind === "array");
}
