import { badFormat, badParameter, refusal } from "../../errors/refusals.ts";
import type { RestError } from "../../errors/rest_error.ts";
import { chooseType } from "./accept.ts";
import { readCursor } from "./cursor.ts";
import { totalOrder } from "./order.ts";
import { EVENT_STREAM, LIST_LIMITS, MEDIA_TYPES, queryOf } from "./read_rules.ts";
import type {
  Format,
  GroupRules,
  GroupsQuery,
  Order,
  PageQuery,
  PageRule,
  PopulateRule,
  ReadQuery,
  ReadRules,
} from "./read_rules.ts";
import { compileSearch } from "./search.ts";

/** The parameters of a list that are refused in a request for groups, because groups show no entities. */
const OF_ENTITIES = ["limit", "skip", "after", "select", "populate"] as const;

const NAMES = ["limit", "skip", "after", "sort", "select", "search", "populate"] as const;

const OF_GROUPS = ["group", "sum", "avg"] as const;

/** The parameters that take several fields, either separated by commas or in several parameters with the same name. */
const OF_FIELDS: readonly Name[] = ["sort", "select", "populate", "group", "sum", "avg"];

type Name = (typeof NAMES | typeof OF_GROUPS)[number];

type Given = Readonly<Partial<Record<Name, string>>>;

export interface ReadRequest {
  readonly url: string;
  readonly prefersCount: boolean;
  readonly parameters: readonly string[];
  /** The header `Accept`, which chooses the format of the list. */
  readonly accept: string | undefined;
}

export function declaredNames({ groups, ...rules }: ReadRules): Name[] {
  const ofGroups = OF_GROUPS.filter((name) => groups?.[name === "group" ? "by" : name].size);
  const ofList = NAMES.filter((name) => {
    if (name === "sort" && ofGroups.length > 0) return true;
    const isOfPage = name === "limit" || name === "skip" || name === "after";
    return rules[isOfPage ? "page" : name] !== undefined;
  });
  return [...ofList, ...ofGroups];
}

/**
 * Reads the parameters of a read, such as `sort` and `limit`, but not the filter `q`. Throws a 400 for a wrong
 * parameter. The error names the parameter and the values that the parameter takes.
 */
export function parseRead(rules: ReadRules, request: ReadRequest): ReadQuery {
  const given = givenParameters(rules, request);
  const { page, sort, select, search, populate, count, groups } = rules;
  const searched = given.search !== undefined && search &&
    { search: compileSearch(given.search, search) };
  if (groups && OF_GROUPS.some((name) => given[name] !== undefined)) {
    return { ...searched, groups: readGroups(given, groups) };
  }
  if (given.sort !== undefined && sort === undefined) throw notAllowed("sort");
  const format = readFormat(rules, request);
  const { prefersCount: preferred } = request;
  return {
    ...page && { page: readPage(given, page) },
    ...given.sort !== undefined && sort &&
      { order: totalOrder(readKeys(given.sort, ["_id", ...sort])) },
    ...given.select !== undefined && select &&
      { select: readNames(given, { parameter: "select", allowed: ["_id", ...select] }) },
    ...searched,
    ...populate && { populate: readPopulate(given, populate) },
    ...count && (count.always || preferred) && { count: { upTo: count.upTo, preferred } },
    ...format !== undefined && { format },
  };
}

/**
 * Returns the format in which the client prefers the list. Returns `undefined` for JSON and for an event stream. Throws
 * a 406 if the client accepts no format of the list.
 */
function readFormat({ formats, live }: ReadRules, request: ReadRequest): Format | undefined {
  if (formats === undefined) return undefined;
  const types: string[] = [MEDIA_TYPES.json, ...formats.map((name) => MEDIA_TYPES[name])];
  if (live !== undefined) types.push(EVENT_STREAM);
  const accepted = chooseType(request.accept, types);
  if (accepted !== undefined) return formats.find((name) => MEDIA_TYPES[name] === accepted);
  const allowed = listed(types);
  throw refusal("NOT_ACCEPTABLE", { message: `The header "Accept" takes ${allowed}`, allowed });
}

