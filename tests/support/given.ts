import { Buffer } from "node:buffer";
import { deserialize, serialize } from "node:v8";
import type { FrameworkRequest, QueryObject } from "../../mod.ts";

export interface Given {
  /** Without it, the filter of the request stays. */
  readonly filter?: QueryObject;
  readonly options?: QueryObject;
  readonly projection?: QueryObject;
}

/** The headers for {@linkcode takeGiven}, `undefined` and `NaN` included. */
export function giving(given: Given): { headers: Record<string, string> } {
  return { headers: { "x-given": Buffer.from(serialize(given)).toString("base64url") } };
}

/** A `preFetch` hook that puts the headers' values on the request. */
export function takeGiven(req: FrameworkRequest): boolean {
  const given = req.headers["x-given"];
  if (given) Object.assign(req.framework, deserialize(Buffer.from(String(given), "base64url")));
  return true;
}
