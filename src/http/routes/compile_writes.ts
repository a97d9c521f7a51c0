import { isDeepStrictEqual } from "node:util";
import type { IndexOptions } from "mongoose";
import { NO_TRANSACTIONS } from "../../database/in_transaction.ts";
import type { Method } from "../../declare/operations/methods.ts";
import { misplacedOption, optionsGiven } from "../../declare/operations/write_options.ts";
import type { WriteOptions } from "../../declare/options.ts";
import { actingLevel, type Route, type WriteRules } from "../../pipeline/request/route.ts";
import { getModel } from "../../schema/get_model.ts";
import { isStandalone } from "../../schema/mongoose/connections.ts";
import { describeShape, fieldsWithin } from "../../schema/fields/shape.ts";
import { whyUnseen } from "../../schema/fields/visibility.ts";
import {
  cannotMount,
  checkKind,
  type Fail,
  objectOf,
  type OptionPlace,
} from "../../pipeline/option_reader.ts";

interface WritePlace extends OptionPlace {
  /**
   * Whether a `scope` or `getConnection` of the route, or of a level above it, may let callers see different entities.
   * An idempotency key of such a route has to belong to one caller.
   */
  readonly isDivided: boolean;
  /** All operations of the `@rest` that declares the write. The hooks of its `one()` may hide entities from callers. */
  readonly methods: readonly Method[];
}

/** The most entities that a request to `updateAll()` changes if the declaration has no option `max`. */
const MOST_UPDATED = 1000;

/**
 * Compiles the options of a write into its rules. Throws if an option is wrong. Returns `undefined` if the operation
 * has no option of a write and needs no rules.
 */
export function compileWrites(method: Method, place: WritePlace): WriteRules | undefined {
  const { operation } = method;
  const { fail, shape } = place;
  const given: WriteOptions = optionsGiven(method);
  const isUpdate = operation === "updateAll";
  const isReplace = operation === "replace";
  if (Object.keys(given).length === 0 && !isUpdate && !isReplace) return undefined;
  const misplaced = misplacedOption(method, given);
  if (misplaced !== undefined) throw fail(`cannot have "${misplaced}"`);
  const { many, atomic = true, fields, q, max = isUpdate ? MOST_UPDATED : undefined } = given;
  checkMany(given, { ...place, operation });
  if (max !== undefined && max !== Infinity) {
    checkKind(max, { kind: "count", option: "max", fail });
  }
  if (given.formats !== undefined) checkFormats(given, fail);
  if (q !== undefined) checkKind(q, { kind: "required", option: "q", fail });
  if (isUpdate) {
    const wrong = checkKind(fields, { kind: "fields", option: "fields", fail })
      .find((name) => shape.fields.get(name)?.writable !== true);
    if (wrong !== undefined) {
      throw fail(`has "${wrong}" in "fields", which is no field that a body can set`);
    }
  }
  const { by = "_id" } = given;
  const problem = isReplace ? keyProblem(by, place) : undefined;
  if (problem !== undefined) throw fail(`has "${by}" as "by", which ${problem}`);
  return {
    many,
    atomic,
    max,
    needsQ: isUpdate || q === "required",
    ...isUpdate && { fields: new Set(fields) },
    ...isReplace && { by, isRead: place.methods.some((each) => each.operation === "one") },
    ...given.formats && { takesLines: true },
    ...given.idempotency !== undefined &&
      { idempotency: compileIdempotency(method, { given, ...place }) },
  };
}

function checkMany(
  { many, atomic }: WriteOptions,
  { operation, fail, link }: Pick<WritePlace, "fail" | "link"> & Pick<Method, "operation">,
): void {
  if (many !== undefined) {
    checkKind(many, { kind: "count", option: "many", fail });
    if (link?.array === false) throw fail(`cannot have "many": the property holds one entity`);
  }
  if (atomic === undefined) return;
  checkKind(atomic, { kind: "boolean", option: "atomic", fail });
  const needsMany = operation === "create";
  if (needsMany && many === undefined) throw fail(`needs "many" with "atomic"`);
}

function checkFormats({ formats, many, idempotency }: WriteOptions, fail: Fail): void {
  if (!Array.isArray(formats) || formats.join() !== "ndjson") {
    throw fail(`needs ["ndjson"] as "formats"`);
  }
  if (many === undefined) throw fail(`needs "many" with "formats": the size of a batch`);
  if (idempotency?.key !== "required") return;
  throw fail(`cannot have "formats" with "idempotency.key": lines have no key`);
}

/** The types of `_id` that the path of a replacement can contain. `replace()` refuses an `_id` of another type. */
const NAMED_BY_TEXT: readonly unknown[] = ["ObjectId", "String"];

/**
 * Returns the reason why `replace()` cannot name entities by a field. Returns `undefined` if every client can see and
 * set the field, and no two entities have the same value of the field, so that a path names one entity.
 */