function givenParameters(rules: ReadRules, { url, parameters }: ReadRequest): Given {
  const query = queryOf(url);
  const declared = declaredNames(rules);
  const given: Partial<Record<Name, string>> = {};
  for (const [name, value] of new URLSearchParams(query)) {
    const parameter = [...NAMES, ...OF_GROUPS].find((each) =>
      name === each || name.startsWith(`${each}[`)
    );
    if (parameter === undefined) continue;
    if (!declared.includes(parameter)) {
      if (parameters.includes(parameter)) continue;
      throw notAllowed(parameter);
    }
    const isList = OF_FIELDS.includes(parameter);
    const before = given[parameter];
    if (name !== parameter || before !== undefined && !isList) {
      throw badParameter(parameter, isList ? "fields separated by commas" : "one value");
    }
    given[parameter] = before === undefined ? value : `${before},${value}`;
  }
  refuseMalformed(query, given);
  return given;
}

function notAllowed(parameter: Name): RestError {
  return badFormat(`Parameter "${parameter}" is not allowed`, { parameter });
}

/**
 * Throws if a given parameter is not percent-encoded UTF-8. `URLSearchParams` replaces malformed bytes, so the server
 * would read a text that the client has not sent.
 */
function refuseMalformed(query: string, given: Given): void {
  for (const piece of query.split("&")) {
    try {
      decodeURIComponent(piece);
    } catch {
      const [name = ""] = new URLSearchParams(piece).keys();
      if (Object.hasOwn(given, name)) throw badParameter(name, "percent-encoded UTF-8");
    }
  }
}

function readPage({ limit, skip, after }: Given, { size, max }: PageRule): PageQuery {
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

type PopulateRules = ReadonlyMap<string, PopulateRule>;

function readPopulate(given: Given, rules: PopulateRules): PopulateRules {
  const names = readNames(given, { parameter: "populate", allowed: [...rules.keys()] });
  return new Map([...rules].filter(([name, { always }]) => always || names.includes(name)));
}

/** Reads the groups that a client requests. Without the parameter `group`, all entities form one group. */
function readGroups(given: Given, rules: GroupRules): GroupsQuery {
  const other = OF_ENTITIES.find((name) => given[name] !== undefined);
  if (other !== undefined) throw badParameter(other, "no group, sum or avg beside it");
  const by = readNames(given, { parameter: "group", allowed: [...rules.by.keys()] });
  const sum = readNames(given, { parameter: "sum", allowed: [...rules.sum] });
  const avg = readNames(given, { parameter: "avg", allowed: [...rules.avg] });
  const sortable = [
    ...by,
    ...rules.count ? ["count"] : [],
    ...sum.map((name) => `sum.${name}`),
    ...avg.map((name) => `avg.${name}`),
  ];
  const order = given.sort === undefined ? {} : readKeys(given.sort, sortable);
  return { by, sum, avg, rules, order };
}

function readNames(
  given: Given,
  { parameter, allowed }: { readonly parameter: Name; readonly allowed: readonly string[] },
): string[] {
  const names = given[parameter]?.split(",") ?? [];
  if (names.every((name) => allowed.includes(name))) return [...new Set(names)];
  throw badParameter(parameter, `fields out of ${listed(allowed)}`);
}

function readKeys(text: string, allowed: readonly string[]): Order {
  const order: Record<string, 1 | -1> = {};
  const keys = text.split(",");
  if (keys.length > LIST_LIMITS.keys) {
    throw badParameter("sort", `at most ${LIST_LIMITS.keys} fields`);
  }
  for (const key of keys) {
    const path = key.replace(/^-/, "");
    if (!allowed.includes(path)) throw badParameter("sort", `fields out of ${listed(allowed)}`);
    if (Object.hasOwn(order, path)) throw badParameter("sort", "each field once");
    order[path] = key === path ? 1 : -1;
  }
  return order;
}

function listed(names: readonly string[]): string {
  return names.join(", ");
}
