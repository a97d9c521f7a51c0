import type { RequestHandler } from "express-types";
import type { FrameworkRequest } from "../declare/hooks/framework_request.ts";
import { forbidden, internal } from "../errors/refusals.ts";
import { RestError } from "../errors/rest_error.ts";
import { sendError } from "../http/answer_error.ts";
import type { Reporter } from "../pipeline/request/reporter.ts";
import type { OpenApiOptions } from "./options.ts";

export function guardDocument(
  see: NonNullable<OpenApiOptions["see"]>,
  reporter: Reporter | undefined,
): RequestHandler {
  return async (req, res, next) => {
    res.set("Cache-Control", "private, no-store");
    try {
      if (await see(req) !== true) throw forbidden();
    } catch (error) {
      if (error instanceof RestError) return sendError(res, error);
      const context = { method: req.method, route: req.path, class: "", operation: "openapi" };
      const failure = { req: req as FrameworkRequest, error, context };
      return sendError(res, await reporter?.report(failure) ?? internal(error));
    }
    next();
  };
}
