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
import { compilePopulate } from "./_compile_populate.ts";

/** Options that only a list has. */
const OF_LISTS = ["page", "sort", "search", "count"] as const;

/** Options that a hook in the place of the read would not know of. */
const OF_QUERIES = [...OF_LISTS, "populate"] as const;

export interface ReadsOptions {
  readonly target: ModelClass;
  readonly schema: Schema;
  readonly shape: Shape;
  /** Whether the entities are stored inside others. */
  readonly embedded: boolean;
}

/**
 * Compiles what clients may ask of an operation besides `q`; `undefined` if nothing.
 *
 * @throws {TypeError} If a declaration is wrong; the message names the class and the operation.
 */
export function compileReads(
  { operation, hooks }: Method,
  { target, schema, shape, embedded }: ReadsOptions,
): ReadRules | undefined {
  const given: ReadOptions = Object.fromEntries(
    Object.entries(hooks).filter(([name, value]) => isReadOption(name) && value !== undefined),
  );
  if (Object.keys(given).length === 0) return undefined;
  const method = `${operation}()`;
  const fail = (problem: string) => cannotMount(target, `${method} ${problem}`);
  checkPlaces({ operation, hooks }, { given, fail });
  const fields = new Fields(shape, fail);
  const { page, sort, select, search, count, populate } = given;
  if (page && !shape.fields.has("_id")) {
    throw fail(`cannot have "page": what it lists has no _id, which completes the order`);
  }
  return {
    ...page && { page: { ...compilePage(page, fail), inOneScan: hasPartialIndex(schema) } },
    ...sort && { sort: fields.named(sort, { option: "sort", isPossible: isSortable }) },
    ...select && { select: fields.named(select, { option: "select", isPossible: () => true }) },
    ...search && { search: compileSearch(search, { fields, schema, shape, embedded, fail }) },
    ...count && { count: compileCount(count, fail) },
    ...populate && { populate: compilePopulate(populate, { shape, fail }) },
  };
}

type Fail = (problem: string) => TypeError;

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

function compilePage(given: unknown, fail: Fail): Omit<PageRule, "inOneScan"> {
  const { max, size = max, ...others } = objectOf(given);
  checkNames(fail, { option: "page", others });
  if (!isCount(max)) throw fail(`needs a whole number of at least 1 as "page.max"`);
  if (!isCount(size) || size > max) throw fail(`needs a "page.size" from 1 to ${max}`);
  return { size, max };
}

function hasPartialIndex(schema: Schema): boolean {
  return schema.indexes().some(([, options]) => options?.partialFilterExpression !== undefined);
}

function compileCount(given: unknown, fail: Fail): NonNullable<ReadRules["count"]> {
  const { upTo = Infinity, always = false, ...others } = given === true ? {} : objectOf(given);
  checkNames(fail, { option: "count", others });
  if (upTo !== Infinity && !isCount(upTo)) {
    throw fail(`needs a whole number of at least 1 as "count.upTo"`);
  }
  if (typeof always !== "boolean") throw fail(`needs a boolean as "count.always"`);
  return { upTo, always };
}

function compileSearch(
  given: unknown,
  { fields, schema, shape, embedded, fail }: Omit<ReadsOptions, "target"> & {
    readonly fields: Fields;
    readonly fail: Fail;
  },
): SearchRule {
  if (Array.isArray(given)) {
    return { fields: [...fields.named(given, { option: "search", isPossible: isText })] };
  }
  const { index, ...others } = objectOf(given);
  checkNames(fail, { option: "search", others });
  if (index !== true) throw fail(`needs a list of fields or { index: true } as "search"`);
  if (embedded) throw fail("cannot search in a text index: it lists what others embed");
  checkTextIndexes(schema, { shape, fail });
  return { index };
}

interface NamedOptions {
  readonly option: "sort" | "select" | "search";
  readonly isPossible: (field: FieldShape) => boolean;
}

/** The fields that options may name. */
class Fields {
  readonly #shape: Shape;
  readonly #fail: Fail;

  constructor(shape: Shape, fail: Fail) {
    this.#shape = shape;
    this.#fail = fail;
  }

  /** Checks a list of names, each of a field that clients see. */
  named(
    names: unknown,
    { option, isPossible }: NamedOptions,
  ): ReadonlySet<string> {
    if (!Array.isArray(names) || names.length === 0) {
      throw this.#fail(`needs a list of fields as "${option}"`);
    }
    for (const name of names as unknown[]) {
      const field = this.#shape.fields.get(String(name));
      const problem = whyUnseen(field) ??
        (field && !isPossible(field)
          ? `cannot be used: it holds ${field.kind === "scalar" ? "no text" : article(field.kind)}`
          : undefined);
      if (problem !== undefined) throw this.#fail(`has "${name}" in "${option}", which ${problem}`);
    }
    return new Set(names as string[]);
  }
}

function isSortable({ kind }: FieldShape): boolean {
  return kind === "scalar";
}

function isText({ kind, type }: FieldShape): boolean {
  return kind === "scalar" && type?.instance === "String";
}

function article(kind: FieldShape["kind"]): string {
  return {
    array: "an array",
    object: "an object",
    map: "a map",
    free: "anything",
    scalar: "a value",
  }[
    kind
  ];
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1;
}

function objectOf(given: unknown): Record<string, unknown> {
  return isJsonObject(given) ? given : {};
}

/** An option with a wrong name would do nothing. */
function checkNames(fail: Fail, { option, others }: { option: string; others: object }): void {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw fail(`has an unknown option "${option}.${unknown}"`);
}

/**
 * Checks that there is a text index to search in, and that a search in it finds nothing by what clients do not see.
 *
 * @throws {TypeError} If the schema declares no text index, or one that holds a field that is hidden or not selected.
 */
export function checkTextIndexes(
  schema: Schema,
  { shape, fail }: { readonly shape: Shape; readonly fail: (problem: string) => TypeError },
): void {
  const keys = schema.indexes().flatMap(([index]) => Object.entries(index));
  const texts = keys.filter(([, kind]) => kind === "text").map(([path]) => path);
  if (texts.length === 0) {
    throw fail(`needs a text index for "search": declare it in configure(), by schema.index()`);
  }
  const hidden = texts.find((path) => path === "$**" ? shape.secretive : isHiddenPath(path, shape));
  if (hidden === undefined) return;
  throw fail(`cannot search in a text index of "${hidden}": clients do not see all that it holds`);
}
