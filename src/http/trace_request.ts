import { tracingChannel } from "node:diagnostics_channel";
import type { Request, Response } from "express-types";
import { openTrace } from "../schema/mongoose/statements/trace_statements.ts";
import { innerRequestOf } from "./inner_request.ts";

/**
 * A message of the tracing channel `mongrove:request` about one request. The trace ends when the answer is sent or the
 * client has left.
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
   * The attributes, named by the semantic conventions of OpenTelemetry, without parameters, headers and parts of
   * bodies.
   */
  readonly attributes: {
    readonly "http.request.method": string;
    /** The path of the mount and of the route, with names of parameters instead of values. */
    readonly "http.route": string;
    /** Missing for a batch. */
    readonly "mongrove.model"?: string;
    /** The name of the operation or action. For a batch, the `operationId` of its path in OpenAPI. */
    readonly "mongrove.operation": string;
    /** How a plugin has admitted the client, such as `key:<id>`. Set at the end of the trace. */
    "mongrove.via"?: string;
    /** Missing if the client has left before the answer began. */
    "http.response.status_code"?: number;
    /** The status of a server error, or `aborted` for an incomplete answer. */
    "error.type"?: string;
  };
  /** The duration in seconds, set at the end of the trace. */
  duration?: number;
}

const channel = tracingChannel<object, RequestTrace>("mongrove:request");

const mounts = new WeakMap<object, string>();

/** Call this before a route matches, while `req.params` has only the parameters of the mount. */
export function noteMount(req: Request): void {
  // An internal request of `mcp()` has the path of `mcp()`, which would be a wrong `http.route`.
  if (!channel.hasSubscribers || innerRequestOf(req) !== undefined) return;
  const names = new Map(
    Object.entries(req.params).flatMap(([name, value]) =>
      [value].flat().map((each): [unknown, string] => [each, name])
    ),
  );
  const segments = req.baseUrl.split("/").map((segment) => {
    const name = names.get(decoded(segment));
    return segment === "" || name === undefined ? segment : `:${name}`;
  });
  mounts.set(req, segments.join("/"));
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

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
  const { req } = res;
  const mount = mounts.get(innerRequestOf(req)?.client ?? req) ?? "";
  const trace: RequestTrace = {
    attributes: {
      "http.request.method": req.method,
      "http.route": `${mount}${path}`,
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
