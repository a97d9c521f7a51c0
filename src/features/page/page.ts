import { isDeepStrictEqual } from "node:util";
import type { mongo } from "mongoose";
import { badParameter } from "../../errors/refusals.ts";
import type { GivenRequest } from "../../pipeline/given_request.ts";
import type { Feature, Plain } from "../../pipeline/feature.ts";
import { windowOrder } from "../../pipeline/open_level.ts";
import type { OpenLevelContext } from "../../pipeline/request/request_context.ts";
import type { FoundPage, PageRead } from "../../sources/source.ts";
import { CURSOR, type Cursor, readCursor } from "./cursor.ts";
import { cursorBehind, cursorPaths, valuesAt } from "./page_cursor.ts";
import { isOrderOfValues, seek, seekInOneScan } from "./seek.ts";
import { hasBodyParameters, linkUrl } from "../../pipeline/request/link_url.ts";

const MAX_SKIPPED = 2 ** 31 - 1;

interface PageConfig {
  readonly size: number;
  readonly max: number;
  readonly inOneScan: boolean;
  readonly hasObjectIds: boolean;
}

interface PageQuery {
  readonly limit: number;
  readonly skip: number;
  readonly after?: Cursor;
  readonly inOneScan: boolean;
}

export const page: Feature<Plain<PageConfig, PageQuery>> = {
  name: "page",
  operations: ["all"],
  takesFalse: true,
  requirements: [
    { needs: "query" },
    { needs: "_id", reason: "what it lists has no _id, which completes the order" },
  ],
  parameters: { limit: "one", skip: "one", after: "one" },
  check(option, { schema }) {
    const { max, size } = option.parts("max", "size");
    const most = max.number();
    const inOneScan = schema.indexes().some(([, { partialFilterExpression } = {}]) =>
      partialFilterExpression !== undefined
    );
    const given = size.value === undefined ? most : size.value;
    if (!Number.isSafeInteger(given) || Number(given) < 1 || Number(given) > most) {
      throw option.fail(`needs a "page.size" from 1 to ${most}`);
    }
    const hasObjectIds = schema.path("_id")?.instance === "ObjectId";
    return { size: Number(given), max: most, inOneScan, hasObjectIds };
  },
  narrow: (declared) => declared,
  describe: ({ size, max, hasObjectIds }) => ({
    parameters: {
      limit: {
        text: "The maximum number of entities in a page.",
        default: size,
        maximum: max,
        schema: { type: "integer", minimum: 1, maximum: max, default: size },
      },
      skip: {
        text: "The number of entities before the page.",
        schema: { type: "integer", minimum: 0, maximum: MAX_SKIPPED },
      },
      after: {
        text:
          "The place where the page begins, from `Link`, or the `_id` of the entity before the page. " +
          "It cannot be combined with `skip`.",
        schema: { type: "string", ...hasObjectIds && { pattern: CURSOR.source } },
      },
    },
    answer: {
      headers: {
        Link: {
          description: "The URLs of other pages, by `rel`: next, prev, first",
          schema: { type: "string" },
        },
      },
    },
  }),
  parse: ({ size, max, inOneScan, hasObjectIds }, given) => {
    const after = readAfter(given, hasObjectIds);
    return {
      limit: given.wholeNumber("limit", { from: 1, to: max, missing: size }),
      skip: given.wholeNumber("skip", { from: 0, to: MAX_SKIPPED, missing: 0 }),
      inOneScan,
      ...after && { after },
    };
  },
  select: (query) => {
    const { limit, skip, after } = query;
    const locate = (context: OpenLevelContext) => readOf(context, query);
    return { window: { limit, skip, ...after && { after }, locate } };
  },
  headers: (_query, { part, context }): Readonly<Record<string, string>> => {
    if (part !== undefined) checkPageEnd(context, part.found);
    const links = part === undefined ? [] : linksOf(context, part);
    return links.length === 0 ? {} : { Link: links.join(", ") };
  },
};

function readAfter(given: GivenRequest, hasObjectIds: boolean): Cursor | undefined {
  const after = given.parameter("after");
  if (after === undefined) return undefined;
  if (given.parameter("skip") !== undefined) throw badParameter("after", "no skip beside it");
  const cursor = readCursor(after, hasObjectIds);
  if (cursor === undefined) throw badParameter("after", "an identifier, or what Link has");
  return cursor;
}

async function readOf(
  context: OpenLevelContext,
  { limit: given, skip, after, inOneScan }: PageQuery,
): Promise<PageRead> {
  const limit = Math.min(given, Number(context.state.options.limit ?? given));
  const isLoose = looseCollation(context) !== undefined;
  const part = { skip, limit, paths: await cursorPaths(context), ...isLoose && { isLoose } };
  if (after === undefined) return part;
  const order = windowOrder(context);
  if (!isOrderOfValues(order, context.level.shape)) {
    throw badParameter("after", "no value in this order: its pages continue by skip");
  }
  const values = await valuesAt(context, { order, cursor: after });
  return { ...part, afterCursor: (inOneScan ? seekInOneScan : seek)(order, values) };
}

function linksOf(
  context: OpenLevelContext,
  { found, read: { skip, afterCursor: behind, limit } }: {
    readonly found: FoundPage;
    readonly read: PageRead;
  },
): string[] {
  const links: string[] = [];
  const add = (rel: string, changes: Record<string, number | string | undefined>) =>
    links.push(`<${linkUrl(context.req, changes)}>; rel="${rel}"`);
  const after = found.more && skip === 0 ? cursorBehind(context, found) : undefined;
  if (after !== undefined) add("next", { after, skip: undefined });
  else if (found.more && behind === undefined) add("next", { skip: skip + found.size });
  if (skip > 0) {
    // A link can remove a parameter of the URL, but in the body of a `QUERY` only replace it, by `skip: 0`.
    const none = hasBodyParameters(context.req) ? 0 : undefined;
    add("prev", { skip: Math.max(0, skip - limit) || none });
    add("first", { skip: none });
  }
  return links;
}

type Collation = mongo.CollationOptions;

/** MongoDB compares these types without the collation. */
const EXACT = ["ObjectId", "Number", "Double", "Int32", "BigInt", "Decimal128", "Date", "UUID"];

function looseCollation({ level: { shape }, state }: OpenLevelContext) {
  const collation = (state.options.collation ?? undefined) as Collation | undefined;
  const isExact = EXACT.includes(shape.fields.get("_id")?.type?.instance ?? "");
  return isExact || collation?.locale === "simple" ? undefined : collation;
}

/** Entities that are equal under the collation have no order, so the next page would miss or repeat one. */
function checkPageEnd(
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
