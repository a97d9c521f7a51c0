import type { Request, RequestHandler } from "express-types";
import { notFound } from "../errors/refusals.ts";
import { sendInner } from "../http/inner_request.ts";
import type { ExposedRoute } from "./_exposed_models.ts";

export interface RouteCall {
  readonly exposed: ExposedRoute;
  readonly id?: string | undefined;
  readonly query?: URLSearchParams;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object | undefined;
  readonly describes?: boolean;
}

export interface RouteAnswer {
  readonly status: number;
  /** A JSON answer is parsed. An empty answer is `undefined`. */
  readonly body: unknown;
  readonly header: (name: string) => string | undefined;
}

/** An answer needs several times its length of memory, so a longer one is an error. */
const MAX_BYTES = 1_000_000;

/**
 * The request has the connection, the headers and the properties of the assistant's request, except headers about its
 * body.
 */
export async function callRoute(
  api: RequestHandler,
  { req, call }: { readonly req: Request; readonly call: RouteCall },
): Promise<RouteAnswer> {
  const { exposed: { mounted, route }, id = "", body, headers = {}, describes = false } = call;
  const { query = new URLSearchParams() } = call;
  const path = mounted.path.replace("/:id", () => `/${encodeURIComponent(id)}`);
  const message = {
    method: mounted.operation.verb.toUpperCase(),
    url: query.size === 0 ? path : `${path}?${query}`,
    // A `req.query` of middleware must not replace the parameters of the call.
    query: Object.fromEntries(query),
    headers,
    body,
  };
  const facts = { mounted, route, describes };
  const answer = await sendInner(api, { req, message, facts, maxBytes: MAX_BYTES });
  if (answer === undefined) {
    const { status, body } = notFound();
    return { status, body, header: () => undefined };
  }
  const { status, text } = answer;
  return { status, body: parsed(text), header: (name) => answer.headers[name.toLowerCase()] };
}

function parsed(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // A hook may have sent another format than JSON.
    return text;
  }
}
