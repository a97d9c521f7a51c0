import type { Schema } from "mongoose";
import type { ListFormat, PopulateOptions, ReadOptions } from "../../declare/hooks/read_options.ts";
import { bindingRests } from "../../declare/model/describe_model.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import type { Method } from "../../declare/operations/methods.ts";
import { operationOf } from "../../declare/operations/action.ts";
import { isHookName, isReadOption, takesQ } from "../../declare/operations/operation.ts";
import { isWriteOption, takesOption } from "../../declare/operations/write_options.ts";
import { MEDIA_TYPES } from "../../filter/parameters/read_rules.ts";
import type {
  LiveRule,
  PageRule,
  PopulateRule,
  ReadRules,
  SearchRule,
} from "../../filter/parameters/read_rules.ts";
import type { QueryLimits } from "../../filter/q/limits.ts";
import { ListedPaths } from "../../filter/q/resolve_path.ts";
import { projectionOf } from "../../filter/projection.ts";
import { columnsIn } from "../../pipeline/lists/columns.ts";
import { referredTarget } from "../../pipeline/references.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import { referenceIn, shapeForAll } from "../../schema/fields/shape.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { isHiddenPath, whyUnseen } from "../../schema/fields/visibility.ts";
import { unknownOption } from "../check_options.ts";
import {
  checkBoolean,
  checkCount,
  checkNames,
  checkNoOthers,
  isCount,
  isNames,
  objectOf,
} from "./_check_given.ts";
import { cannotMount } from "./_check_rest.ts";
import type { Fail } from "./_check_rest.ts";
import { compileGroups } from "./_compile_groups.ts";

/**
 * Compiles which paths the filters of clients may name in an operation; `undefined` where they may name all that clients see.
 */
export function compileFilterPaths(
  method: Method,
  { target, shape, mode }: Pick<Reading, "target" | "shape"> & {
    readonly mode: QueryLimits["paths"];
  },
): ListedPaths | undefined {
  const { operation, hooks: { filter, q } } = method;
  const fail: Fail = (problem) => cannotMount(target, `${operation}() ${problem}`);
  if (filter === undefined) {
    if (mode !== undefined && (operation === "updateAll" || q === "required")) {
      throw fail(`needs a "filter": requests need q, which may name listed paths only`);
    }
    return mode && new ListedPaths([], shape);
  }
  if (!takesQ(operationOf(method))) throw fail(`cannot have "filter"`);
  if (!isNames(filter) || filter.length === 0) throw fail(`needs a list of paths as "filter"`);
  const listed = new ListedPaths(filter, shape);
  const unseen = filter.find((name) => !listed.names.includes(name));
  if (unseen === undefined) return listed;
  throw fail(`has "${unseen}" in "filter", which is no field that clients see`);
}

const OF_LISTS = ["page", "sort", "search", "count", "formats", "groups", "live"] as const;

/** The most entities of a live list, if it does not say. */
const MAX_LIVE = 10_000;

/** Options that a hook in the place of the read would not know of. */
const OF_QUERIES = ["page", "sort", "search", "count", "groups", "live", "populate"] as const;

export interface Reading {
  readonly target: ModelClass;
  readonly schema: Schema;
  readonly shape: Shape;
  /** Whether the entities are stored inside others. */
  readonly embedded: boolean;
  readonly fail: Fail;
}

/** Compiles what clients may ask of an operation besides `q`; `undefined` if nothing. */
export function compileReads(
  method: Method,
  model: Omit<Reading, "fail">,
): ReadRules | undefined {
  const given: ReadOptions = Object.fromEntries(
    Object.entries(method.hooks).filter(([name, value]) =>
      isReadOption(name) && value !== undefined &&
      !(isWriteOption(name) && takesOption(method.operation, name))
    ),
  );
  if (Object.keys(given).length === 0) return undefined;
  const fail: Fail = (problem) => cannotMount(model.target, `${method.operation}() ${problem}`);
  checkPlaces(method, { given, fail });
  const reading = { ...model, fail };
  const { page, sort, select, search, count, populate, formats, groups, live } = given;
  return {
    ...page && { page: compilePage(page, reading) },
    ...sort && { sort: new Set(checkNames(sort, { ...reading, option: "sort" })) },
    ...select && { select: new Set(checkNames(select, { ...reading, option: "select" })) },
    ...search && { search: compileSearch(search, reading) },
    ...count && { count: compileCount(count, fail) },
    ...populate && { populate: compilePopulate(populate, reading) },
    ...live && { live: compileLive(live, reading) },
    ...formats && { formats: compileFormats(formats, reading) },
    ...groups && { groups: compileGroups(groups, reading) },
  };
}

