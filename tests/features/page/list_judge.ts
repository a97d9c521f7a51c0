import { type JudgedFilter, selects, type Value } from "../../q/q_judge.ts";

/**
 * Says what a list answers, after the documentation alone: shares no code with the library.
 */

/** An entity as it is stored; `rank` and `name` may be missing or `null`. */
export interface JudgedPiece {
  readonly _id: string;
  readonly name?: string | null;
  readonly text?: string;
  readonly rank?: number | null;
  readonly tags: readonly string[];
  readonly secret?: string;
  readonly tenant?: string;
  readonly owner?: string | null;
  readonly friends?: readonly string[];
  readonly star?: string;
}

/** An entity that others refer to, and the fields that are shown of it, by the field that refers to it. */
export interface JudgedTarget {
  readonly _id: string;
  readonly name: string;
  readonly tenant: string;
  readonly __v: 0;
}

const TARGET_FIELDS: Readonly<Record<string, readonly (keyof JudgedTarget)[]>> = {
  owner: ["_id", "name", "__v"],
  friends: ["_id", "name"],
  star: ["_id", "name", "__v"],
};

/** What is stored. */
export interface JudgedWorld {
  readonly pieces: readonly JudgedPiece[];
  readonly targets: readonly JudgedTarget[];
}

/** What a client sends. */
export interface AskedList {
  /** The parameters, as they stand in the URL. */
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly tenant?: string | undefined;
  /** The condition that hooks add. */
  readonly below?: number | undefined;
  /** Whether hooks leave out what is odd. */
  readonly even: boolean;
}

/** What a list must answer: a page, or a 400 for one of some parameters. */
export type Verdict = { readonly wrong: ReadonlySet<string> } | {
  readonly shown: readonly object[];
  readonly select: readonly string[] | undefined;
  readonly next: Readonly<Record<string, string>> | undefined;
  readonly range: string;
  readonly total: number;
};

/** Parameters that may be repeated: their fields are those of all of them. */
const REPEATED = ["sort", "select", "populate"];

const DECLARED = ["limit", "skip", "after", "sort", "select", "search", "populate"];

/** Judges what a list of pieces answers. */
export function judgeList({ pieces: all, targets }: JudgedWorld, asked: AskedList): Verdict {
  const { wrong, given } = readQuery(asked.query);
  const [limit, skip] = [Number(given.limit ?? 3), Number(given.skip ?? 0)];
  const order = orderOf(given.sort);
  const bound = all.filter((each) =>
    (asked.tenant === undefined || each.tenant === asked.tenant) &&
    (asked.below === undefined || (typeof each.rank === "number" && each.rank < asked.below))
  );
  const isById = order[0]?.[0] === "_id";
  const after = given.after?.toLowerCase();
  // What hooks leave out is not there for a client
  const isKept = ({ rank }: JudgedPiece) => !asked.even || Number(rank) % 2 === 0;
  const start = isById && after
    ? { _id: after }
    : bound.find((each) => each._id === after && isKept(each));
  if (after !== undefined && start === undefined) wrong.add("after");
  if (wrong.size > 0) return { wrong };
  const below = asked.below !== undefined && { rank: { $lt: asked.below } };
  const filter: JudgedFilter = { ...JSON.parse(given.q ?? "{}"), ...below };
  const found = bound.filter((each) =>
    selects(filter, each as unknown as Value) && isFound(each, given.search)
  ).sort((left, right) => compare(left, right, order));
  const behind = found.filter((each) => start === undefined || compare(each, start, order) > 0);
  const kept = behind.filter(isKept).slice(skip);
  const shown = kept.slice(0, limit);
  const last = shown.at(-1);
  const next = kept.length > limit && last
    ? skip > 0 ? { skip: String(skip + shown.length) } : { after: last._id }
    : undefined;
  const range = last && !after ? `${skip}-${skip + shown.length - 1}` : "*";
  const known = targets.filter(({ tenant }) =>
    asked.tenant === undefined || asked.tenant === tenant
  );
  const names = given.populate?.split(",") ?? [];
  return {
    shown: shown.map((each) => populated(each, { names, targets: known })),
    ...{ select: given.select?.split(","), next, range, total: found.length },
  };
}

