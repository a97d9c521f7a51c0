import type { Schema } from "mongoose";
import { NO_TRANSACTIONS } from "../../database/in_transaction.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import type { Method } from "../../declare/operations/methods.ts";
import { isReadOption } from "../../declare/operations/operation.ts";
import { isWriteOption, takesOption } from "../../declare/operations/write_options.ts";
import type { WriteOptions } from "../../declare/operations/write_options.ts";
import { actingLevel } from "../../pipeline/request/route.ts";
import type { Route, WriteRules } from "../../pipeline/request/route.ts";
import { getModel } from "../../schema/get_model.ts";
import { isStandalone } from "../../schema/mongoose/connections.ts";
import type { PartLink } from "../../schema/describe_parts.ts";
import { describeShape } from "../../schema/fields/shape.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import { whyUnseen } from "../../schema/fields/visibility.ts";
import { checkBoolean, checkCount, checkNoOthers, objectOf } from "./_check_given.ts";
import { cannotMount } from "./_check_rest.ts";
import type { Fail } from "./_check_rest.ts";

interface Writing {
  readonly target: ModelClass;
  readonly schema: Schema;
  readonly shape: Shape;
  /** How a parent holds its entities. */
  readonly link: PartLink | undefined;
  /** Whether requests of other callers may see other entities: by a scope, or a connection of their own. */
  readonly isDivided: boolean;
  /** The operations beside it. */
  readonly methods: readonly Method[];
}

/** The most entities that `updateAll()` changes, if it does not say. */
const MOST_UPDATED = 1000;

/** Compiles what clients may ask of a write besides its body; `undefined` if nothing. */
export function compileWrites(method: Method, writing: Writing): WriteRules | undefined {
  const { operation, hooks } = method;
  const fail: Fail = (problem) => cannotMount(writing.target, `${operation}() ${problem}`);
  const given: WriteOptions = Object.fromEntries(
    Object.entries(hooks).filter(([name, value]) =>
      isWriteOption(name) && value !== undefined &&
      (takesOption(operation, name) || !isReadOption(name))
    ),
  );
  const isBare = Object.keys(given).length === 0;
  if (isBare && operation !== "updateAll" && operation !== "replace") return undefined;
  const misplaced = Object.keys(given).find((name) =>
    isWriteOption(name) && !takesOption(operation, name)
  );
  if (misplaced !== undefined) throw fail(`cannot have "${misplaced}"`);
  const { many, atomic = true, fields, q } = given;
  const { max = operation === "updateAll" ? MOST_UPDATED : undefined } = given;
  if (many !== undefined) checkCount(many, { option: "many", fail });
  if (max !== undefined && max !== Infinity) checkCount(max, { option: "max", fail });
  if (many !== undefined && writing.link?.array === false) {
    throw fail(`cannot have "many": the property holds one entity`);
  }
  checkBoolean(atomic, { option: "atomic", fail });
  if (given.formats !== undefined) checkFormats(given, fail);
  if (q !== undefined && q !== "required") throw fail(`needs "required" as "q"`);
  return {
    ...{ many, atomic, max, needsQ: operation === "updateAll" || q === "required" },
    ...operation === "updateAll" && { fields: compileFields(fields, { ...writing, fail }) },
    ...operation === "replace" && {
      by: compileKey(given.by ?? "_id", { ...writing, fail }),
      isRead: writing.methods.some((each) => each.operation === "one"),
    },
    ...given.formats && { takesLines: true },
    ...given.idempotency !== undefined &&
      { idempotency: compileIdempotency(method, { given, ...writing, fail }) },
  };
}

function checkFormats({ formats, many, idempotency }: WriteOptions, fail: Fail): void {
  if (!Array.isArray(formats) || formats.length !== 1 || formats[0] !== "ndjson") {
    throw fail(`needs ["ndjson"] as "formats"`);
  }
  if (many === undefined) throw fail(`needs "many" with "formats": the size of a batch`);
  if (idempotency?.key !== "required") return;
  throw fail(`cannot have "formats" with "idempotency.key": lines have no key`);
}

