import type { Request } from "express-types";
import { badFormat, refusal } from "../../errors/refusals.ts";
import type { RestError } from "../../errors/rest_error.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import type { JsonObject } from "../../schema/fields/json.ts";
import { checkSize } from "./limits.ts";
import type { BodyLimits } from "./limits.ts";

/**
 * Reads the JSON object that a body parser of the host has left on the request.
 *
 * @throws {RestError} 415 if the body is not JSON, 400 if there is none, it is not an object or beyond a cap.
 * @throws {Error} If nobody parsed it.
 */
export function readBody(req: Request, limits: Required<BodyLimits>): JsonObject {
  const length = req.headers["content-length"];
  const empty = req.headers["transfer-encoding"] === undefined &&
    (length === undefined || length === "0");
  // Parsers make an empty object of no bytes at all.
  if (length === "0" || empty && req.body === undefined) throw badFormat("The body is missing");
  if (!empty && !req.is(["json", "+json"])) throw unsupported();
  if (req.body === undefined) {
    if (!req.is("json")) throw unsupported();
    throw new Error(
      "Cannot read the body: no JSON parser is installed, mount express.json() before the framework",
    );
  }
  if (!isJsonObject(req.body)) throw badFormat("The body is not a JSON object");
  checkSize(req.body, limits);
  return req.body;
}

function unsupported(): RestError {
  return refusal("UNSUPPORTED_MEDIA_TYPE", { message: "The Content-Type is not JSON" });
}