/** Puts entities in the place of identifiers. What is out of scope, or gone, is `null`, and in no list. */
function populated(
  piece: JudgedPiece,
  { names, targets }: { names: readonly string[]; targets: readonly JudgedTarget[] },
): object {
  const find = (id: string | null, name: string) => {
    const target = targets.find(({ _id }) => _id === id);
    return target &&
      Object.fromEntries(TARGET_FIELDS[name]?.map((key) => [key, target[key]]) ?? []);
  };
  const entries = Object.entries(piece).map(([name, value]): [string, unknown] => {
    if (!names.includes(name)) return [name, value];
    const held = value as string | null | readonly string[];
    if (held === null || typeof held === "string") return [name, find(held, name) ?? null];
    return [name, held.map((id) => find(id, name)).filter((each) => each !== undefined)];
  });
  return Object.fromEntries(entries);
}

type GivenQuery = Partial<Record<string, string>>;

/** Reads the parameters, and tells which are wrong. */
function readQuery(query: AskedList["query"]): { wrong: Set<string>; given: GivenQuery } {
  const wrong = new Set<string>();
  const given: GivenQuery = {};
  for (const [name, raw] of query) {
    const value = decoded(raw);
    if (/^(q\[|\[q\])/.test(name)) wrong.add("q");
    const parameter = name.split("[")[0] ?? "";
    if (!["q", ...DECLARED].includes(parameter)) continue;
    const before = given[parameter];
    const isSecond = before !== undefined && !REPEATED.includes(parameter);
    if (name !== parameter || value === undefined || isSecond) wrong.add(parameter);
    given[parameter] = before === undefined ? value ?? "" : `${before},${value}`;
    if (!isAllowed(parameter, given[parameter])) wrong.add(parameter);
  }
  if (given.q !== undefined && query.some(([, raw]) => decoded(raw) === undefined)) wrong.add("q");
  if (given.after !== undefined && given.skip !== undefined) wrong.add("after");
  return { wrong, given };
}

function decoded(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

function isAllowed(parameter: string, value: string): boolean {
  switch (parameter) {
    case "limit":
      return /^[0-9]{1,10}$/.test(value) && Number(value) >= 1 && Number(value) <= 10;
    case "skip":
      return /^[0-9]{1,10}$/.test(value) && Number(value) < 2 ** 31;
    case "after":
      return /^[0-9a-fA-F]{24}$/.test(value);
    case "select":
      return value.split(",").every((name) =>
        ["_id", "name", "rank", "tags", ...Object.keys(TARGET_FIELDS)].includes(name)
      );
    case "populate":
      return value.split(",").every((name) => Object.hasOwn(TARGET_FIELDS, name));
    case "sort": {
      const keys = value.split(",").map((key) => key.startsWith("-") ? key.slice(1) : key);
      return keys.every((key) => ["_id", "name", "rank"].includes(key)) &&
        new Set(keys).size === keys.length;
    }
    case "search": {
      const count = wordsOf(value).length;
      return count >= 1 && count <= 10 && value.length <= 200 && !value.includes("\0");
    }
    default:
      return isAllowedFilter(value);
  }
}

/** Whether clients may filter so: by fields that they see, and operators that are used here. */
function isAllowedFilter(text: string): boolean {
  try {
    const filter = JSON.stringify(JSON.parse(text));
    const names = filter.matchAll(/"([^"]*)":/g);
    const known = /^(_id|name|text|rank|tags|\$(and|or|nor|gt|gte|lt|ne|in|exists))$/;
    return filter.startsWith("{") && [...names].every(([, name = ""]) => known.test(name));
  } catch {
    return false;
  }
}

type JudgedOrder = readonly (readonly [name: "_id" | "name" | "rank", direction: number])[];

function orderOf(sort: string | undefined): JudgedOrder {
  const keys = sort === undefined ? [] : sort.split(",");
  const order = [...keys, "_id"].map((key) =>
    [key.replace("-", "") as "_id", key.startsWith("-") ? -1 : 1] as const
  );
  return order.slice(0, order.findIndex(([name]) => name === "_id") + 1);
}

function compare(
  left: Partial<JudgedPiece>,
  right: Partial<JudgedPiece>,
  order: JudgedOrder,
): number {
  for (const [name, direction] of order) {
    const [one, other] = [left[name] ?? null, right[name] ?? null];
    if (one === other) continue;
    if (one === null || other === null) return one === null ? -direction : direction;
    return one < other ? -direction : direction;
  }
  return 0;
}

/** Each word of a search is in one of the texts, whatever its case and its marks. */
function isFound({ name, text }: JudgedPiece, search: string | undefined): boolean {
  const texts = [name, text].map((each) => folded(each ?? ""));
  return search === undefined ||
    wordsOf(search).every((word) => texts.some((each) => each.includes(folded(word))));
}

function wordsOf(search: string): string[] {
  return search.split(/\s+/).filter((word) => word !== "");
}

function folded(text: string): string {
  return text.normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
}
