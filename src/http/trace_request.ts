import { tracingChannel } from "node:diagnostics_channel";
import type { Response } from "express-types";
import { openTrace } from "../schema/mongoose/statements/trace_statements.ts";

/**
 * A message of the tracing channel `mongrove:request` about one request. The trace of a request ends when its answer is
 * sent or its client has left.
 *
 * @example Count answers by route and status
 * ```ts
 * import { tracingChannel } from "node:diagnostics_channel";
 * import type { RequestTrace } from "@mongrove/mongrove";
 *
 * const counts = new Map<string, number>();
 * tracingChannel("mongrove:request").asyncEnd.subscribe((message) => {
 *   const { attributes } = message as RequestTrace;
 *   const name = `${attributes["http.route"]} ${attributes["http.response.status_code"]}`;
 *   counts.set(name, (counts.get(name) ?? 0) + 1);
 * });
 * ```
 */
export interface RequestTrace {
  /**
   * The attributes are named by the semantic conventions of OpenTelemetry. No attribute contains a parameter, a header
   * or a part of a body.
   */
  readonly attributes: {
    readonly "http.request.method": string;
    /** The path of the route, below the path of the router. */
    readonly "http.route": string;
    /** Missing for a batch, which contains several requests. */
    readonly "mongrove.model"?: string;
    /** The name of the operation or the action. For a batch, the `operationId` of its path in the OpenAPI document. */
    readonly "mongrove.operation": string;
    /** How the client was admitted, as a plugin names it. Set at the end of the trace. */
    "mongrove.via"?: string;
    /** Missing if the client has left before the answer began. */
    "http.response.status_code"?: number;
    /** The status of an answer that is a server error, or `aborted` if the answer has not reached its end. */
    "error.type"?: string;
  };
  /** The duration in seconds, set at the end of the trace. */
  duration?: number;
}

const channel = tracingChannel<object, RequestTrace>("mongrove:request");

interface TracedRequest {
  readonly path: string;
  readonly operation: string;
  readonly model?: string;
  readonly res: Response;
  readonly via: () => string | undefined;
}

export function traceRequest(
  { path, operation, model, res, via: askVia }: TracedRequest,
  serve: () => Promise<void>,
): Promise<void> {
  if (!channel.hasSubscribers) return serve();
  const trace: RequestTrace = {
    attributes: {
      "http.request.method": res.req.method,
      "http.route": path,
      ...model !== undefined && { "mongrove.model": model },
      "mongrove.operation": operation,
    },
  };
  return openTrace({ channel, trace }, (end) => {
    res.once("close", () => {
      const { statusCode, headersSent, writableFinished } = res;
      const via = askVia();
      if (via !== undefined) trace.attributes["mongrove.via"] = via;
      if (headersSent) trace.attributes["http.response.status_code"] = statusCode;
      end(writableFinished ? statusCode >= 500 ? String(statusCode) : undefined : "aborted");
    });
    return serve();
  });
}
