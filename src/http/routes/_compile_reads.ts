import type { Schema } from "mongoose";
import type { ListFormat, ReadOptions } from "../../declare/hooks/read_options.ts";
import { bindingRests } from "../../declare/model/describe_model.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import type { Method } from "../../declare/operations/methods.ts";
import { operationOf } from "../../declare/operations/action.ts";
import { isHookName, takesQ } from "../../declare/operations/operation.ts";
import { optionsGiven } from "../../declare/operations/write_options.ts";
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
import type { PartLink } from "../../schema/describe_parts.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import { referenceIn, type Shape, shapeForAll } from "../../schema/fields/shape.ts";
import { isHiddenPath, whyUnseen } from "../../schema/fields/visibility.ts";
import { checkFields, checkKind, type Fail, isCount, objectOf } from "../check_options.ts";
import { compileGroups } from "./_compile_groups.ts";

/**
 * The class, the schema and the shape for which the options of an operation are compiled. `fail` makes the error of a
 * wrong option.
 */
export interface OperationPlace {
  readonly target: ModelClass;
  readonly schema: Schema;
  readonly shape: Shape;
  /** The property of the parent that holds the entities. `undefined` if the entities belong to no parent. */
  readonly link: PartLink | undefined;
  readonly fail: Fail;
}

/**
 * Returns the paths that the URL parameter `q` may name. Returns `undefined` if `q` may name all paths that clients
 * see. Throws if the option `filter` lists a path that clients do not see.
 */
export function compileFilterPaths(
  method: Method,
  { shape, mode, fail }: OperationPlace & { readonly mode: QueryLimits["paths"] },
): ListedPaths | undefined {
  const { operation, hooks: { filter, q } } = method;
  if (filter === undefined) {
    if (mode !== undefined && (operation === "updateAll" || q === "required")) {
      throw fail(`needs a "filter": requests need q, which may name listed paths only`);
    }
    return mode && new ListedPaths([], shape);
  }
  if (!takesQ(operationOf(method))) throw fail(`cannot have "filter"`);
  const listed = new ListedPaths(
    checkKind(filter, { kind: "paths", option: "filter", fail }),
    shape,
  );
  const unseen = filter.find((name) => !listed.names.includes(name));
  if (unseen === undefined) return listed;
  throw fail(`has "${unseen}" in "filter", which is no field that clients see`);
}

/**
 * The options that only a query of the framework applies. A `fetch` hook runs instead of this query, so an operation
 * with this hook refuses the options, which would have no effect.
 */
const OF_QUERIES = ["page", "sort", "search", "count", "groups", "live", "populate"] as const;

/**
 * The options that make the database count entities, each with the beginning of its error message. An operation whose
 * hooks may leave out entities refuses the options `count` and `groups`, because their numbers would include these
 * entities.
 */
const OF_ALL = {
  count: "the total would count what",
  groups: "they would tell of what",
} as const;

/**
 * Compiles the options of a read into the rules of its URL parameters, such as `sort` and `limit`. Throws if an option
 * is wrong. Returns `undefined` if the operation has no such option, so that `q` is its only parameter.
 */
export function compileReads(method: Method, place: OperationPlace): ReadRules | undefined {
  const given: ReadOptions = optionsGiven(method, "read");
  if (Object.keys(given).length === 0) return undefined;
  checkPlaces(method, { given, fail: place.fail });
  const { page, sort, select, search, count, populate, formats, groups, live } = given;
  return {
    ...page && { page: compilePage(page, place) },
    ...sort && { sort: new Set(checkFields(sort, { ...place, option: "sort" })) },
    ...select && { select: new Set(checkFields(select, { ...place, option: "select" })) },
    ...search && { search: compileSearch(search, place) },
    ...count && { count: compileCount(count, place) },
    ...populate && { populate: compilePopulate(populate, place) },
    ...live && { live: compileLive(live, place) },
    ...formats && { formats: compileFormats(formats, place) },
    ...groups && { groups: compileGroups(groups, place) },
  };
}

function checkPlaces(
  method: Method,
  { given, fail }: { readonly given: ReadOptions; readonly fail: Fail },
): void {
  const { hooks } = method;
  const { change, many } = operationOf(method);
  const misplaced = Object.keys(given).find((name) =>
    change !== undefined || !many && name !== "select" && name !== "populate"
  );
  if (misplaced !== undefined) throw fail(`cannot have "${misplaced}"`);
  const unread = OF_QUERIES.find((name) => given[name] !== undefined);
  if (unread !== undefined && hooks.fetch !== undefined) {
    throw fail(`has its own "fetch", which does not know of "${unread}"`);
  }
  const leavesOut = (["postFetch", "preSend"] as const).find((name) => hooks[name] !== undefined);
  const all = (["count", "groups"] as const).find((name) => given[name] !== undefined);
  if (leavesOut === undefined || all === undefined) return;
  throw fail(`cannot have "${all}": ${OF_ALL[all]} "${leavesOut}" leaves out`);
}

function compilePage(given: unknown, { schema, shape, fail }: OperationPlace): PageRule {
  if (!shape.fields.has("_id")) {
    throw fail(`cannot have "page": what it lists has no _id, which completes the order`);
  }
  const names = ["max", "size"] as const;
  const { max, size = max } = objectOf(given, { names, option: "page", fail });
  const most = checkKind(max, { kind: "count", option: "page.max", fail });
  if (!isCount(size) || size > most) throw fail(`needs a "page.size" from 1 to ${most}`);
  const inOneScan = schema.indexes().some(([, { partialFilterExpression } = {}]) =>
    partialFilterExpression !== undefined
  );
  return { size, max: most, inOneScan };
}

