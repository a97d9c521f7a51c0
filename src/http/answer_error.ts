import type { Response } from "express-types";
import { toJson } from "../answers/to_json.ts";
import { logError, logHint } from "../errors/log.ts";
import { internal } from "../errors/refusals.ts";
import { RestError } from "../errors/rest_error.ts";
import type { FrameworkRequest } from "../hooks/framework_request.ts";
import { translateError } from "../database/translate_error.ts";
import type { ErrorContext } from "../database/translate_error.ts";

/** The host's own look at an unexpected error. */
export type OnError = (req: FrameworkRequest, error: unknown) => unknown;

/** What an error's answer depends on. */
export interface AnswerErrorOptions extends ErrorContext {
  /** Gets what is unexpected first. */
  readonly onError?: OnError;
}

/** Headers that belong to the connection or to the bytes of the body: an error's own would break its answer. */
const FRAMING = new Set([
  "content-encoding",
  "content-length",
  "transfer-encoding",
  "connection",
  "trailer",
  "upgrade",
]);

/** Answers a request with an error. After the answer has begun, only its end can still tell. */
export async function answerError(
  req: FrameworkRequest,
  error: unknown,
  options: AnswerErrorOptions,
): Promise<void> {
  const res = req.res as Response;
  const known = translateError(error, options) ?? await askHost(req, error, options.onError);
  if (res.writableEnded) return;
  if (res.headersSent) res.destroy();
  else sendError(res, known);
}

async function askHost(
  req: FrameworkRequest,
  error: unknown,
  onError: OnError | undefined,
): Promise<RestError> {
  try {
    const given = await onError?.(req, error);
    if (given instanceof RestError) return given;
  } catch (second) {
    logError(second);
  }
  logError(error);
  return internal(error);
}

/** Sends an error's status, headers and body. A header that is none is left out, never sent. */
export function sendError(res: Response, error: RestError): void {
  const text = textOf(error);
  res.status(error.status).type("json");
  for (const [name, value] of Object.entries(error.headers)) {
    if (!FRAMING.has(name.toLowerCase())) setHeader(res, name, value);
  }
  res.end(res.req.method === "HEAD" ? undefined : text);
}

function textOf(error: RestError): string {
  try {
    return toJson(error.body);
  } catch (cause) {
    logError(cause);
    return "{}";
  }
}

function setHeader(res: Response, name: string, value: string): void {
  try {
    res.setHeader(name, value);
  } catch {
    logHint(`Cannot set header ${JSON.stringify(name)} of an error: its name or value is invalid`);
  }
}
