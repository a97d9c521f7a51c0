import type { Response } from "express-types";
import { toJson } from "../json/to_json.ts";
import type { ErrorContext } from "../pipeline/request/error_context.ts";
import { HookFailure } from "../declare/hooks/hook_failure.ts";
import { logError, logHint } from "../errors/log.ts";
import { isOutage } from "../errors/refusals.ts";
import type { Reporter } from "../pipeline/request/reporter.ts";
import type { RestError } from "../errors/rest_error.ts";
import type { FrameworkRequest } from "../declare/hooks/framework_request.ts";
import { translateError } from "../database/translate_error.ts";
import type { TranslateOptions } from "../database/translate_error.ts";
import { translateHookFailure } from "../database/translate_hook_failure.ts";
import { cutAnswer } from "./replies/cut_answer.ts";

/** What an error's answer depends on. */
export interface AnswerErrorOptions extends TranslateOptions {
  /** Where the error happened. */
  readonly context: ErrorContext;
  /** Tells the host of it. */
  readonly reporter: Reporter;
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
  const known = await answerFor(req, error, options);
  if (res.writableEnded) return;
  if (res.headersSent) await cutAnswer(res);
  else sendError(res, known);
}

/** Gives the answer to an error, and tells the host of every error that is its own: all that answer 5xx. */
async function answerFor(
  req: FrameworkRequest,
  error: unknown,
  { reporter, context, ...options }: AnswerErrorOptions,
): Promise<RestError> {
  const failed = error instanceof HookFailure;
  const thrown = failed ? error.thrown : error;
  const known = failed ? translateHookFailure(error, options) : translateError(error, options);
  const failure = { req, error: thrown, context };
  if (known === undefined) return await reporter.ask(failure);
  if (isOutage(known)) await reporter.tellOutage(failure);
  else if (known.status >= 500) await reporter.tell(failure);
  return known;
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
