import type { Request, RequestHandler } from "express-types";
import type { Actor } from "../declare/hooks/framework_request.ts";
import type { RouteDescription } from "../describe/describe_route.ts";
import { askRoute } from "./_ask_route.ts";
import { describeKeys } from "./_describe_keys.ts";
import type { Operations, PageAction, PageDocument, PageField, PageFile } from "./document.ts";
import type { PageModel, PagePart, PageRoute, PageValue } from "./document.ts";
import type { AdminModel, AdminOptions } from "./options.ts";
import type { ShownRoute } from "./_shown_routes.ts";
import { stampNames } from "./_name_stamps.ts";
import { menuWords, viewOf } from "./_views.ts";
import { logError } from "../errors/log.ts";
import { type ActorNames, askNames } from "../pipeline/actor_names.ts";
import { makeTimeBudget } from "../pipeline/request/request_context.ts";
import { actingLevel } from "../pipeline/request/route.ts";
import type { Endpoint } from "../pipeline/router_feature.ts";
import { buildSchema } from "../schema/build_schema.ts";
import { showsOtherValues } from "../schema/mongoose/documents/hide_in_json.ts";

interface AllowedRoute extends ShownRoute {
  readonly described: RouteDescription;
  readonly actor: Actor | undefined;
}

interface DescribeOptions {
  readonly api: RequestHandler;
  readonly req: Request;
  readonly see: AdminOptions["see"];
  readonly models: AdminOptions["models"];
  readonly names: ActorNames | undefined;
  readonly endpoints: readonly Endpoint[];
}

/** Asks each route, so its hooks and field rights decide. */
export async function describeModels(
  routes: readonly ShownRoute[],
  options: DescribeOptions,
): Promise<Pick<PageDocument, "models" | "needsLogin" | "user" | "keys">> {
  const asked = await Promise.all(routes.map((route) => ask(route, options)));
  const allowed = asked.filter((each) => typeof each === "object");
  const lists = allowed.filter(isList);
  const readable = new Set(lists.map(({ described }) => described.model));
  const groups = [...Map.groupBy(allowed, ({ base }) => base)].flatMap(([path, own]) => {
    const list = own.find(isList);
    if (list === undefined) return [];
    const model = Object.entries(options.models ?? {}).find(([name]) =>
      name === list.described.model
    );
    const hasNames = options.names !== undefined;
    return [{ path, own, list, readable, hasNames, view: model?.[1] ?? {} }];
  });
  const words = menuWords(groups.map(({ path, view: { menu } }) => ({ path, menu })));
  const known = allowed.find(({ actor }) => actor !== undefined);
  const user = known && await userOf(known, options);
  const keys = known?.actor === undefined ? undefined : await describeKeys(
    allowed.map(({ route }) => route),
    { ...options, actor: known.actor },
  );
  return {
    ...user !== undefined && { user },
    ...keys && { keys },
    models: groups.map((group, index) => modelOf({ ...group, menu: words[index] ?? group.path })),
    needsLogin: asked.includes("needsLogin"),
  };
}

async function userOf(
  { actor, route }: AllowedRoute,
  { names }: DescribeOptions,
): Promise<string> {
  const id = String(actor);
  if (names === undefined || actor === undefined) return id;
  try {
    const known = await makeTimeBudget(route).wait(askNames(names, [actor]));
    return known.get(id) ?? id;
  } catch (error) {
    // The page works without the user's name.
    logError(error);
    return id;
  }
}

async function ask(
  shown: ShownRoute,
  { api, req, see }: DescribeOptions,
): Promise<AllowedRoute | "refused" | "needsLogin"> {
  const { route, description } = shown;
  if (see !== undefined && await see(req, description) !== true) return "refused";
  const { status, described, actor } = await askRoute(api, { req, route });
  if (described === undefined) return status === 401 ? "needsLogin" : "refused";
  return { ...shown, described, actor };
}

/** A model whose list the user cannot read is not shown. */
function isList({ described, kind, parts }: AllowedRoute): boolean {
  return described.operation === "all" && kind === "operation" && parts.length === 0;
}

