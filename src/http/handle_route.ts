import type { Request, RequestHandler, Response } from "express-types";
import type { FrameworkRequest } from "../declare/hooks/framework_request.ts";
import { logError } from "../errors/log.ts";
import { badFormat, notFound } from "../errors/refusals.ts";
import { overloaded } from "../pipeline/failures.ts";
import { viaOf } from "../pipeline/plugins/admit_client.ts";
import { makeCall } from "../pipeline/request/request_context.ts";
import { watchEnd } from "../pipeline/request/response.ts";
import type { Answer } from "../pipeline/request/answer.ts";
import { actingLevel, type Route } from "../pipeline/request/route.ts";
import { countSelected } from "../pipeline/open_level.ts";
import { admitReader, runPipeline } from "../pipeline/run_pipeline.ts";
import { answerError, sendError } from "./answer_error.ts";
import { innerRequestOf } from "./inner_request.ts";
import { isClosing, sayIfClosing } from "./close_server.ts";
import { awaitTurn, isQueued, noteUnflushed, runsAhead } from "./replies/connection.ts";
import { sendAnswer } from "./replies/send_answer.ts";
import { describeCall } from "../describe/describe_route.ts";
import { traceRequest } from "./trace_request.ts";

/** An error that `prepare` returns is thrown after the `preFetch` hooks, so that only admitted clients see it. */
export function handleRoute(
  route: Route,
  prepare: (req: FrameworkRequest) => unknown = () => undefined,
): RequestHandler {
  const { sendTimeoutMS: timeoutMS } = route;
  const { target, operation, bytes, options: { description } } = actingLevel(route);
  const sendsList = route.operation.many && route.operation.change === undefined;
  const hasTypes = Object.keys(description.answer.content).length > 0;
  const sendsMuch = sendsList || bytes?.answer !== undefined;
  const serve = async (request: Request, res: Response) => {
    const req = request as FrameworkRequest;
    const inner = innerRequestOf(req);
    const { mounted = route, origin, client, timeBudget, sharedRoutes } = inner ?? {};
    if (mounted !== route) return sendError(res, notFound());
    // A hook may write after the end of the response. Without a listener, the error would end the process.
    res.on("error", logError);
    watchEnd(res);
    // With request pipelining, a list or a file would occupy a cursor and memory until earlier answers are sent.
    if (isQueued(res) && (sendsMuch || !runsAhead(res)) && !await awaitTurn(res)) return;
    const refused = prepare(req);
    // For rate limits: a batch counts its requests itself, and reading a description is free.
    const weight = origin !== undefined || inner?.describes ? 0 : 1;
    const shared = { origin, client, timeBudget, sharedRoutes };
    const facts = { req, count: countSelected, refused, weight, ...shared };
    let call = makeCall(inner?.route ?? route, facts);
    try {
      await inner?.admit?.(call);
      if (hasTypes) res.vary("Accept");
      // Removes fields that the reader may not see, so that no later error names them.
      call = await admitReader(call);
      const answer = await (inner?.describes ? describeCall(call) : runPipeline(call));
      if (inner !== undefined && !isJson(answer)) {
        throw badFormat("This answer cannot be a part of another");
      }
      if (staysOpen(answer) && isClosing(res)) throw overloaded("The server is closing");
      sayIfClosing(res);
      await sendAnswer(res, { answer, timeoutMS });
    } catch (error) {
      sayIfClosing(res);
      await answerError(call, error);
    }
    noteUnflushed(res, {
      timeoutMS,
      onLate: (error) => answerError(call, error),
    });
  };
  const traced = { path: route.path, model: target.name, operation };
  return (req, res) => {
    const via = () => viaOf(innerRequestOf(req)?.client ?? req);
    return traceRequest({ ...traced, res, via }, () => serve(req, res));
  };
}

function isJson(answer: Answer): boolean {
  return answer.kind === "text" || answer.kind === "list" && answer.frame === undefined;
}

function staysOpen(answer: Answer): boolean {
  return answer.kind === "results" || answer.kind === "stream" && answer.staysOpen;
}
