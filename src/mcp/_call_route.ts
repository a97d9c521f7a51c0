import type { Request, RequestHandler } from "express-types";
import { notFound } from "../errors/refusals.ts";
import { sendInner } from "../http/inner_request.ts";
import type { ExposedRoute } from "./_exposed_models.ts";

export interface RouteCall {
  readonly exposed: ExposedRoute;
  /** The identifier of the entity to which the tool call applies, if the path of the route has a parameter for it. */
  readonly id?: string | undefined;
  readonly query?: URLSearchParams;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object | undefined;
  /**
   * Whether the call asks only for the description of the route, as the tool `describe` does. The API then reads no
   * entities.
   */
  readonly describes?: boolean;
}

export interface RouteAnswer {
  readonly status: number;
  /**
   * The parsed JSON of the answer of the API, the text of an answer that is not JSON, or `undefined` for an empty
   * answer.
   */
  readonly body: unknown;
  readonly header: (name: string) => string | undefined;
}

/**
 * The maximum number of bytes of an answer of the API to the call of a tool. An answer needs several times its length
 * of memory before it reaches the assistant. The assistant gets an error in the place of a longer answer.
 */
const MAX_BYTES = 1_000_000;

/**
 * Sends a call of a tool (Model Context Protocol) as a request to the router of an API. The new request has the
 * connection, the headers and the properties of the assistant's request, except headers about the body of the latter.
 *
 * @throws The error that the router passes on.
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
    // The request to the API inherits the properties of the assistant's request. If middleware has set `query` on the
    // latter, its parameters must not replace the parameters of the tool call.
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

/**
 * Returns the parsed JSON of an answer of the API. Returns the text itself if it is not JSON, because a hook may have
 * sent another format. Returns `undefined` for an empty text.
 */
function parsed(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
