import type { Request, RequestHandler, Response } from "express-types";
import type { FrameworkRequest } from "../declare/hooks/framework_request.ts";
import { logError } from "../errors/log.ts";
import { mayBeRefused } from "../filter/q/operators.ts";
import { openCall } from "../pipeline/request/call.ts";
import type { ErrorContext } from "../pipeline/request/reporter.ts";
import { watchEnd } from "../pipeline/request/reply.ts";
import { actingLevel } from "../pipeline/request/route.ts";
import type { Route } from "../pipeline/request/route.ts";
import { countSelected } from "../pipeline/open_level.ts";
import { runPipeline } from "../pipeline/run_pipeline.ts";
import { isHiddenPath } from "../schema/fields/visibility.ts";
import { answerError } from "./answer_error.ts";
import { sayIfClosing } from "./close_server.ts";
import { awaitTurn, isQueued, noteUnflushed } from "./replies/connection.ts";
import { sendReply } from "./replies/send_reply.ts";

export function handleRoute(route: Route): RequestHandler {
  const { reporter, levels, sendTimeoutMS: timeoutMS } = route;
  const { target, operation } = actingLevel(route);
  const targets = levels.map((level) => level.target);
  const sendsList = route.operation.many && route.operation.change === undefined;
  return async (request: Request, res: Response) => {
    const req = request as FrameworkRequest;
    // A hook may write to a response that has ended: without a listener that ends the process.
    res.on("error", logError);
    watchEnd(res);
    // A list that cannot be sent yet would hold its cursor and its memory.
    if (sendsList && isQueued(res) && !await awaitTurn(res)) return;
    const call = openCall(route, { req, count: countSelected });
    const contextOf = (): ErrorContext => {
      return { method: req.method, route: route.path, class: target.name, operation };
    };
    try {
      const reply = await runPipeline(call);
      sayIfClosing(res);
      await sendReply(res, { reply, timeoutMS });
    } catch (error) {
      const context = contextOf();
      // Conditions that a hook has added are not the client's error.
      const filtered = mayBeRefused(call.acting.state.filter);
      const isHidden = (path: string) => isHiddenPath(path, call.acting.level.shape);
      const ids = Object.values(req.params).map(String);
      const known = { filtered, isHidden, targets, ids, away: call.isAway() };
      sayIfClosing(res);
      await answerError(req, error, { ...known, context, reporter });
    }
    noteUnflushed(res, {
      timeoutMS,
      onLate: (error) => reporter.reportRepeated({ req, error, context: contextOf() }),
    });
  };
}
