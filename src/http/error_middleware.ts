import type { ErrorRequestHandler, Request } from "express-types";
import mongoose from "mongoose";
import { isUnmet, translateError } from "../database/translate_error.ts";
import type { FrameworkRequest } from "../declare/hooks/framework_request.ts";
import { badData, internal, isOutage, notFound, Refusal } from "../errors/refusals.ts";
import { RestError, statusName, statusText } from "../errors/rest_error.ts";
import { Reporter } from "../pipeline/request/reporter.ts";
import type { ErrorContext } from "../pipeline/request/reporter.ts";
import { isHiddenPath } from "../schema/fields/visibility.ts";
import { describeShape } from "../schema/fields/shape.ts";
import { isOpen } from "../schema/mongoose/connections.ts";
import { originOf, validationFailure } from "../schema/mongoose/errors.ts";
import { sendError } from "./answer_error.ts";
import { refuseRequest } from "./check_options.ts";

/** An error with a status, as body parsers and hosts throw it. */
type HttpError = {
  readonly [N in "status" | "statusCode" | "expose" | "type" | "message" | "headers"]?: unknown;
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
    return { answer: toRestError(error, req), isConcealed: conceals(error), reported };
  } catch {
    // Anything can be thrown, objects that cannot be read included.
    return { answer: internal(error), isConcealed: true, reported: error };
  }
}

function toRestError(error: unknown, req: Request): RestError {
  if (error instanceof RestError) return error;
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
  const { expose = status < 500, type, message, headers } = error as HttpError;
  const code = type === "entity.parse.failed" ? "BAD_FORMAT" : statusName(status);
  const shown = expose === true && typeof message === "string" ? message : statusText(status);
  return new Refusal(status, { code, message: shown }, { headers: textsOf(headers), cause: error });
}

function textsOf(headers: unknown): Record<string, string> {
  if (typeof headers !== "object" || headers === null) return {};
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

function conceals(error: unknown): boolean {
  return !(error instanceof RestError) && (error as HttpError | null)?.expose === false;
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
