import type { Random } from "../twins/random.ts";
import type { Mounted } from "../../support/support.ts";

type Values = Readonly<Record<string, unknown>>;

/** A request of a writer, and what its write sets: by path, `undefined` for a value that goes. */
export interface Asked {
  readonly way: string;
  readonly method: "patch" | "put" | "post";
  readonly path: string;
  readonly body: unknown;
  readonly sets: Values;
  /** The part of the entity that the answer shows. Missing if the answer shows the entity, `null` if it shows none. */
  readonly part?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Told extends Asked {
  readonly user: string;
  readonly status: number;
  readonly text: string;
  readonly tag: string | null;
}

export interface Place {
  readonly id: string;
  readonly lines: readonly string[];
}

/** The values of fields are few, so that writers often set what is stored. */
const FIELDS: Readonly<Record<string, (random: Random) => [body: unknown, sets: Values]>> = {
  a: (random) => number("a", random),
  b: (random) => number("b", random),
  c: (random) => number("c", random),
  inner: (random) => inside("inner", random.one(["x", "y"]), random),
  counts: (random) => inside("counts", random.one(["k", "l"]), random),
  free: (random) => inside("free", random.one(["k", "l"]), random),
  list: (random) => {
    const list = [random.below(2)];
    return [list, { list }];
  },
};

function number(name: string, random: Random): [unknown, Values] {
  const value = random.below(2);
  return [value, { [name]: value }];
}

function inside(name: string, key: string, random: Random): [unknown, Values] {
  const value = random.chance(0.2) ? null : random.below(2);
  return [{ [key]: value }, { [`${name}.${key}`]: value ?? undefined }];
}

function bodyOf(random: Random): { readonly body: Values; readonly sets: Values } {
  const names = random.some(Object.keys(FIELDS), 0.3);
  const made = names.map((name) => [name, FIELDS[name]?.(random) ?? [null, {}]] as const);
  return {
    body: Object.fromEntries(made.map(([name, [value]]) => [name, value])),
    sets: Object.assign({}, ...made.map(([, [, sets]]) => sets)),
  };
}

/** Returns a random request of one entity. */
export function ask(random: Random, { id, lines }: Place, hasHistory: boolean): Asked {
  const { body, sets } = bodyOf(random);
  const patch = (route: string, own: Values = sets): Asked => {
    const path = `/${route}/${id}`;
    return { way: `update of ${route}`, method: "patch", path, body, sets: own };
  };
  const put = (route: string): Asked => {
    const { a, b } = Object.fromEntries(["a", "b"].map((name) => [name, random.below(2)]));
    const path = `/${route}/${id}`;
    return {
      way: `replace of ${route}`,
      method: "put",
      path,
      body: { a, b },
      sets: { a, b, c: 0, list: [] },
    };
  };
  const line = random.one(lines);
  const value = random.below(2);
  const ways: readonly (() => Asked)[] = [
    () => patch("plain"),
    () => patch("hooked", { ...sets, hook: USER }),
    () => patch("hooked", { ...sets, hook: USER }),
    () => patch("named"),
    () => put("plain"),
    () => put("hooked"),
    () => {
      const path = `/hooked?q=${JSON.stringify({ _id: id })}`;
      return { way: "updateAll", method: "patch", path, body, sets, part: null };
    },
    () => {
      const headers = { "x-value": `${value}` };
      const path = `/hooked/${id}/mark`;
      return { way: "action", method: "post", path, body: {}, sets: { c: value }, headers };
    },
    () => {
      const path = `/hooked/${id}/lines/${line}`;
      const part = `lines.${lines.indexOf(line)}`;
      const own = { [`${part}.a`]: value, [`${part}.by`]: USER };
      return {
        way: "update of a part",
        method: "patch",
        path,
        body: { a: value },
        sets: own,
        part,
      };
    },
    () => {
      const path = `/hooked/${id}/revert`;
      return { way: "revert", method: "post", path, body: { version: random.below(20) }, sets: {} };
    },
  ];
  return random.one(hasHistory ? ways : ways.slice(0, -1))();
}

/** Stands for the sender of a request in the values that it sets. */
export const USER = "the sender";

export async function send(
  app: Mounted,
  { user, lingers, asked }: { user: string; lingers: number; asked: Asked },
): Promise<Told> {
  const headers = { ...asked.headers, "x-user": user, "x-linger": `${lingers}` };
  const { status, text, headers: told } = await app[asked.method](asked.path, asked.body, {
    headers,
  });
  return { ...asked, user, status, text, tag: told.get("etag") };
}