interface AllowedRoutes {
  readonly own: readonly AllowedRoute[];
  /** References to classes that the user cannot read are shown as identifiers. */
  readonly readable: ReadonlySet<string>;
  readonly view: AdminModel;
  readonly hasNames: boolean;
}

interface ModelRoutes extends AllowedRoutes {
  readonly path: string;
  readonly list: AllowedRoute;
  readonly menu: string;
}

function modelOf({ path, list, menu, own, ...context }: ModelRoutes): PageModel {
  const { group, icon } = context.view;
  const { route, described } = list;
  const tenant = route.features.selectingFieldOf(actingLevel(route).target);
  const ofModel = own.filter(({ parts }) => parts.length === 0)
    .map((each) =>
      context.view.list?.some((name) => name === tenant) ? each : without(tenant, each)
    );
  const operations = withSafeForms(ofModel.filter(({ kind }) => kind === "operation"));
  const added = ofModel.filter(({ kind }) => kind === "added");
  const files = filesOf(ofModel);
  return {
    // React-admin allows no slash in names. A hyphen could make two names equal.
    name: path.slice(1).replaceAll("/", "~"),
    model: described.model,
    path,
    menu,
    ...group !== undefined && { group },
    ...icon !== undefined && { icon },
    ...viewOf(described.answer, { model: context.view, tenant, pictures: picturesOf(files) }),
    stamps: shownStamps({ own: operations, ...context }),
    operations: routesOf({ own: operations, ...context }),
    added: routesOf({ own: added, ...context }),
    actions: ofModel.filter(({ kind }) => kind === "action").map((each) => actionOf(each, context)),
    parts: partsOf({ own, ...context }, 0),
    files,
    // The trash has one option `see` for a class, so all routes agree.
    hasTrash: described.parameters.some(({ name }) => name === "trash"),
  };
}

/** The page learns the name behind `createdBy` by reading the entity, so the user needs `all` and `one`. */
function shownStamps({ own, hasNames }: AllowedRoutes): readonly string[] {
  const [list, one] = ["all", "one"].map((name) =>
    own.find(({ described }) => described.operation === name)
  );
  return hasNames && list !== undefined && one !== undefined
    ? stampNames(list.route).filter((name) =>
      list.described.answer.some((field) => field.name === name)
    )
    : [];
}

/** All entities of a reader share the tenant, so the page need not show it. */
function without(
  tenant: string | undefined,
  { described, ...others }: AllowedRoute,
): AllowedRoute {
  const { answer, filter } = described;
  return {
    ...others,
    described: {
      ...described,
      answer: answer.filter(({ name }) => name !== tenant),
      ...filter && {
        filter: { ...filter, fields: filter.fields.filter(({ path }) => path !== tenant) },
      },
    },
  };
}

/**
 * The form for `replace()` sends all shown values back. It would remove values that hooks leave out, and store values
 * that hooks make. Hooks of the list count, because React-admin keeps its entities.
 */
function withSafeForms(own: readonly AllowedRoute[]): readonly AllowedRoute[] {
  const isChanged = own.some(({ described: { operation, hooks }, route }) =>
    (operation === "one" || operation === "all") && hooks.some((name) => name !== "preFetch") ||
    // After a transform, for example, `replace()` would store the shown value instead of the original.
    operation === "replace" && showsOtherValues(buildSchema(actingLevel(route).target).schema)
  );
  return isChanged ? own.filter(({ described }) => described.operation !== "replace") : own;
}

function routesOf({ own, ...context }: AllowedRoutes): Readonly<Record<string, PageRoute>> {
  return Object.fromEntries(
    own.map((each) => [each.described.operation, routeOf(each, context)]),
  );
}