function checkPlaces(
  method: Method,
  { given, fail }: { readonly given: ReadOptions; readonly fail: Fail },
): void {
  const { hooks } = method;
  const { change, many } = operationOf(method);
  const misplaced = change !== undefined
    ? Object.keys(given)[0]
    : OF_LISTS.find((name) => !many && given[name] !== undefined);
  if (misplaced !== undefined) throw fail(`cannot have "${misplaced}"`);
  const unread = OF_QUERIES.find((name) => given[name] !== undefined);
  if (unread !== undefined && hooks.fetch !== undefined) {
    throw fail(`has its own "fetch", which does not know of "${unread}"`);
  }
  const leavesOut = (["postFetch", "preSend"] as const).find((name) => hooks[name] !== undefined);
  if (leavesOut === undefined) return;
  if (given.count !== undefined) {
    throw fail(`cannot have "count": the total would count what "${leavesOut}" leaves out`);
  }
  if (given.groups !== undefined) {
    throw fail(`cannot have "groups": they would tell of what "${leavesOut}" leaves out`);
  }
}

function compilePage(given: unknown, { schema, shape, fail }: Reading): PageRule {
  if (!shape.fields.has("_id")) {
    throw fail(`cannot have "page": what it lists has no _id, which completes the order`);
  }
  const { max, size = max, ...others } = objectOf(given);
  checkNoOthers(others, { option: "page", fail });
  const most = checkCount(max, { option: "page.max", fail });
  if (!isCount(size) || size > most) throw fail(`needs a "page.size" from 1 to ${most}`);
  const inOneScan = schema.indexes().some(([, { partialFilterExpression } = {}]) =>
    partialFilterExpression !== undefined
  );
  return { size, max: most, inOneScan };
}

function compileLive(given: unknown, { shape, fail }: Reading): LiveRule {
  if (!shape.fields.has("_id")) {
    throw fail(
      `cannot have "live": what it lists has no _id, by which clients tell entities apart`,
    );
  }
  if (given !== true && !isJsonObject(given)) throw fail(`needs true or an object as "live"`);
  const { max = MAX_LIVE, ...others } = objectOf(given);
  checkNoOthers(others, { option: "live", fail });
  return { max: checkCount(max, { option: "live.max", fail }) };
}

function compileCount(given: unknown, fail: Fail): NonNullable<ReadRules["count"]> {
  const { upTo = Infinity, always = false, ...others } = objectOf(given);
  checkNoOthers(others, { option: "count", fail });
  return {
    upTo: upTo === Infinity ? upTo : checkCount(upTo, { option: "count.upTo", fail }),
    always: checkBoolean(always, { option: "count.always", fail }),
  };
}

function compileSearch(given: unknown, reading: Reading): SearchRule {
  const { embedded, fail } = reading;
  if (Array.isArray(given)) return { fields: checkNames(given, { ...reading, option: "search" }) };
  const { index, ...others } = objectOf(given);
  checkNoOthers(others, { option: "search", fail });
  if (index !== true) throw fail(`needs a list of fields or { index: true } as "search"`);
  if (embedded) throw fail("cannot search in a text index: it lists what others embed");
  return { index: textIndexPaths(reading) };
}

