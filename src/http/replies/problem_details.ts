import type { Response } from "express-types";
import { Refusal } from "../../errors/refusals.ts";
import { isText } from "../../errors/rest_error.ts";
import type { RestError } from "../../errors/rest_error.ts";
import { statusText } from "../../errors/status_name.ts";

/** The media type of problem details, RFC 9457. */
export const PROBLEM = "application/problem+json";

/**
 * Gives the problem details of an error, for a client that names their media type in `Accept`. `undefined` for any other
 * client, and for an error with a body of the application's own.
 */
export function asProblem(res: Response, error: RestError): object | undefined {
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
