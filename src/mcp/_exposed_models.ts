import { basePath } from "../describe/base_path.ts";
import { mountedRoutes } from "../host/initialize.ts";
import { unknownOption } from "../errors/unknown_option.ts";
import { PATH_PARAMETER } from "../describe/paths.ts";
import { routeWith } from "../http/routes/build_routes.ts";
import { actingLevel, type Route } from "../pipeline/request/route.ts";
import { isModelClass } from "../schema/build_field.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import type { ExposedOperation, Exposure, McpOptions } from "./options.ts";

/** The maximum for assistants. Smaller pages of the API keep their size. */
export const PAGE_SIZE = 50;

/** A list in `route` has pages, so an assistant never gets a whole collection. */
export interface ExposedRoute {
  readonly mounted: Route;
  readonly route: Route;
}

export interface ExposedModel {
  readonly name: string;
  readonly operations: ReadonlyMap<ExposedOperation, ExposedRoute>;
  readonly actions: ReadonlyMap<string, ExposedRoute>;
}

const OPTIONS: Readonly<Record<keyof McpOptions, true>> = {
  expose: true,
  info: true,
  origins: true,
  hosts: true,
  authorization: true,
};

const EXPOSURE: Readonly<Record<keyof Exposure, true>> = {
  model: true,
  operations: true,
  actions: true,
  route: true,
  name: true,
};

const OPERATIONS: Readonly<Record<ExposedOperation, true>> = {
  all: true,
  one: true,
  create: true,
  update: true,
};

export function exposedModels(
  api: unknown,
  options: McpOptions,
): ReadonlyMap<string, ExposedModel> {
  const routes = typeof api === "function" ? mountedRoutes(api) : undefined;
  if (routes === undefined) throw cannotServe("mcp() takes the router of Framework.initialize()");
  if (!isJsonObject(options)) throw cannotServe("the options are not an object");
  checkOptions(options);
  const models = new Map<string, ExposedModel>();
  for (const exposure of options.expose) {
    const exposed = exposedModel(exposure, routes);
    if (models.has(exposed.name)) {
      throw cannotServe(`"${exposed.name}" is exposed twice: give one of them another "name"`);
    }
    models.set(exposed.name, exposed);
  }
  return models;
}

function checkOptions(options: McpOptions): void {
  const { expose, info, origins = [], hosts = [] } = options;
  const unknown = unknownOption(options, OPTIONS);
  if (unknown !== undefined) throw cannotServe(`there is no option ${unknown}`);
  if (!Array.isArray(expose) || expose.length === 0) {
    throw cannotServe(`"expose" is not a list of models`);
  }
  if (!isStringList(origins)) throw cannotServe(`"origins" is not a list of texts`);
  if (!isStringList(hosts)) throw cannotServe(`"hosts" is not a list of texts`);
  if (info === undefined || isJsonObject(info) && isStringList([info.name, info.version])) return;
  throw cannotServe(`"info" is not an object with a "name" and a "version"`);
}

function exposedModel(exposure: Exposure, routes: readonly Route[]): ExposedModel {
  if (!isJsonObject(exposure) || !isModelClass(exposure.model)) {
    throw cannotServe(`"expose" holds something without a model class as "model"`);
  }
  const { model, name = model.name, route, operations, actions = [] }: Exposure = exposure;
  const fail = (problem: string) => cannotServe(`"${model.name}" ${problem}`);
  const unknown = unknownOption(exposure, EXPOSURE);
  if (unknown !== undefined) throw fail(`has an unknown option ${unknown}`);
  for (const [option, value] of Object.entries({ name, route })) {
    if (value === undefined || isStringList([value]) && value !== "") continue;
    throw fail(`needs a text as "${option}"`);
  }
  if (operations !== undefined && !isStringList(operations) || !isStringList(actions)) {
    throw fail(`needs lists of texts as "operations" and "actions"`);
  }
  const own = routesAt(exposure, { routes, fail });
  const find = (operation: string, isAction: boolean) =>
    own.find((route) => {
      const acting = actingLevel(route);
      return acting.operation === operation && (acting.action !== undefined) === isAction;
    });
  const readable = (["all", "one"] as const).filter((each) => find(each, false));
  const exposed = new Map((operations ?? readable).map((operation) => {
    if (!Object.hasOwn(OPERATIONS, operation)) {
      const known = Object.keys(OPERATIONS).join(", ");
      throw fail(`cannot expose ${operation}(): assistants get ${known}, and what "actions" lists`);
    }
    const mounted = find(operation, false);
    if (mounted === undefined) throw fail(`exposes ${operation}(), which its @rest does not have`);
    const route = operation === "all" ? paged(mounted, fail) : mounted;
    return [operation, { mounted, route }];
  }));
  const run = new Map(actions.map((action) => {
    const mounted = find(action, true);
    if (mounted === undefined) {
      throw fail(`exposes action "${action}", which its @rest does not have`);
    }
    return [action, { mounted, route: mounted }];
  }));
  if (exposed.size + run.size === 0) throw fail("exposes nothing");
  return { name, operations: exposed, actions: run };
}

type Fail = (problem: string) => TypeError;

/** A class may have several `@rest`. A tool uses the routes of one, which the option `route` names. */
function routesAt(
  { model, route: wanted }: Exposure,
  { routes, fail }: { readonly routes: readonly Route[]; readonly fail: Fail },
): readonly Route[] {
  const byBase = new Map<string, Route[]>();
  for (const route of routes) {
    if (route.levels.length > 1 || actingLevel(route).target !== model) continue;
    const base = basePath(route);
    byBase.set(base, [...byBase.get(base) ?? [], route]);
  }
  const bases = [...byBase.keys()];
  const listed = bases.map((base) => `"${base}"`).join(", ");
  if (bases.length === 0) throw fail("is not served by this router");
  if (wanted === undefined && bases.length > 1) {
    throw fail(`is served at ${listed}: name one as "route"`);
  }
  const base = wanted ?? bases[0] ?? "";
  const own = byBase.get(base);
  if (own === undefined) throw fail(`has no route "${base}", but ${listed}`);
  if (new RegExp(PATH_PARAMETER.source, "u").test(base) || /[*{}\\]/.test(base)) {
    throw fail(`is served at "${base}": tools cannot fill parameters of paths`);
  }
  return own;
}

function paged(route: Route, fail: Fail): Route {
  try {
    return routeWith(route, { option: "page", value: { max: PAGE_SIZE } });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw fail(`exposes all(), which has no "page" and cannot get one: ${reason}`);
  }
}

function isStringList(list: unknown): list is readonly string[] {
  return Array.isArray(list) && list.every((each) => typeof each === "string");
}

export function cannotServe(problem: string): TypeError {
  return new TypeError(`Cannot serve assistants: ${problem}`);
}
