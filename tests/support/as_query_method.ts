import { assertEquals } from "@std/assert";
import type { Reply } from "../harness/request.ts";

const LISTS = ["sort", "select", "populate", "group", "sum", "avg"];

export interface QueryRequest {
  readonly path: string;
  readonly body: Record<string, unknown>;
}

/** Moves the parameters of a URL into the body. `undefined` if a JSON object cannot have them. */
export function asQueryMethod(url: string): QueryRequest | undefined {
  const [path = "", query = ""] = url.split("?", 2);
  const body: Record<string, unknown> = Object.create(null);
  try {
    decodeURIComponent(query);
  } catch {
    return undefined;
  }
  const parameters = new URLSearchParams(query);
  for (const name of new Set(parameters.keys())) {
    const [value = "", ...others] = parameters.getAll(name);
    const isList = LISTS.includes(name);
    if (others.length > 0 && !isList) return undefined;
    body[name] = isList ? [value, ...others].join().split(",") : valueOf(name, value);
  }
  return { path, body };
}

function valueOf(name: string, text: string): unknown {
  if (name !== "q" && !/^[1-9]\d{0,8}$/.test(text)) return text;
  try {
    const value: unknown = JSON.parse(text);
    return name !== "q" || JSON.stringify(value) === text ? value : text;
  } catch {
    return text;
  }
}

/** These headers do not depend on the answer alone. */
const OTHERS = ["date", "link", "vary", "connection", "keep-alive"];

function shown({ status, text, headers }: Reply) {
  const all = [...headers].filter(([name]) => !OTHERS.includes(name));
  return { status, text, headers: Object.fromEntries(all) };
}

/** The answers must be equal byte for byte. */
export function assertSameAnswer(byQuery: Reply, byGet: Reply, what: string): void {
  assertEquals(shown(byQuery), shown(byGet), what);
  const relations = ({ headers }: Reply) =>
    (headers.get("link") ?? "").match(/rel="\w+"/g)?.join() ?? "";
  assertEquals(relations(byQuery), relations(byGet), what);
}
