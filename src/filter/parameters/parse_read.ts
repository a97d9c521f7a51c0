import { badFormat, badParameter, refusal } from "../../errors/refusals.ts";
import { readCursor } from "./cursor.ts";
import { EVENT_STREAM, LIST_LIMITS, MEDIA_TYPES } from "./read_rules.ts";
import type { Format, Order, PageQuery, PopulateRule, ReadQuery, ReadRules } from "./read_rules.ts";
import { compileSearch } from "./search.ts";
import { totalOrder } from "./total_order.ts";

const NAMES = ["limit", "skip", "after", "sort", "select", "search", "populate"] as const;

type Name = (typeof NAMES)[number];

export interface ReadRequest {
  readonly url: string;
  readonly prefer?: string | undefined;
  readonly parameters: readonly string[];
  /** Chooses one of some media types by the header `Accept`; the first one, if all are the same to the client. */
  accepts(types: string[]): string | false;
}

export function declaredNames(rules: ReadRules): Name[] {
  return NAMES.filter((name) => {
    const isOfPage = name === "limit" || name === "skip" || name === "after";
    return rules[isOfPage ? "page" : name] !== undefined;
  });
}

/** Reads what a client asks of a read besides `q`. Throws a 400 that names a parameter and what is allowed. */
export function parseRead(rules: ReadRules, request: ReadRequest): ReadQuery {
  const given = givenParameters(rules, request);
  const { page, sort, select, search, populate, count } = rules;
  const format = readFormat(rules, request);
  const preferred = prefersCount(request.prefer);
  return {
    ...page && { page: readPage(given, page) },
    ...given.sort !== undefined && sort && { order: readOrder(given.sort, sort) },
    ...given.select !== undefined && select &&
      { select: readSelection(given.select, select) },
    ...given.search !== undefined && search && { search: compileSearch(given.search, search) },
    ...populate && { populate: readPopulate(given.populate, populate) },
    ...count && (count.always || preferred) && { count: { upTo: count.upTo, preferred } },
    ...format !== undefined && { format },
  };
}

/**
 * Chooses the format that the client likes best; `undefined` for JSON.
 *
 * @throws {RestError} 406 if it takes none.
 */
function readFormat({ formats, live }: ReadRules, request: ReadRequest): Format | undefined {
  if (formats === undefined) return undefined;
  const types: string[] = [MEDIA_TYPES.json, ...formats.map((name) => MEDIA_TYPES[name])];
  if (live !== undefined) types.push(EVENT_STREAM);
  const accepted = request.accepts(types);
  if (accepted !== false) return formats.find((name) => MEDIA_TYPES[name] === accepted);
  const allowed = listed(types);
  throw refusal("NOT_ACCEPTABLE", { message: `The header "Accept" takes ${allowed}`, allowed });
}

function givenParameters(
  rules: ReadRules,
  { url, parameters }: ReadRequest,
): Partial<Record<Name, string>> {
  const start = url.indexOf("?");
  if (start === -1) return {};
  const query = url.slice(start + 1);
  const declared = declaredNames(rules);
  const given: Partial<Record<Name, string>> = {};
  for (const [name, value] of new URLSearchParams(query)) {
    const parameter = NAMES.find((each) => name === each || name.startsWith(`${each}[`));
    if (parameter === undefined) continue;
    if (!declared.includes(parameter)) {
      if (parameters.includes(parameter)) continue;
      throw badFormat(`Parameter "${parameter}" is not allowed`, { parameter });
    }
    if (name !== parameter || given[parameter] !== undefined) {
      throw badParameter(parameter, "one value");
    }
    given[parameter] = value;
  }
  refuseMalformed(query, given);
  return given;
}

/** `URLSearchParams` decodes leniently, which would turn one text into another. */
function refuseMalformed(query: string, given: Partial<Record<Name, string>>): void {
  for (const piece of query.split("&")) {
    try {
      decodeURIComponent(piece);
    } catch {
      const [parameter = ""] = new URLSearchParams(piece).keys();
      if (Object.hasOwn(given, parameter)) {
        throw badParameter(parameter as Name, "percent-encoded UTF-8");
      }
    }
  }
}

function readPage(
  { limit, skip, after }: Partial<Record<Name, string>>,
  { size, max }: { readonly size: number; readonly max: number },
): PageQuery {
  if (after !== undefined && skip !== undefined) throw badParameter("after", "no skip beside it");
  const cursor = after === undefined ? undefined : readCursor(after);
  if (after !== undefined && cursor === undefined) {
    throw badParameter("after", "an identifier, or what Link has");
  }
  return {
    limit: limit === undefined ? size : readCount("limit", limit, { from: 1, to: max }),
    skip: skip === undefined ? 0 : readCount("skip", skip, { from: 0, to: LIST_LIMITS.skipped }),
    ...cursor !== undefined && { after: cursor },
  };
}

function readCount(
  parameter: Name,
  text: string,
  { from, to }: { readonly from: number; readonly to: number },
): number {
  const count = Number(text);
  if (/^\d{1,10}$/.test(text) && count >= from && count <= to) return count;
  throw badParameter(parameter, `a whole number from ${from} to ${to}`);
}

function readOrder(text: string, allowed: ReadonlySet<string>): Order {
  const order: Record<string, 1 | -1> = {};
  const keys = text.split(",");
  if (keys.length > LIST_LIMITS.keys) {
    throw badParameter("sort", `at most ${LIST_LIMITS.keys} fields`);
  }
  for (const key of keys) {
    const path = key.replace(/^-/, "");
    if (path !== "_id" && !allowed.has(path)) {
      throw badParameter("sort", `fields out of ${listed(["_id", ...allowed])}`);
    }
    if (Object.hasOwn(order, path)) throw badParameter("sort", "each field once");
    order[path] = key === path ? 1 : -1;
  }
  return totalOrder(order);
}

function readSelection(text: string, allowed: ReadonlySet<string>): string[] {
  const names = text.split(",");
  if (names.every((name) => name === "_id" || allowed.has(name))) return [...new Set(names)];
  throw badParameter("select", `fields out of ${listed(["_id", ...allowed])}`);
}

function readPopulate(
  text: string | undefined,
  rules: ReadonlyMap<string, PopulateRule>,
): ReadonlyMap<string, PopulateRule> {
  const names = text === undefined ? [] : text.split(",");
  if (!names.every((name) => rules.has(name))) {
    throw badParameter("populate", `fields out of ${listed(rules.keys())}`);
  }
  return new Map([...rules].filter(([name, { always }]) => always || names.includes(name)));
}

function prefersCount(prefer: string | undefined): boolean {
  const wishes = (prefer ?? "").split(",").map((wish) => wish.split(";", 1)[0] ?? "");
  return wishes.some((wish) => /^\s*count\s*=\s*("?)exact\1\s*$/i.test(wish));
}

function listed(names: Iterable<string>): string {
  return [...names].join(", ");
}
