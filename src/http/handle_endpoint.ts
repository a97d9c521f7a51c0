import type { Request, RequestHandler, Response } from "express-types";
import type { FrameworkRequest } from "../declare/hooks/framework_request.ts";
import { HookFailure } from "../declare/hooks/run_hook.ts";
import { logError } from "../errors/log.ts";
import { internal } from "../errors/refusals.ts";
import type { RestError } from "../errors/rest_error.ts";
import { isOutage, toAnswer, translateError, translateHookFailure } from "../pipeline/failures.ts";
import { isOver, watchEnd } from "../pipeline/request/reply.ts";
import type { Route } from "../pipeline/request/route.ts";
import type { Endpoint } from "../pipeline/router_feature.ts";
import { sendError } from "./answer_error.ts";
import { sayIfClosing } from "./close_server.ts";
import { awaitTurn, isQueued, noteUnflushed } from "./replies/connection.ts";
import { sendReply } from "./replies/send_reply.ts";
import { traceRequest } from "./trace_request.ts";

interface EndpointOptions {
  readonly routes: RequestHandler;
  readonly settings: Pick<Route, "reporter" | "sendTimeoutMS">;
}

export function handleEndpoint(
  endpoint: Endpoint,
  { routes, settings: { reporter, sendTimeoutMS: timeoutMS } }: EndpointOptions,
): RequestHandler {
  const { path, description: { operationId: operation } } = endpoint;
  const report = async (req: Request, error: unknown): Promise<RestError> => {
    const context = { method: req.method, route: path, class: "", operation };
    const isOfHook = error instanceof HookFailure;
    const thrown = toAnswer(isOfHook ? error.thrown : error);
    const failure = { req: req as FrameworkRequest, error: thrown, context };
    const options = { filtered: false, isHidden: () => true };
    const answer = isOfHook ? translateHookFailure(error, options) : translateError(error, options);
    if (answer === undefined) return await reporter.report(failure) ?? internal(thrown);
    if (isOutage(answer)) await reporter.reportRepeated(failure);
    return answer;
  };
  const serve = async (req: Request, res: Response) => {
    res.on("error", logError);
    watchEnd(res);
    if (isQueued(res) && !await awaitTurn(res)) return;
    try {
      const text = await endpoint.serve(req, routes);
      sayIfClosing(res);
      await sendReply(res, { reply: { status: 200, text }, timeoutMS });
    } catch (error) {
      const answer = await report(req, error);
      sayIfClosing(res);
      if (!isOver(req as FrameworkRequest) && !res.headersSent) sendError(res, answer);
    }
    noteUnflushed(res, { timeoutMS, onLate: (error) => void report(req, error) });
  };
  return (req, res) => traceRequest({ path, operation, res }, () => serve(req, res));
}
