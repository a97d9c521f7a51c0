import { badFormat } from "../../errors/refusals.ts";
import { readName, type ResultName, type Results } from "./results.ts";

export interface RequestPath {
  readonly segments: readonly (string | ResultName)[];
  readonly query: string;
}

const MAX_LENGTH = 8_192;

/** Printable ASCII except space and `#`. Braces are allowed, because many clients do not encode them. */
const QUERY = /^[!"$-~]*$/;

const SEGMENT = /^[\w.~!$&'()*+,;=:@%-]+$/;

/** Firewalls and hooks may check paths, so a path that two programs could read differently is refused. */
export function readPath(path: unknown, earlier: ReadonlySet<string>): RequestPath {
  if (typeof path !== "string" || path.length > MAX_LENGTH) throw malformed();
  const [, way = "", query = ""] = /^([^?]*)(\?.*)?$/s.exec(path) ?? [];
  const [before, ...segments] = way.split("/");
  const isRoot = way === "/";
  if (before !== "" || !isRoot && segments.length === 0 || !QUERY.test(query.slice(1))) {
    throw malformed();
  }
  return {
    query,
    segments: isRoot ? [] : segments.map((segment) => readSegment(segment, earlier)),
  };
}

function readSegment(segment: string, earlier: ReadonlySet<string>): string | ResultName {
  const [, name] = /^\{(.*)\}$/s.exec(segment) ?? [];
  if (name !== undefined) return readName(name, earlier);
  if (!SEGMENT.test(segment) || !isPlain(decoded(segment))) throw malformed();
  return segment;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw malformed();
  }
}

function isPlain(text: string): boolean {
  // deno-lint-ignore no-control-regex -- The pattern refuses control characters.
  return text !== "." && text !== ".." && !/[/\\\x00-\x1f\x7f]/.test(text);
}

function malformed() {
  return badFormat(`"path" is no path of a route, such as "/books/{a._id}"`);
}

export function pathWith({ segments, query }: RequestPath, results: Results): string {
  const all = segments.map((each) => typeof each === "string" ? each : segmentOf(each, results));
  return `/${all.join("/")}${query}`;
}

function segmentOf(name: ResultName, results: Results): string {
  const value = results.valueOf(name);
  const isScalar = typeof value === "string" || typeof value === "number";
  const text = String(value);
  if (isScalar && text !== "" && isPlain(text) && text.isWellFormed()) {
    return encodeURIComponent(text);
  }
  throw badFormat(`"${name.text}" is no value for a path`);
}
