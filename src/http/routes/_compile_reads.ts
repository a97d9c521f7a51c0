import type { Schema } from "mongoose";
import type { ReadOptions } from "../../declare/hooks/read_options.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import type { Method } from "../../declare/operations/methods.ts";
import { isReadOption, OPERATIONS } from "../../declare/operations/operation.ts";
import type { PageRule, ReadRules, SearchRule } from "../../filter/parameters/read_rules.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { isHiddenPath, whyUnseen } from "../../schema/fields/visibility.ts";
import { cannotMount } from "./_check_rest.ts";
import type { Fail } from "./_check_rest.ts";
import { compilePopulate } from "./_compile_populate.ts";

/** Options that only a list has. */
const OF_LISTS = ["page", "sort", "search", "count"] as const;

/** Options that a hook in the place of the read would not know of. */
const OF_QUERIES = [...OF_LISTS, "populate"] as const;

interface ReadModel {
  readonly target: ModelClass;
  readonly schema: Schema;
  readonly shape: Shape;
  /** Whether the entities are stored inside others. */
  readonly embedded: boolean;
}

interface Reading extends ReadModel {
  readonly fail: Fail;
}

/**
 * Compiles what clients may ask of an operation besides `q`; `undefined` if nothing.
 *
 * @throws {TypeError} If a declaration is wrong; the message names the class and the operation.
 */
export function compileReads(method: Method, model: ReadModel): ReadRules | undefined {
  const given: ReadOptions = Object.fromEntries(
    Object.entries(method.hooks).filter(([name, value]) =>
      isReadOption(name) && value !== undefined
    ),
  );
  if (Object.keys(given).length === 0) return undefined;
  const fail: Fail = (problem) => cannotMount(model.target, `${method.operation}() ${problem}`);
  checkPlaces(method, { given, fail });
  const reading = { ...model, fail };
  const { page, sort, select, search, count, populate } = given;
  return {
    ...page && { page: compilePage(page, reading) },
    ...sort && { sort: new Set(checkNames(sort, { ...reading, option: "sort" })) },
    ...select && { select: new Set(checkNames(select, { ...reading, option: "select" })) },
    ...search && { search: compileSearch(search, reading) },
    ...count && { count: compileCount(count, fail) },
    ...populate && { populate: compilePopulate(populate, reading) },
  };
}

/** Checks that an operation can do what its options promise. */
function checkPlaces(
  { operation, hooks }: Method,
  { given, fail }: { readonly given: ReadOptions; readonly fail: Fail },
): void {
  const { verb, many } = OPERATIONS[operation];
  const misplaced = verb !== "get"
    ? Object.keys(given)[0]
    : OF_LISTS.find((name) => !many && given[name] !== undefined);
  if (misplaced !== undefined) throw fail(`cannot have "${misplaced}"`);
  const unread = OF_QUERIES.find((name) => given[name] !== undefined);
  if (unread !== undefined && hooks.fetch !== undefined) {
    throw fail(`has its own "fetch", which does not know of "${unread}"`);
  }
  const leavesOut = (["postFetch", "preSend"] as const).find((name) => hooks[name] !== undefined);
  if (given.count !== undefined && leavesOut !== undefined) {
    throw fail(`cannot have "count": the total would count what "${leavesOut}" leaves out`);
  }
}

function compilePage(given: unknown, { schema, shape, fail }: Reading): PageRule {
  if (!shape.fields.has("_id")) {
    throw fail(`cannot have "page": what it lists has no _id, which completes the order`);
  }
  const { max, size = max, ...others } = objectOf(given);
  checkNoOthers(others, { option: "page", fail });
  if (!isCount(max)) throw fail(`needs a whole number of at least 1 as "page.max"`);
  if (!isCount(size) || size > max) throw fail(`needs a "page.size" from 1 to ${max}`);
  const inOneScan = schema.indexes().some(([, { partialFilterExpression } = {}]) =>
    partialFilterExpression !== undefined
  );
  return { size, max, inOneScan };
}

function compileCount(given: unknown, fail: Fail): NonNullable<ReadRules["count"]> {
  const { upTo = Infinity, always = false, ...others } = given === true ? {} : objectOf(given);
  checkNoOthers(others, { option: "count", fail });
  if (upTo !== Infinity && !isCount(upTo)) {
    throw fail(`needs a whole number of at least 1 as "count.upTo"`);
  }
  if (typeof always !== "boolean") throw fail(`needs a boolean as "count.always"`);
  return { upTo, always };
}

function compileSearch(given: unknown, reading: Reading): SearchRule {
  const { embedded, fail } = reading;
  if (Array.isArray(given)) return { fields: checkNames(given, { ...reading, option: "search" }) };
  const { index, ...others } = objectOf(given);
  checkNoOthers(others, { option: "search", fail });
  if (index !== true) throw fail(`needs a list of fields or { index: true } as "search"`);
  if (embedded) throw fail("cannot search in a text index: it lists what others embed");
  checkTextIndex(reading);
  return { index };
}

/** Checks that there is a text index, and that a search in it finds nothing by what clients do not see. */
function checkTextIndex({ schema, shape, fail }: Reading): void {
  const keys = schema.indexes().flatMap(([index]) => Object.entries(index));
  const texts = keys.filter(([, kind]) => kind === "text").map(([path]) => path);
  if (texts.length === 0) {
    throw fail(`needs a text index for "search": declare it in configure(), by schema.index()`);
  }
  const hidden = texts.find((path) => path === "$**" ? shape.secretive : isHiddenPath(path, shape));
  if (hidden === undefined) return;
  throw fail(`cannot search in a text index of "${hidden}": clients do not see all that it holds`);
}

const KINDS: Readonly<Record<FieldShape["kind"], string>> = {
  ...{ array: "an array", object: "an object", map: "a map", free: "anything", scalar: "no text" },
};

/** Checks a list of names, each of a field that clients see. */
function checkNames(
  names: unknown,
  { option, shape, fail }: Reading & { readonly option: "sort" | "select" | "search" },
): readonly string[] {
  if (!Array.isArray(names) || names.length === 0) {
    throw fail(`needs a list of fields as "${option}"`);
  }
  const isPossible = ({ kind, type }: FieldShape) =>
    option === "select" ||
    kind === "scalar" && (option === "sort" || type?.instance === "String");
  for (const name of names as unknown[]) {
    const field = shape.fields.get(String(name));
    const problem = whyUnseen(field) ??
      (field && !isPossible(field) ? `cannot be used: it holds ${KINDS[field.kind]}` : undefined);
    if (problem !== undefined) throw fail(`has "${name}" in "${option}", which ${problem}`);
  }
  return [...new Set(names as string[])];
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1;
}

function objectOf(given: unknown): Record<string, unknown> {
  return isJsonObject(given) ? given : {};
}

/** An option with a wrong name would do nothing. */
function checkNoOthers(others: object, { option, fail }: { option: string; fail: Fail }): void {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw fail(`has an unknown option "${option}.${unknown}"`);
}
