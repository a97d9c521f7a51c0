import { isDeepStrictEqual } from "node:util";
import type { IndexOptions } from "mongoose";
import type { Method } from "../../declare/operations/methods.ts";
import { misplacedOption, optionsGiven } from "../../declare/operations/write_options.ts";
import type { WriteOptions } from "../../declare/options.ts";
import type { WriteLimits } from "../../pipeline/request/route.ts";
import { describeShape } from "../../schema/fields/shape.ts";
import { declaredIndexes } from "../../schema/mongoose/schemas/change_indexes.ts";
import { isSetOnce, whyUnseen } from "../../schema/fields/visibility.ts";
import { checkOptionKind, type OptionPlace } from "../../pipeline/option_reader.ts";

const MOST_CHANGED = 1000;

export function compileWrites(
  method: Method,
  place: OptionPlace & { readonly isStrict: boolean },
): WriteLimits | undefined {
  const { operation } = method;
  const { fail, shape, isStrict } = place;
  const given: WriteOptions = optionsGiven(method);
  const misplaced = misplacedOption(method, given);
  if (misplaced !== undefined) throw fail(`cannot have "${misplaced}"`);
  const isUpdate = operation === "updateAll";
  const isReplace = operation === "replace";
  const isRemoval = operation === "removeAll" && (isStrict || Object.keys(given).length > 0);
  if (!isUpdate && !isReplace && !isRemoval) return undefined;
  const isLimited = isUpdate || isStrict && isRemoval;
  const { atomic = true, fields, max = isLimited && MOST_CHANGED } = given;
  const { q = isStrict ? "required" : "optional" } = given;
  checkOptionKind(atomic, { kind: "boolean", option: "atomic", fail });
  const orNone = (problem: string) => fail(`${problem}, or false for no limit`);
  if (max !== false) checkOptionKind(max, { kind: "number", option: "max", fail: orNone });
  if (q !== "required" && q !== "optional") throw fail(`needs "required" or "optional" as "q"`);
  if (isUpdate) {
    const wrong = checkOptionKind(fields, { kind: "fields", option: "fields", fail }).find(
      (name) => {
        const field = shape.fields.get(name);
        return name === "_id" || field?.writable !== true || isSetOnce(field);
      },
    );
    if (wrong !== undefined) {
      throw fail(`has "${wrong}" in "fields", which is no field that a body can set`);
    }
  }
  const { by = "_id" } = given;
  const problem = isReplace ? keyProblem(by, place) : undefined;
  if (problem !== undefined) throw fail(`has "${by}" as "by", which ${problem}`);
  return {
    atomic,
    ...max !== false && { max },
    needsQ: isUpdate || isRemoval && q === "required",
    ...isUpdate && { fields: new Set(fields) },
    ...isReplace && { by, isRead: place.methods.some((each) => each.operation === "one") },
  };
}

function keyProblem(by: string, { schema }: OptionPlace): string | undefined {
  const field = describeShape(schema).fields.get(by);
  const unseen = whyUnseen(field);
  if (unseen !== undefined) return unseen;
  if (field?.kind !== "scalar") return "is no scalar";
  if (by === "_id") return undefined;
  if (!field.writable) return "not every client can set";
  const problems = declaredIndexes(schema)
    .filter(([index, { unique }]) => Object.keys(index).join() === by && Boolean(unique))
    .map(([, options]) => indexProblem(by, options));
  return problems.length > 0
    ? problems.includes(undefined) ? undefined : problems[0]
    : "has no unique index on that field alone";
}

function indexProblem(
  by: string,
  { collation, partialFilterExpression: partial }: IndexOptions,
): string | undefined {
  if (collation !== undefined) {
    return `has a unique index with a "collation", by which different keys may be equal`;
  }
  // A key comes from the URL, so it is never `null`. With `$exists: true`, the index has all other keys, so MongoDB
  // stores none twice.
  const hasAllKeys = partial === undefined ||
    isDeepStrictEqual(partial, { [by]: { $exists: true } });
  return hasAllKeys
    ? undefined
    : `has a unique index whose "partialFilterExpression" may leave out a key: ` +
      `use "sparse: true", or { ${by}: { $exists: true } }`;
}
