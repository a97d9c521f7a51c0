import type { Request } from "express-types";
import type { Actor, FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { runHook } from "../../declare/hooks/run_hook.ts";
import type { PluginRoute } from "../../declare/plugins/plugin.ts";
import { toJson } from "../../json/to_json.ts";
import { readBody } from "../../write/body/read_body.ts";
import { passGuardOf } from "../pass_guard.ts";
import { actorBy } from "../request/actor.ts";
import { checkEndpointParameters } from "../request/check_request.ts";
import { makeTimeBudget } from "../request/request_context.ts";
import type { TextAnswer } from "../request/answer.ts";
import type { Route } from "../request/route.ts";
import type { Endpoint } from "../router_feature.ts";
import { operationOfEndpoint } from "./operation_names.ts";
import { surround } from "./run_around.ts";

export function pluginEndpoints(settings: Route): Endpoint[] {
  return settings.plugins.all.flatMap(({ name, routes = [] }) =>
    routes.map((route) => endpointFor(route, { plugin: name, settings }))
  );
}

interface EndpointPlace {
  readonly plugin: string;
  readonly settings: Route;
}

function endpointFor(route: PluginRoute, { plugin, settings }: EndpointPlace): Endpoint {
  const { method, path, summary, body, answer, open = false } = route;
  const { guard, plugins } = settings;
  const operation = operationOfEndpoint(route, plugin);
  const status = statusOf(route);
  return {
    method: method.toLowerCase() as Endpoint["method"],
    path,
    plugin,
    route,
    description: {
      operationId: `${plugin}_${route.operation}`,
      summary,
      tag: plugin,
      isOpen: open,
      isGuarded: !open && guard !== undefined,
      deprecated: plugins.deprecates(operation),
      parameters: plugins.parameters,
      ...body && { body },
      answers: { [status]: { description: "Done", ...answer && { schema: answer } } },
    },
    async serve(request) {
      const req = request as FrameworkRequest;
      const named = { req, operation: route.operation, weight: 1 };
      await passGuardOf(open ? undefined : guard, named);
      const { actor: ask, features } = settings;
      const actor = ask && actorBy(ask, req);
      const tenant = features.tenantOf({ req, origin: req, route: settings });
      return await surround(plugins, {
        facts: () => ({ ...operation, needs: [operation.name], actor, tenant }),
        req,
        client: req,
        purpose: "answer",
        run: () => answerRequest(req, { route, settings, actor, tenant }),
      });
    },
  };
}

interface AnsweredRequest {
  readonly route: PluginRoute;
  readonly settings: Route;
  readonly actor: Actor | undefined;
  readonly tenant: Actor | undefined;
}

async function answerRequest(
  req: FrameworkRequest,
  { route, settings, actor, tenant }: AnsweredRequest,
): Promise<TextAnswer> {
  const { bodyLimits } = settings;
  checkEndpointParameters(req, settings);
  const isSent = route.body !== undefined && hasBody(req);
  const body = isSent ? readBody(req, bodyLimits) : undefined;
  const headers: Record<string, string> = {};
  const given = runHook("plugin", () =>
    route.run({
      req,
      params: req.params as Record<string, string>,
      ...body && { body },
      ...actor !== undefined && { actor },
      ...tenant !== undefined && { tenant },
      setHeader: (name, text) => void (headers[name] = text),
    }));
  const value: unknown = await makeTimeBudget(settings).wait(Promise.resolve(given));
  const status = statusOf(route);
  return {
    kind: "text",
    status,
    headers,
    ...route.answer && status !== 204 && { text: toJson(value) },
  };
}

export function statusOf({ answer, status = answer === undefined ? 204 : 200 }: PluginRoute) {
  return status;
}

/** Headers show a body that no parser has read. `readBody()` then reports the missing `express.json()`. */
function hasBody({ headers, body }: Request): boolean {
  const length = headers["content-length"];
  return body !== undefined || headers["transfer-encoding"] !== undefined ||
    length !== undefined && length !== "0";
}
