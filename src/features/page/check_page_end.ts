import { isDeepStrictEqual } from "node:util";
import type { mongo } from "mongoose";
import { windowOrder } from "../../pipeline/open_level.ts";
import type { OpenLevelContext } from "../../pipeline/request/request_context.ts";
import type { FoundPage } from "../../sources/source.ts";

type Collation = mongo.CollationOptions;

/** MongoDB compares these types without the collation. */
const EXACT = ["ObjectId", "Number", "Double", "Int32", "BigInt", "Decimal128", "Date", "UUID"];

/** Returns the collation if it may make different identifiers equal. */
export function looseCollation({ level: { shape }, state }: OpenLevelContext) {
  const collation = (state.options.collation ?? undefined) as Collation | undefined;
  const isExact = EXACT.includes(shape.fields.get("_id")?.type?.instance ?? "");
  return isExact || collation?.locale === "simple" ? undefined : collation;
}

/** Entities that are equal under the collation have no order, so the next page would miss or repeat one. */
export function checkPageEnd(
  context: OpenLevelContext,
  { end = {}, next }: FoundPage,
): void {
  const collation = looseCollation(context);
  if (collation === undefined || next === undefined) return;
  const areEqual = equalityUnder(collation);
  const known = Object.keys(windowOrder(context)).filter((path) => path in end);
  if (!known.every((path) => areEqual(end[path], next[path]))) return;
  throw new TypeError(
    `Cannot page "${context.level.target.name}": the collation of a hook compares the identifiers "${end._id}" and "${next._id}" as equal`,
  );
}

function equalityUnder(
  { locale, strength = 3, caseLevel = false, numericOrdering = false, alternate }: Collation,
): (one: unknown, other: unknown) => boolean {
  const [weak, strong] = caseLevel ? ["case", "variant"] as const : ["base", "accent"] as const;
  const { compare } = new Intl.Collator(locale.replace(/@.*/, "").replaceAll("_", "-"), {
    sensitivity: strength === 1 ? weak : strength === 2 ? strong : "variant",
    numeric: numericOrdering,
    ignorePunctuation: alternate === "shifted",
  });
  return (one, other) =>
    typeof one === "string" && typeof other === "string"
      ? compare(one, other) === 0
      : isDeepStrictEqual(one, other);
}