function partsOf({ own, ...context }: AllowedRoutes, depth: number): PagePart[] {
  return [...Map.groupBy(own, ({ parts }) => parts[depth])].flatMap(([property, below]) => {
    if (property === undefined) return [];
    const direct = below.filter(({ parts }) => parts.length === depth + 1);
    const routes = direct.filter(({ kind }) => kind === "operation");
    const view = { format: formatBelow(property, context.view.format) };
    const operations: Operations = routesOf({ ...context, own: routes, view });
    if (operations.all === undefined) return [];
    const { title } = viewOf(operations.all.answer, {});
    const parts = partsOf({ ...context, own: below, view }, depth + 1);
    const stamps = shownStamps({ ...context, own: routes, view });
    return [{ property, title, stamps, operations, files: filesOf(direct), parts }];
  });
}

function filesOf(own: readonly AllowedRoute[]): PageFile[] {
  return [...Map.groupBy(own, ({ file }) => file)].flatMap(([property, routes]): PageFile[] => {
    if (property === undefined) return [];
    const { body = [], maxBytes } = routes.flatMap(({ described }) => described.bytes ?? [])
      .find((each) => each.body) ?? {};
    const accept = body.filter((type) => type !== "multipart/form-data");
    return [{
      property,
      operations: routes.map(({ described }) =>
        described.operation as PageFile["operations"][number]
      ),
      ...accept.length > 0 && !accept.includes("*/*") && { accept },
      ...maxBytes !== undefined && { maxBytes },
    }];
  });
}

function picturesOf(files: readonly PageFile[]): string[] {
  return files.filter(({ accept, operations }) =>
    operations.includes("one") && accept?.every((type) => type.startsWith("image/"))
  ).map(({ property }) => property);
}

type RouteContext = Pick<AllowedRoutes, "readable" | "view">;

function actionOf(allowed: AllowedRoute, context: RouteContext): PageAction {
  const { described: { operation, method, conditional = false }, route } = allowed;
  return {
    name: operation,
    on: route.operation.item ? "one" : "all",
    method: method === "GET" ? "GET" : "POST",
    isConditional: conditional,
    ...routeOf(allowed, context),
  };
}

function routeOf(
  { route, described }: AllowedRoute,
  { readable, view: { format } }: RouteContext,
): PageRoute {
  const { summary, parameters, headers, filter, body, bodySchema, answer, formats, live, writes } =
    described;
  const fields = (all: readonly PageField[]) => fieldsOf(all, { readable, format });
  return {
    ...summary !== undefined && { summary },
    parameters: parameters.filter((each) => each.in === "query"),
    preferences: headers.flatMap(({ preferences = [] }) => preferences),
    // The page sends a filter only to routes of many entities.
    ...filter && route.operation.many && { filter: filter.fields },
    ...body && { body: fields(body) },
    ...bodySchema && { bodySchema },
    answer: fields(answer),
    isCsv: formats?.includes("csv") === true,
    isLive: live !== undefined,
    ...writes?.by !== undefined && { by: writes.by },
  };
}

type Format = AdminModel["format"];

interface FieldContext extends Pick<RouteContext, "readable"> {
  readonly format: Format;
}

function fieldsOf(
  fields: readonly PageField[],
  { readable, format }: FieldContext,
): readonly PageField[] {
  return fields.map((field) => {
    const shown = format?.[field.name];
    const context = { readable, format: formatBelow(field.name, format) };
    // `valueOf()` copies all properties of the field, but its result type lacks some, hence the cast.
    return valueOf(shown === undefined ? field : { ...field, shown }, context) as PageField;
  });
}

function valueOf(value: PageValue, context: FieldContext): PageValue {
  const { model, items, fields, ...others } = value;
  const { shown } = value;
  return {
    ...others,
    ...model !== undefined && context.readable.has(model) && { model },
    ...items && { items: valueOf(shown === undefined ? items : { ...items, shown }, context) },
    ...fields && { fields: fieldsOf(fields, context) },
  };
}

function formatBelow(name: string, format: Format): Format {
  const start = `${name}.`;
  return Object.fromEntries(
    Object.entries(format ?? {}).filter(([path]) => path.startsWith(start))
      .map(([path, each]) => [path.slice(start.length), each]),
  );
}
