import type { ErrorRequestHandler, Request, Response } from "express-types";
import mongoose from "mongoose";
import { isUnmet, translateError } from "../database/translate_error.ts";
import type { FrameworkRequest } from "../declare/hooks/framework_request.ts";
import { logError, logHint } from "../errors/log.ts";
import { badData, internal, isOutage, notFound, Refusal } from "../errors/refusals.ts";
import { isText, RestError, statusName, statusText } from "../errors/rest_error.ts";
import { toJson } from "../json/to_json.ts";
import type { Call } from "../pipeline/request/call.ts";
import { errorAnswer, errorContext, Reporter } from "../pipeline/request/reporter.ts";
import { hasEnded } from "../pipeline/request/reply.ts";
import type { ErrorContext } from "../pipeline/request/reporter.ts";
import { describeShape } from "../schema/fields/shape.ts";
import { isHiddenPath } from "../schema/fields/visibility.ts";
import { isOpen } from "../schema/mongoose/connections.ts";
import { originOf, validationFailure } from "../schema/mongoose/errors.ts";
import { refuseRequest } from "./check_options.ts";
import { cutAnswer, SlowClientError } from "./replies/connection.ts";

/** Headers that describe the bytes of the body, which an error does not know. */
const FRAMING = /^(content-encoding|content-length|transfer-encoding|connection|trailer|upgrade)$/i;

const PROBLEM = "application/problem+json";

export async function answerError({ acting }: Call, error: unknown): Promise<void> {
  const { req, route: { reporter } } = acting;
  const res = req.res as Response;
  if (error instanceof SlowClientError) {
    return await reporter.reportRepeated({ req, error, context: errorContext(acting) });
  }
  const answer = await errorAnswer(acting, error);
  if (hasEnded(res)) return;
  if (res.headersSent) await cutAnswer(res);
  else sendError(res, answer);
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

/** An error with a status, as body parsers and hosts throw it. */
type HttpError = {
  readonly [
    N in "status" | "statusCode" | "expose" | "type" | "message" | "headers" | "limit"
  ]?: unknown;
};

type HostContext = Pick<ErrorContext, "method" | "route">;

export function errors(given?: never): ErrorRequestHandler {
  refuseRequest("errors", given);
  const reporter = new Reporter<HostContext>();
  return async (error: unknown, req, res, next) => {
    if (res.headersSent) return next(error);
    const { answer, isConcealed, reported } = judge(error, req);
    const failure = { req: req as FrameworkRequest, error: reported, context: contextOf(req) };
    if (isOutage(answer)) await reporter.reportRepeated(failure);
    else if (answer.status >= 500 || isConcealed) await reporter.report(failure);
    sendError(res, answer);
  };
}

function contextOf({ method, baseUrl, path, route }: Request): HostContext {
  const { path: pattern = path } = (route ?? {}) as { path?: unknown };
  return { method, route: `${baseUrl}${pattern}` };
}

interface Judged {
  readonly answer: RestError;
  /** Whether it tells the client less than the error says. */
  readonly isConcealed: boolean;
  readonly reported: unknown;
}

function judge(error: unknown, req: Request): Judged {
  try {
    const reported = validationFailure(error)?.thrown ?? error;
    if (error instanceof RestError) return { answer: error, isConcealed: false, reported };
    const isConcealed = (error as HttpError | null)?.expose === false;
    return { answer: toRestError(error, req), isConcealed, reported };
  } catch {
    // Anything can be thrown, objects that cannot be read included.
    return { answer: internal(error), isConcealed: true, reported: error };
  }
}

function toRestError(error: unknown, req: Request): RestError {
  const status = statusOf(error);
  return status === undefined
    ? translate(error, req) ?? internal(error)
    : withStatus(status, error);
}

function statusOf(error: unknown): number | undefined {
  const { status, statusCode } = (error ?? {}) as HttpError;
  return [status, statusCode].find((each): each is number =>
    Number.isInteger(each) && Number(each) >= 400 && Number(each) <= 599
  );
}

function withStatus(status: number, error: unknown): RestError {
  const { expose = status < 500, type, message, headers, limit } = error as HttpError;
  const code = type === "entity.parse.failed" ? "BAD_FORMAT" : statusName(status);
  const isTooLarge = type === "entity.too.large" && typeof limit === "number";
  const told = isTooLarge ? `The body is larger than the limit of ${limit} bytes` : message;
  const shown = expose === true && typeof told === "string" ? told : statusText(status);
  const body = { code, message: shown, ...isTooLarge && expose === true && { limit } };
  return new Refusal(status, body, { headers: textsOf(headers), cause: error });
}

function textsOf(headers: unknown): Record<string, string> {
  if (typeof headers !== "object" || headers === null) return {};
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

/** Translates errors of Mongoose and MongoDB in the host's own routes. */
function translate(error: unknown, req: Request): RestError | undefined {
  if (error instanceof mongoose.Error.CastError) {
    const { path, kind, value } = error;
    if (path === "_id" && isInPath(String(value), req)) return notFound();
    const message = `Value at "${path}" cannot be read as ${kind}`;
    return badData({ [path]: { message, kind } }, error);
  }
  if (isUnmet(error)) return notFound();
  const origin = error instanceof mongoose.Error ? originOf(error) : undefined;
  const isHidden = (path: string) =>
    origin !== undefined && isHiddenPath(path, describeShape(origin.schema));
  return translateError(error, { filtered: false, isHidden, away: isAnyAway() });
}

/** Whether a part of the path of a request is a text. Express no longer tells the parameters of its route. */
function isInPath(text: string, { originalUrl }: Request): boolean {
  const [path = ""] = originalUrl.split("?");
  try {
    return path.split("/").map(decodeURIComponent).includes(text);
  } catch {
    return false;
  }
}

/** Whether a connection that models use is not open: it is not known which one the host's route uses. */
function isAnyAway(): boolean {
  return mongoose.connections.some((connection) =>
    !isOpen(connection) && connection.modelNames().length > 0
  );
}
