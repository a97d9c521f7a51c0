import { Buffer } from "node:buffer";
import { deserialize, serialize } from "node:v8";
import type { FrameworkRequest, QueryObject } from "../../mod.ts";

/** What a test wants a hook to put on `req.framework`. */
export interface Given {
  /** The filter; without it, that of the request stays. */
  readonly filter?: QueryObject;
  /** The options. */
  readonly options?: QueryObject;
  /** The projection. */
  readonly projection?: QueryObject;
}

/** The headers that bring it to {@linkcode takeGiven}, `undefined` and `NaN` included. */
export function giving(given: Given): { headers: Record<string, string> } {
  return { headers: { "x-given": Buffer.from(serialize(given)).toString("base64url") } };
}

/** A `preFetch` hook that puts on the request what its own headers bring. */
export function takeGiven(req: FrameworkRequest): boolean {
  const given = req.headers["x-given"];
  if (given) Object.assign(req.framework, deserialize(Buffer.from(String(given), "base64url")));
  return true;
}
