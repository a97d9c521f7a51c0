import type { Request, RequestHandler } from "express-types";
import type { Actor } from "../declare/hooks/framework_request.ts";
import { ANY_ID, PATH_PARAMETER } from "../describe/paths.ts";
import type { RouteDescription } from "../describe/describe_route.ts";
import { sendInner } from "../http/inner_request.ts";
import type { Call } from "../pipeline/request/request_context.ts";
import type { Route } from "../pipeline/request/route.ts";

/** The page leaves out a route with a longer description. */
const MAX_BYTES = 1_000_000;

interface AskOptions {
  readonly req: Request;
  readonly route: Route;
}

export interface DescribedRoute {
  readonly status: number;
  readonly described?: RouteDescription;
  readonly actor?: Actor | undefined;
}

export async function askRoute(
  api: RequestHandler,
  { req, route }: AskOptions,
): Promise<DescribedRoute> {
  const { verb } = route.operation;
  const message = {
    method: verb.toUpperCase(),
    url: route.path.replaceAll(PATH_PARAMETER, ANY_ID),
    query: {},
    headers: {},
    body: verb === "get" ? undefined : {},
  };
  let asked: Call | undefined;
  const admit = (call: Call) => {
    asked = call;
    return Promise.resolve();
  };
  const facts = { mounted: route, describes: true, admit };
  const answer = await sendInner(api, { req, message, facts, maxBytes: MAX_BYTES });
  if (answer === undefined) return { status: 404 };
  const { status, text } = answer;
  if (status !== 200) return { status };
  const actor = asked?.levels.at(-1)?.state.actor;
  return { status, described: JSON.parse(text) as RouteDescription, actor };
}
