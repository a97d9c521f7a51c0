import type { Response } from "express-types";
import { translateError, translateHookFailure } from "../database/translate_error.ts";
import type { TranslateOptions } from "../database/translate_error.ts";
import type { FrameworkRequest } from "../declare/hooks/framework_request.ts";
import { HookFailure } from "../declare/hooks/run_hook.ts";
import { logError, logHint } from "../errors/log.ts";
import { isOutage } from "../errors/refusals.ts";
import type { RestError } from "../errors/rest_error.ts";
import { toJson } from "../json/to_json.ts";
import { validationFailure } from "../schema/mongoose/errors.ts";
import type { ErrorContext, Reporter } from "../pipeline/request/reporter.ts";
import { hasEnded } from "../pipeline/request/reply.ts";
import { cutAnswer } from "./replies/cut_answer.ts";
import { asProblem, PROBLEM } from "./replies/problem_details.ts";
import { SlowClientError } from "./replies/slow_client.ts";

export interface AnswerErrorOptions extends TranslateOptions {
  readonly context: ErrorContext;
  readonly reporter: Reporter;
}

/** Headers that describe the bytes of the body, which an error does not know. */
const FRAMING = new Set([
  "content-encoding",
  "content-length",
  "transfer-encoding",
  "connection",
  "trailer",
  "upgrade",
]);

/** Answers a request with an error; an answer that has begun is cut. */
export async function answerError(
  req: FrameworkRequest,
  error: unknown,
  options: AnswerErrorOptions,
): Promise<void> {
  const res = req.res as Response;
  if (error instanceof SlowClientError) {
    const { reporter, context } = options;
    return await reporter.reportRepeated({ req, error, context });
  }
  const known = await answerFor(req, error, options);
  if (hasEnded(res)) return;
  if (res.headersSent) await cutAnswer(res);
  else sendError(res, known);
}

/** Gives the answer to an error, and tells the host of those that answer 5xx. */
async function answerFor(
  req: FrameworkRequest,
  error: unknown,
  { reporter, context, ...options }: AnswerErrorOptions,
): Promise<RestError> {
  const failed = error instanceof HookFailure;
  const thrown = failed ? error.thrown : error;
  const known = failed ? translateHookFailure(error, options) : translateError(error, options);
  const failure = { req, error: validationFailure(thrown)?.thrown ?? thrown, context };
  if (known === undefined) return await reporter.answer(failure);
  if (isOutage(known)) await reporter.reportRepeated(failure);
  else if (known.status >= 500) await reporter.report(failure);
  return known;
}

/** Sends an error's status, headers and body; invalid headers are left out. */
export function sendError(res: Response, error: RestError): void {
  const body = asProblem(res, error) ?? error.body;
  const text = textOf(body);
  res.status(error.status).type(body === error.body ? "json" : PROBLEM);
  for (const [name, value] of Object.entries(error.headers)) {
    if (FRAMING.has(name.toLowerCase())) continue;
    try {
      res.setHeader(name, value);
    } catch {
      logHint(
        `Cannot set header ${JSON.stringify(name)} of an error: its name or value is invalid`,
      );
    }
  }
  res.end(res.req.method === "HEAD" ? undefined : text);
}

function textOf(body: object): string {
  try {
    return toJson(body);
  } catch (cause) {
    logError(cause);
    return "{}";
  }
}
