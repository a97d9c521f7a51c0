import type { ModelClass } from "../../declare/model/framework_model.ts";
import { bindingRests } from "../../declare/model/describe_model.ts";
import type { PluginOperation, PluginRoute } from "../../declare/plugins/plugin.ts";
import { queryOf } from "../../filter/query_string.ts";
import type { FieldShape } from "../../schema/fields/shape.ts";
import { collectConditions } from "../follow_references.ts";
import { referredTarget } from "../references.ts";
import type { Call, LevelContext } from "../request/request_context.ts";
import { actingLevel, type Level, type Route } from "../request/route.ts";

export function routeNameOf(path: string): string {
  return path.split("/").filter((part) => part !== "" && !part.startsWith(":")).join("/") || "/";
}

/** The prefix separates the names of actions and of operations. */
function wordOf({ action, perform, operation }: Level): string {
  return action === undefined || perform !== undefined ? operation : `action.${operation}`;
}

export function operationOfRoute(route: Route): PluginOperation {
  const acting = actingLevel(route);
  return {
    name: `${acting.routeName}:${wordOf(acting)}`,
    model: acting.target.name,
    operation: acting.operation,
    method: route.operation.verb.toUpperCase(),
    path: route.path,
  };
}

export function operationOfEndpoint(
  { path, method, operation }: PluginRoute,
  plugin: string,
): PluginOperation {
  return { name: `${routeNameOf(path)}:${operation}`, model: plugin, operation, method, path };
}

export function namesOf(route: Route): readonly string[] {
  const { routeName, added = {}, options: { declared } } = actingLevel(route);
  const ofParameters = Object.values(added).flatMap(({ word }) => word ?? []);
  const words = [...ofParameters, ...declared.words];
  return [operationOfRoute(route).name, ...words.map((word) => `${routeName}:${word}`)];
}

export function needsOf(
  { levels, context }: Call,
  readerOf: (target: ModelClass) => string,
): readonly string[] {
  const { level: { routeName } } = context;
  const above = levels.slice(0, -1).map(({ level }) => `${level.routeName}:one`);
  const own = wordsFor(context).map((word) => `${routeName}:${word}`);
  const followed = referencesIn(context).flatMap((field) => referredTarget(field) ?? [])
    .map((target) => `${readerOf(target)}:one`);
  return [...new Set([...above, ...own, ...followed])];
}

function wordsFor(context: LevelContext): readonly string[] {
  const { level, active } = context;
  const ofParameters = wordsOfParameters(context);
  const ofFeatures = active.flatMap(({ feature: { word } }) => word ?? []);
  const isReplaced = ofParameters.length > 0 && level.action === undefined &&
    level.traits.change === undefined;
  return [...isReplaced ? [] : [wordOf(level)], ...ofParameters, ...ofFeatures];
}

/** With a parameter such as `trash`, a read is another operation for plugins. */
export function wordsOfParameters(
  { level, req }: Pick<LevelContext, "level" | "req">,
): readonly string[] {
  const query = queryOf(req.url);
  if (query === "") return [];
  const given = new URLSearchParams(query);
  return Object.entries(level.added ?? {})
    .flatMap(([name, { word }]) => word !== undefined && given.has(name) ? [word] : []);
}

function referencesIn({ state, active }: LevelContext): readonly FieldShape[] {
  return [
    ...[...collectConditions(state.filter)].map(({ reference }) => reference),
    ...active.flatMap(({ feature, params }) => feature.follows?.(params) ?? []),
  ];
}

/**
 * A request that follows a reference needs the right to `one()` of the referenced class. Without such a route, no API
 * key has it.
 */
export function readersOf(routes: readonly Route[]): (target: ModelClass) => string {
  const roots = routes.filter(({ levels }) => levels.length === 1).map(actingLevel)
    .filter(({ operation }) => operation === "one");
  return (target) => {
    const names = roots.filter((level) => level.target === target)
      .map(({ routeName }) => routeName);
    const [{ route = "" } = {}] = bindingRests(target);
    const main = routeNameOf(route);
    return names.find((name) => name === main) ?? names[0] ?? (route === "" ? target.name : main);
  };
}
