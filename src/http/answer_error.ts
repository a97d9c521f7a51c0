import type { ErrorRequestHandler, RequestHandler, Response } from "express-types";
import mongoose from "mongoose";
import { isUnmet } from "../store/failure_of.ts";
import type { FrameworkRequest } from "../declare/hooks/framework_request.ts";
import { logError, logHint } from "../errors/log.ts";
import { badData, internal, noRoute, notFound, Refusal } from "../errors/refusals.ts";
import { hasTextBody, RestError, statusName, statusText } from "../errors/rest_error.ts";
import { unknownOption } from "../errors/unknown_option.ts";
import { isOutage, translateError } from "../pipeline/failures.ts";
import { namesType } from "../pipeline/request/accept.ts";
import { toJson } from "../json/to_json.ts";
import type { Call } from "../pipeline/request/request_context.ts";
import { hasEnded } from "../pipeline/request/response.ts";
import {
  errorAnswer,
  type ErrorContext,
  errorContext,
  Reporter,
} from "../pipeline/request/reporter.ts";
import { describeShape } from "../schema/fields/shape.ts";
import { isHiddenPath } from "../schema/fields/visibility.ts";
import { isOpen } from "../schema/mongoose/connections.ts";
import { errorOrigin, validationFailure } from "../schema/mongoose/errors.ts";
import { refuseRequest } from "./check_options.ts";
import { cutAnswer, SlowClientError } from "./replies/connection.ts";

/** These headers frame the body, so wrong values would make the answer unreadable. */
const FRAMING = /^(content-encoding|content-length|transfer-encoding|connection|trailer|upgrade)$/i;

const PROBLEM = "application/problem+json";

export async function answerError({ context }: Call, error: unknown): Promise<void> {
  const { req, route: { reporter } } = context;
  const res = req.res as Response;
  if (error instanceof SlowClientError) {
    return await reporter.reportRepeated({ req, error, context: errorContext(context) });
  }
  const answer = await errorAnswer(context, error);
  if (hasEnded(res)) return;
  if (res.headersSent) await cutAnswer(res);
  else sendError(res, answer);
}

/** An invalid header is logged and left out, so that the client gets the answer. */
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

function asProblem(res: Response, error: RestError): object | undefined {
  if (!(error instanceof Refusal) && !hasTextBody(error)) return undefined;
  res.vary("Accept");
  if (!namesType(res.req.headers.accept, PROBLEM)) return undefined;
  return problemDetails(error);
}

export function problemDetails({ status, body }: RestError): object {
  const { message: detail, ...details } = body as { message?: unknown };
  return { type: "about:blank", title: statusText(status), status, detail, ...details };
}

type HttpError = Partial<
  Record<"status" | "statusCode" | "expose" | "type" | "message" | "headers" | "limit", unknown>
>;

/** @internal */
export interface ErrorsOptions {
  /**
   * Whether requests that no route has answered get a 404 with JSON. `OPTIONS` requests do not: Express answers them.
   *
   * @default {false}
   */
  readonly notFound?: boolean;
}

const OPTIONS: Readonly<Record<keyof ErrorsOptions, true>> = { notFound: true };

export function errors(
  options?: ErrorsOptions & { readonly notFound?: false },
): ErrorRequestHandler;
export function errors(
  options: ErrorsOptions & { readonly notFound: true },
): [RequestHandler, ErrorRequestHandler];
export function errors(
  options: ErrorsOptions = {},
): ErrorRequestHandler | [RequestHandler, ErrorRequestHandler] {
  refuseRequest("errors", options);
  const unknown = unknownOption(options, OPTIONS);
  if (unknown !== undefined) {
    throw new TypeError(`Cannot use Framework.errors: there is no option ${unknown}`);
  }
  const { notFound = false } = options;
  if (typeof notFound !== "boolean") {
    throw new TypeError(`Cannot use Framework.errors: "notFound" is not true or false`);
  }
  return notFound ? [answerUntaken, errorHandler()] : errorHandler();
}

const answerUntaken: RequestHandler = (req, res, next) => {
  if (res.headersSent || req.method === "OPTIONS") return next();
  sendError(res, noRoute());
};

function errorHandler(): ErrorRequestHandler {
  const reporter = new Reporter<Pick<ErrorContext, "method" | "route">>();
  return async (error: unknown, request, res, next) => {
    if (res.headersSent) return next(error);
    const answer = error instanceof RestError ? error : toRestError(error);
    const { method, baseUrl, path, route } = request;
    const { path: pattern = path } = (route ?? {}) as { path?: unknown };
    const failure = {
      req: request as FrameworkRequest,
      error: validationFailure(error)?.thrown ?? error,
      context: { method, route: `${baseUrl}${pattern}` },
    };
    // With `expose: false`, the client does not get the message, so it is reported, or else nobody would see it.
    const isConcealed = answer !== error && (error as HttpError | null)?.expose === false;
    if (isOutage(answer)) await reporter.reportRepeated(failure);
    else if (answer.status >= 500 || isConcealed) await reporter.report(failure);
    sendError(res, answer);
  };
}

function toRestError(error: unknown): RestError {
  const given = (error ?? {}) as HttpError;
  const status = [given.status, given.statusCode].find((each): each is number =>
    Number.isInteger(each) && Number(each) >= 400 && Number(each) <= 599
  );
  if (status === undefined) return translate(error) ?? internal(error);
  const { expose = status < 500, type, message, headers, limit } = given;
  const code = type === "entity.parse.failed" ? "BAD_FORMAT" : statusName(status);
  const isTooLarge = type === "entity.too.large" && typeof limit === "number";
  const text = isTooLarge ? `The body is larger than the limit of ${limit} bytes` : message;
  const shown = expose === true && typeof text === "string" ? text : statusText(status);
  const body = { code, message: shown, ...isTooLarge && expose === true && { limit } };
  const texts = Object.entries(typeof headers === "object" ? headers ?? {} : {})
    .map(([name, value]) => [name, String(value)]);
  return new Refusal(status, body, { headers: Object.fromEntries(texts), cause: error });
}

function translate(error: unknown): RestError | undefined {
  if (error instanceof mongoose.Error.CastError) {
    const { path, kind } = error;
    const message = `Value at "${path}" cannot be read as ${kind}`;
    return badData({ [path]: { message, kind } }, error);
  }
  if (isUnmet(error)) return notFound();
  const origin = error instanceof mongoose.Error ? errorOrigin(error) : undefined;
  const isHidden = (path: string) =>
    origin !== undefined && isHiddenPath(path, describeShape(origin.schema));
  // The error does not name its connection, so a plain `MongooseError` means an outage if any connection with models is
  // closed.
  const away = mongoose.connections.some((each) => !isOpen(each) && each.modelNames().length > 0);
  return translateError(error, { filtered: false, isHidden, away });
}