/** The most entities of a live list whose declaration has no option `max`. A longer list is answered with a 409. */
const MAX_LIVE = 10_000;

function compileLive(given: unknown, { shape, fail }: OperationPlace): LiveRule {
  if (!shape.fields.has("_id")) {
    throw fail(
      `cannot have "live": what it lists has no _id, by which clients tell entities apart`,
    );
  }
  const { max = MAX_LIVE } = objectOf(given, { names: ["max"], option: "live", fail });
  return { max: checkKind(max, { kind: "count", option: "live.max", fail }) };
}

function compileCount(
  given: unknown,
  { fail }: OperationPlace,
): NonNullable<ReadRules["count"]> {
  const names = ["upTo", "always"] as const;
  const { upTo = Infinity, always = false } = objectOf(given, { names, option: "count", fail });
  return {
    upTo: upTo === Infinity ? upTo : checkKind(upTo, { kind: "count", option: "count.upTo", fail }),
    always: checkKind(always, { kind: "boolean", option: "count.always", fail }),
  };
}

function compileSearch(given: unknown, place: OperationPlace): SearchRule {
  const { link, fail } = place;
  if (Array.isArray(given)) return { fields: checkFields(given, { ...place, option: "search" }) };
  const { index } = objectOf(given, { names: ["index"], option: "search", fail });
  if (index !== true) throw fail(`needs a list of fields or { index: true } as "search"`);
  if (link?.embedded) throw fail("cannot search in a text index: it lists what others embed");
  return { index: textIndexPaths(place) };
}

/**
 * Returns the paths of the text index. Throws if the index has a hidden path, because a search would find entities by
 * values that clients do not see.
 */
function textIndexPaths({ schema, shape, fail }: OperationPlace): readonly string[] {
  const keys = schema.indexes().flatMap(([index]) => Object.entries(index));
  const texts = keys.filter(([, kind]) => kind === "text").map(([path]) => path);
  if (texts.length === 0) {
    throw fail(`needs a text index for "search": declare it in configure(), by schema.index()`);
  }
  const hidden = texts.find((path) => path === "$**" ? shape.secretive : isHiddenPath(path, shape));
  if (hidden === undefined) return texts;
  throw fail(`cannot search in a text index of "${hidden}": clients do not see all that it holds`);
}

function compileFormats(given: unknown, { shape, fail }: OperationPlace): readonly ListFormat[] {
  const formats = checkKind(given, { kind: "formats", option: "formats", fail });
  const unknown = formats.find((name) => name === "json" || !Object.hasOwn(MEDIA_TYPES, name));
  if (unknown !== undefined) throw fail(`has an unknown format "${unknown}" in "formats"`);
  if (formats.includes("csv") && columnsIn(shape).length === 0) {
    throw fail(`has "csv" in "formats", but no field that fits in a cell`);
  }
  return [...new Set(formats as ListFormat[])];
}

function compilePopulate(
  given: unknown,
  place: OperationPlace,
): ReadonlyMap<string, PopulateRule> {
  if (!isJsonObject(given)) throw place.fail(`needs an object as "populate"`);
  const entries = Object.entries(given).filter(([, options]) => options !== undefined);
  return new Map(
    entries.map(([name, options]) => [name, compileReference(name, { ...place, options })]),
  );
}

function compileReference(
  name: string,
  { options, shape, fail }: OperationPlace & { readonly options: unknown },
): PopulateRule {
  const field = shape.fields.get(name);
  const reference = field && referenceIn(field);
  const problem = whyUnseen(field) ?? (reference === undefined ? "is no reference" : undefined);
  if (field === undefined || reference === undefined || problem !== undefined) {
    throw fail(`has "${name}" in "populate", which ${problem}`);
  }
  const option = `populate.${name}`;
  const names = ["select", "always", "unguarded"] as const;
  const given = objectOf(options, { names, option, fail });
  const flag = (name: "always" | "unguarded") =>
    checkKind(given[name] ?? false, { kind: "boolean", option: `${option}.${name}`, fail });
  const [always, unguarded] = [flag("always"), flag("unguarded")];
  const select = given.select === undefined
    ? undefined
    : checkKind(given.select, { kind: "names", option: `${option}.select`, fail });
  const referred = referredTarget(reference);
  if (referred !== undefined) {
    const { fields } = shapeForAll(buildSchema(referred).schema);
    const unseen = select?.find((each) => whyUnseen(fields.get(each)) !== undefined);
    if (unseen !== undefined) {
      const reason = whyUnseen(fields.get(unseen));
      throw fail(`has "${unseen}" of "${referred.name}" in "${option}.select", which ${reason}`);
    }
    bindingRests(referred);
    if (!unguarded) checkGuards(referred, (text) => fail(`has "${name}" in "populate", ${text}`));
  }
  const projection = select === undefined ? {} : projectionOf(select);
  return { field, always, projection, ...select && { select } };
}

/**
 * Throws if `one()` of a referred class has a hook. The hook may hide entities or fields, but does not run when
 * `populate` puts an entity in the place of its identifier. The answer would show the hidden entities and fields.
 */
function checkGuards(referred: ModelClass, fail: Fail): void {
  const methods = bindingRests(referred).flatMap((rest) => rest.methods);
  const hooks = methods.filter(({ operation }) => operation === "one")
    .flatMap(({ hooks }) => Object.entries(hooks));
  const [name] = hooks.find(([name, hook]) => isHookName(name) && hook !== undefined) ?? [];
  if (name === undefined) return;
  throw fail(
    `but hook "${name}" of one() of "${referred.name}" would not run: ` +
      `set "unguarded" if every client may see what its scope allows`,
  );
}