/** Gives the paths of the text index: a search in it must find nothing by what clients do not see. */
function textIndexPaths({ schema, shape, fail }: Reading): readonly string[] {
  const keys = schema.indexes().flatMap(([index]) => Object.entries(index));
  const texts = keys.filter(([, kind]) => kind === "text").map(([path]) => path);
  if (texts.length === 0) {
    throw fail(`needs a text index for "search": declare it in configure(), by schema.index()`);
  }
  const hidden = texts.find((path) => path === "$**" ? shape.secretive : isHiddenPath(path, shape));
  if (hidden === undefined) return texts;
  throw fail(`cannot search in a text index of "${hidden}": clients do not see all that it holds`);
}

function compileFormats(given: unknown, { shape, fail }: Reading): readonly ListFormat[] {
  if (!isNames(given) || given.length === 0) throw fail(`needs a list of formats as "formats"`);
  const unknown = given.find((name) => name === "json" || !Object.hasOwn(MEDIA_TYPES, name));
  if (unknown !== undefined) throw fail(`has an unknown format "${unknown}" in "formats"`);
  if (given.includes("csv") && columnsIn(shape).length === 0) {
    throw fail(`has "csv" in "formats", but no field that fits in a cell`);
  }
  return [...new Set(given as ListFormat[])];
}

const POPULATE_OPTIONS: Record<keyof PopulateOptions, true> = {
  ...{ select: true, always: true, unguarded: true },
};

function compilePopulate(
  given: unknown,
  { shape, fail }: Reading,
): ReadonlyMap<string, PopulateRule> {
  if (!isJsonObject(given)) throw fail(`needs an object as "populate"`);
  const entries = Object.entries(given).filter(([, options]) => options !== undefined);
  return new Map(entries.map(([name, options]) => {
    const failField: Fail = (problem) => fail(`has "${name}" in "populate", ${problem}`);
    return [name, compileReference(shape.fields.get(name), { options, fail: failField })];
  }));
}

function compileReference(
  field: FieldShape | undefined,
  { options, fail }: { readonly options: unknown; readonly fail: Fail },
): PopulateRule {
  const unseen = whyUnseen(field);
  if (field === undefined || unseen !== undefined) throw fail(`which ${unseen}`);
  const reference = referenceIn(field);
  if (reference === undefined) throw fail("which is no reference");
  const { select, always = false, unguarded = false } = readPopulate(options, fail);
  const referred = referredTarget(reference);
  if (referred !== undefined) {
    const { fields } = shapeForAll(buildSchema(referred).schema);
    for (const name of select ?? []) {
      const problem = whyUnseen(fields.get(name));
      if (problem === undefined) continue;
      throw fail(`with "${name}" of "${referred.name}" in "select", which ${problem}`);
    }
    bindingRests(referred);
    if (!unguarded) checkGuards(referred, fail);
  }
  const projection = select === undefined ? {} : projectionOf(select);
  return { field, always, projection, ...select && { select } };
}

function readPopulate(options: unknown, fail: Fail): PopulateOptions {
  if (options === true) return {};
  if (!isJsonObject(options)) throw fail(`with something that is neither "true" nor an object`);
  const unknown = unknownOption(options, POPULATE_OPTIONS);
  if (unknown !== undefined) throw fail(`with an unknown option ${unknown}`);
  const { select, always, unguarded }: Record<string, unknown> = options;
  if (select !== undefined && !isNames(select)) {
    throw fail(`with "select", which is not a list of names`);
  }
  for (const [name, value] of Object.entries({ always, unguarded })) {
    if (value !== undefined && typeof value !== "boolean") {
      throw fail(`with "${name}", which is neither true nor false`);
    }
  }
  return options as PopulateOptions;
}

/** Checks that no hook of `one()` of a class decides on who may see its entities, or on what of them. */
function checkGuards(referred: ModelClass, fail: Fail): void {
  const methods = bindingRests(referred).flatMap((rest) => rest.methods);
  const hooks = methods.filter(({ operation }) => operation === "one").flatMap(({ hooks }) =>
    Object.entries(hooks)
  );
  const [name] = hooks.find(([name, hook]) => isHookName(name) && hook !== undefined) ?? [];
  if (name === undefined) return;
  throw fail(
    `but hook "${name}" of one() of "${referred.name}" would not run: ` +
      `set "unguarded" if every client may see what its scope allows`,
  );
}