function compileFields(
  names: unknown,
  { shape, fail }: Pick<Writing, "shape"> & { readonly fail: Fail },
): ReadonlySet<string> {
  if (!Array.isArray(names) || names.length === 0) throw fail(`needs a list of fields as "fields"`);
  const wrong = names.find((name) => shape.fields.get(String(name))?.writable !== true);
  if (wrong === undefined) return new Set(names as string[]);
  throw fail(`has "${wrong}" in "fields", which is no field that a body can set`);
}

/** Checks that a field names one entity at most, and that every client may see and set it. */
function compileKey(
  by: unknown,
  { schema, fail: failWith }: Pick<Writing, "schema"> & { readonly fail: Fail },
): string {
  const fail: Fail = (problem) => failWith(`has "${by}" as "by", which ${problem}`);
  const field = describeShape(schema).fields.get(String(by));
  const unseen = whyUnseen(field);
  if (unseen !== undefined) throw fail(unseen);
  if (field?.kind !== "scalar") throw fail("is no scalar");
  if (by === "_id") {
    if (NAMED_BY_TEXT.has(field.type?.instance)) return by;
    throw fail("is neither an ObjectId nor a string");
  }
  if (!field.writable) throw fail("not every client can set");
  const isUnique = schema.indexes().some(([index, options = {}]) =>
    Object.keys(index).join() === by && options.unique === true && !options.sparse &&
    options.partialFilterExpression === undefined && options.collation === undefined
  );
  if (!isUnique) throw fail("has no unique index of its own");
  return String(by);
}

/** The types of identifiers that the paths of entities can name. */
const NAMED_BY_TEXT: ReadonlySet<unknown> = new Set(["ObjectId", "String"]);

const UNITS_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function compileIdempotency(
  { hooks }: Method,
  { given, schema, isDivided, fail }: Writing & {
    readonly given: WriteOptions;
    readonly fail: Fail;
  },
): NonNullable<WriteRules["idempotency"]> {
  const { idempotency, many, atomic } = given;
  const { keep, key, by, ...others } = objectOf(idempotency);
  checkNoOthers(others, { option: "idempotency", fail });
  const [, digits, unit] = /^(\d+)([smhd])$/.exec(String(keep)) ?? [];
  if (digits === undefined || Number(digits) === 0) {
    throw fail(`needs a time such as "24h" as "idempotency.keep"`);
  }
  if (key !== undefined && key !== "required") throw fail(`needs "required" as "idempotency.key"`);
  if (by !== undefined && typeof by !== "function") {
    throw fail(`needs a function as "idempotency.by"`);
  }
  if (by === undefined && isDivided) {
    throw fail(`needs "idempotency.by", which names the caller: keys of others would be theirs`);
  }
  if (hooks.persist !== undefined) {
    throw fail(`cannot have "idempotency" with its own "persist", which may write another _id`);
  }
  if (schema.path("_id") === undefined) {
    throw fail(`cannot have "idempotency": what it makes has no _id`);
  }
  if (many !== undefined && atomic === false) {
    throw fail(`cannot have "idempotency" with "atomic: false"`);
  }
  return {
    keepMS: Number(digits) * UNITS_MS[unit as keyof typeof UNITS_MS],
    isRequired: key === "required",
    by: by as NonNullable<WriteRules["idempotency"]>["by"],
  };
}

/**
 * Refuses a route that promises all or nothing where an open connection leads to a server without transactions. What a
 * parent embeds needs none, and hooks write as they like.
 */
export function checkTransactions(route: Route): void {
  const { target, operation, writes, hooks, link } = actingLevel(route);
  const writesMany = writes?.many !== undefined || operation === "updateAll";
  if (!writesMany || !writes?.atomic || hooks.persist !== undefined || link?.embedded) return;
  const [root] = route.levels;
  if (root === undefined || !isStandalone(getModel(root.target).db)) return;
  throw cannotMount(target, `${operation}() writes all or nothing, but ${NO_TRANSACTIONS}`);
}
