import type { Request, RequestHandler, Response } from "express-types";
import type { FrameworkRequest } from "../hooks/framework_request.ts";
import { openCall } from "../pipeline/call.ts";
import { actingLevel } from "../pipeline/route.ts";
import type { Route } from "../pipeline/route.ts";
import { hasFilter } from "../query/parse_q.ts";
import { runPipeline } from "../pipeline/run_pipeline.ts";
import { isHiddenPath } from "../shape/hidden_path.ts";
import { answerError } from "./answer_error.ts";
import type { OnError } from "./answer_error.ts";
import { sendReply } from "./send_reply.ts";

/** Makes the handler of a route: a request in, the pipeline's reply or one error out. */
export function handleRoute(route: Route, onError: OnError | undefined): RequestHandler {
  const { shape } = actingLevel(route);
  const isHidden = (path: string) => isHiddenPath(path, shape);
  return async (request: Request, res: Response) => {
    const req = request as FrameworkRequest;
    try {
      await sendReply(res, await runPipeline(openCall(route, req)));
    } catch (error) {
      // What a hook has put into the filter is the host's to mend, not the client's.
      const filtered = hasFilter(req.url);
      await answerError(req, error, { filtered, isHidden, ...onError && { onError } });
    }
  };
}
