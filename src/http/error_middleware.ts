import type { ErrorRequestHandler } from "express-types";
import { logError } from "../errors/log.ts";
import { internal } from "../errors/refusals.ts";
import { RestError } from "../errors/rest_error.ts";
import { statusName } from "../errors/status_name.ts";
import { sendError } from "./answer_error.ts";

/** An error of the HTTP world, as body parsers throw it. */
interface HttpError {
  readonly status?: unknown;
  readonly expose?: unknown;
  readonly type?: unknown;
  readonly message?: unknown;
}

/** Makes the error middleware that answers, in our JSON form, what went wrong outside the router. */
export function errors(): ErrorRequestHandler {
  return (error: unknown, _req, res, next) => {
    if (res.headersSent) return next(error);
    sendError(res, toRestError(error));
  };
}

function toRestError(error: unknown): RestError {
  if (error instanceof RestError) return error;
  const { status, expose, type, message } = (error ?? {}) as HttpError;
  if (typeof status !== "number" || status < 400 || status > 499 || expose === false) {
    logError(error);
    return internal(error);
  }
  const code = type === "entity.parse.failed" ? "BAD_FORMAT" : statusName(status);
  return new RestError(status, { code, message: String(message) });
}
