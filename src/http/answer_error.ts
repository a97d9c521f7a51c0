import type { Response } from "express-types";
import { translateError, translateHookFailure } from "../database/translate_error.ts";
import type { TranslateOptions } from "../database/translate_error.ts";
import type { FrameworkRequest } from "../declare/hooks/framework_request.ts";
import { HookFailure } from "../declare/hooks/run_hook.ts";
import { logError, logHint } from "../errors/log.ts";
import { isOutage, Refusal } from "../errors/refusals.ts";
import { isText, statusText } from "../errors/rest_error.ts";
import type { RestError } from "../errors/rest_error.ts";
import { toJson } from "../json/to_json.ts";
import { hasEnded } from "../pipeline/request/reply.ts";
import type { ErrorContext, Reporter } from "../pipeline/request/reporter.ts";
import { validationFailure } from "../schema/mongoose/errors.ts";
import { cutAnswer, SlowClientError } from "./replies/connection.ts";

interface AnswerErrorOptions extends TranslateOptions {
  readonly context: ErrorContext;
  readonly reporter: Reporter;
}

/** Headers that describe the bytes of the body, which an error does not know. */
const FRAMING = /^(content-encoding|content-length|transfer-encoding|connection|trailer|upgrade)$/i;

const PROBLEM = "application/problem+json";

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
  const isHook = error instanceof HookFailure;
  const thrown = isHook ? error.thrown : error;
  const known = isHook ? translateHookFailure(error, options) : translateError(error, options);
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
    if (FRAMING.test(name)) continue;
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

/**
 * Gives the problem details of an error, for a client that names their media type in `Accept`. `undefined` for any other
 * client, and for an error with a body of the application's own.
 */
function asProblem(res: Response, error: RestError): object | undefined {
  if (!(error instanceof Refusal) && !isText(error)) return undefined;
  res.vary("Accept");
  if (!isAsked(res.req.headers.accept)) return undefined;
  const { status } = error;
  const { message: detail, ...details } = error.body as { message?: unknown };
  return { type: "about:blank", title: statusText(status), status, detail, ...details };
}

/** Wildcards do not ask for it: every browser sends them. */
function isAsked(accept = ""): boolean {
  return accept.split(",").some((range) => {
    const [type = "", ...parameters] = range.toLowerCase().split(";").map((part) => part.trim());
    return type === PROBLEM && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}