function keyProblem(by: string, { schema }: OptionPlace): string | undefined {
  const field = describeShape(schema).fields.get(by);
  const unseen = whyUnseen(field);
  if (unseen !== undefined) return unseen;
  if (field?.kind !== "scalar") return "is no scalar";
  if (by === "_id") {
    return NAMED_BY_TEXT.includes(field.type?.instance)
      ? undefined
      : "is neither an ObjectId nor a string";
  }
  if (!field.writable) return "not every client can set";
  const problems = schema.indexes()
    .filter(([index, { unique }]) => Object.keys(index).join() === by && Boolean(unique))
    .map(([, options]) => indexProblem(by, options));
  return problems.length > 0
    ? problems.includes(undefined) ? undefined : problems[0]
    : "has no unique index on that field alone";
}

/**
 * Returns the reason why two entities may have the same value of a field in spite of a unique index on the field. The
 * path of `replace()` would name both entities. Returns `undefined` if the index prevents equal values.
 */
function indexProblem(
  by: string,
  { collation, partialFilterExpression: partial }: IndexOptions,
): string | undefined {
  if (collation !== undefined) {
    return `has a unique index with a "collation", by which different keys may be equal`;
  }
  // The value in a path is never `null`, so an index with `$exists: true` contains every entity that a path can name.
  const hasAllKeys = partial === undefined ||
    isDeepStrictEqual(partial, { [by]: { $exists: true } });
  return hasAllKeys
    ? undefined
    : `has a unique index whose "partialFilterExpression" may leave out a key: ` +
      `use "sparse: true", or { ${by}: { $exists: true } }`;
}

const UNITS_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * The hooks of `one()` that may hide an entity from one caller and show it to another. With such a hook, an idempotency
 * key has to belong to one caller.
 */
const READER_HOOKS = ["preFetch", "fetch", "postFetch", "preSend"] as const;

/**
 * Returns the reason why callers that create entities may see different entities or fields. For this reason, an
 * idempotency key has to belong to one caller, because the key of one caller would answer to another caller. Returns
 * `undefined` if all callers see the same entities and fields.
 */
function whyDivided({ isDivided, methods, shape }: WritePlace): string | undefined {
  if (isDivided) return "a scope or getConnection() divides the callers";
  const isDividing = (option: unknown) => typeof option === "function";
  for (const { type } of fieldsWithin(shape)) {
    const name = (["hidden", "readonly"] as const).find((each) => isDividing(type?.options[each]));
    if (name !== undefined) return `the function "${name}" of "${type?.path}" divides the callers`;
  }
  const reader = methods.find(({ operation }) => operation === "one");
  const hook = READER_HOOKS.find((name) => reader?.hooks[name] !== undefined);
  return hook && `the hook "${hook}" of one() may divide the callers`;
}

function compileIdempotency(
  { hooks }: Method,
  place: WritePlace & { readonly given: WriteOptions },
): NonNullable<WriteRules["idempotency"]> {
  const { given, schema, fail } = place;
  const option = "idempotency";
  const { keep, key, by } = objectOf(given.idempotency, {
    names: ["keep", "key", "by"],
    option,
    fail,
  });
  const [, digits, unit] = /^(\d+)([smhd])$/.exec(String(keep)) ?? [];
  if (!Number(digits)) throw fail(`needs a time such as "24h" as "idempotency.keep"`);
  if (key !== undefined) checkKind(key, { kind: "required", option: "idempotency.key", fail });
  if (by !== undefined) checkKind(by, { kind: "function", option: "idempotency.by", fail });
  const problem = hooks.persist !== undefined
    ? ` with its own "persist", which may write another _id`
    : schema.path("_id") === undefined
    ? ": what it makes has no _id"
    : given.many !== undefined && given.atomic === false
    ? ` with "atomic: false"`
    : undefined;
  if (problem !== undefined) throw fail(`cannot have "idempotency"${problem}`);
  const why = by === undefined ? whyDivided(place) : undefined;
  if (why !== undefined) {
    throw fail(
      `needs "idempotency.by", which names the caller: ${why}, and the key of one would answer to another`,
    );
  }
  return {
    keepMS: Number(digits) * UNITS_MS[unit as keyof typeof UNITS_MS],
    isRequired: key === "required",
    by: by as NonNullable<WriteRules["idempotency"]>["by"],
  };
}

/**
 * Throws at start-up if a route writes all entities of a request or none, and its open connection leads to a server
 * without transactions. Every such request would fail.
 */
export function checkTransactions(route: Route): void {
  const { target, operation, writes, hooks, link } = actingLevel(route);
  const writesMany = writes?.many !== undefined || operation === "updateAll";
  // A write of embedded entities writes only the document of their parent, so it needs no transaction. A `persist` hook
  // may write without a transaction.
  if (!writesMany || !writes?.atomic || hooks.persist !== undefined || link?.embedded) return;
  const [root] = route.levels;
  if (root === undefined || !isStandalone(getModel(root.target).db)) return;
  throw cannotMount(target, `${operation}() writes all or nothing, but ${NO_TRANSACTIONS}`);
}
