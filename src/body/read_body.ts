import type { Request } from "express-types";
import { badFormat, internal } from "../errors/refusals.ts";
import { RestError } from "../errors/rest_error.ts";
import { logHint } from "../errors/log.ts";
import { isJsonObject } from "../query/json.ts";
import type { JsonObject } from "../query/json.ts";
import { MAX_DEPTH } from "./cast_body.ts";

/**
 * Reads the JSON object that a body parser of the host has left on the request.
 *
 * @throws {RestError} 415 if the body is not JSON, 400 if there is none or it is no object, 500 if nobody parsed it.
 */
export function readBody(req: Request): JsonObject {
  const length = req.headers["content-length"];
  const empty = req.headers["transfer-encoding"] === undefined &&
    (length === undefined || length === "0");
  // Parsers make an empty object of no bytes at all.
  if (length === "0" || empty && req.body === undefined) throw badFormat("The body is missing");
  if (!empty && !req.is(["json", "+json"])) throw unsupported();
  if (req.body === undefined) {
    if (!req.is("json")) throw unsupported();
    logHint(
      "Cannot read the body: no JSON parser is installed, mount express.json() before the framework",
    );
    throw internal();
  }
  if (!isJsonObject(req.body)) throw badFormat("The body is no JSON object");
  if (isNestedBeyond(MAX_DEPTH, req.body)) {
    throw badFormat(`The body is nested more than ${MAX_DEPTH} deep`);
  }
  return req.body;
}

/** Tells depth level by level: a body may be nested deeper than calls can be. */
function isNestedBeyond(depth: number, body: JsonObject): boolean {
  let level: unknown[] = [body];
  for (let left = depth; level.length > 0 && left >= 0; left--) {
    level = level.flatMap((each) =>
      typeof each === "object" && each !== null ? Object.values(each) : []
    );
  }
  return level.length > 0;
}

function unsupported(): RestError {
  return new RestError(415, { code: "UNSUPPORTED_MEDIA_TYPE", message: "The body is not JSON" });
}
