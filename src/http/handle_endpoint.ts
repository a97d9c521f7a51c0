import type { Request, RequestHandler, Response } from "express-types";
import type { FrameworkRequest } from "../declare/hooks/framework_request.ts";
import { HookFailure } from "../declare/hooks/run_hook.ts";
import { logError } from "../errors/log.ts";
import { internal } from "../errors/refusals.ts";
import type { RestError } from "../errors/rest_error.ts";
import { isOutage, toAnswer, translateError, translateHookFailure } from "../pipeline/failures.ts";
import { admitClient, viaOf } from "../pipeline/plugins/admit_client.ts";
import { makeTimeBudget } from "../pipeline/request/request_context.ts";
import { isOver, watchEnd } from "../pipeline/request/response.ts";
import type { Route } from "../pipeline/request/route.ts";
import type { Endpoint } from "../pipeline/router_feature.ts";
import { sendError } from "./answer_error.ts";
import { sayIfClosing } from "./close_server.ts";
import { awaitTurn, isQueued, noteUnflushed } from "./replies/connection.ts";
import { sendAnswer } from "./replies/send_answer.ts";
import { traceRequest } from "./trace_request.ts";

interface EndpointOptions {
  readonly routes: RequestHandler;
  readonly settings: Pick<Route, "reporter" | "sendTimeoutMS" | "plugins" | "maxTimeMS">;
}

export function handleEndpoint(
  endpoint: Endpoint,
  { routes, settings }: EndpointOptions,
): RequestHandler {
  const { reporter, sendTimeoutMS: timeoutMS, plugins } = settings;
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
  const serve = async (request: Request, res: Response) => {
    const req = request as FrameworkRequest;
    res.on("error", logError);
    watchEnd(res);
    if (isQueued(res) && !await awaitTurn(res)) return;
    try {
      await admitClient({ req, client: req, plugins, timeBudget: makeTimeBudget(settings) });
      const answer = await endpoint.serve(req, routes);
      sayIfClosing(res);
      await sendAnswer(res, { answer, timeoutMS });
    } catch (error) {
      const answer = await report(req, error);
      sayIfClosing(res);
      if (!isOver(req) && !res.headersSent) sendError(res, answer);
    }
    noteUnflushed(res, { timeoutMS, onLate: (error) => void report(req, error) });
  };
  return (req, res) =>
    traceRequest({ path, operation, res, via: () => viaOf(req) }, () => serve(req, res));
}
