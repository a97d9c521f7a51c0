import type { Request, RequestHandler } from "express-types";
import type { FieldDescription, ValueDescription } from "../describe/describe_object.ts";
import type { RouteDescription } from "../describe/describe_route.ts";
import { askRoute } from "./_ask_route.ts";
import type { Operations, PageAction, PageModel, PagePart, PageRoute } from "./document.ts";
import type { AdminOptions } from "./options.ts";
import type { ShownRoute } from "./_shown_routes.ts";
import { groupBy } from "../schema/group_by.ts";

/** A route that the caller of the admin page may use, with its description as this caller may see it. */
interface AllowedRoute extends ShownRoute {
  readonly told: RouteDescription;
  /** Whether the caller may ask for the trash by the parameter `trash`. */
  readonly seesTrash: boolean;
}

interface DescribeOptions {
  readonly api: RequestHandler;
  readonly req: Request;
  readonly see: AdminOptions["see"];
}

/**
 * Describes the models to the caller of a request. Asks each route through the router, so that the guards and rights of
 * the route decide about its description. A route that refuses the caller is left out.
 */
export async function describeModels(
  routes: readonly ShownRoute[],
  options: DescribeOptions,
): Promise<{ readonly models: readonly PageModel[]; readonly needsLogin: boolean }> {
  const asked = await Promise.all(routes.map((route) => ask(route, options)));
  const allowed = asked.filter((each) => typeof each === "object");
  const readable = new Set(allowed.filter(isList).map(({ told }) => told.model));
  const groups = groupBy(allowed, ({ base }) => base);
  return {
    models: [...groups].flatMap(([path, own]) =>
      own.some(isList) ? modelOf(path, { own, readable }) : []
    ),
    needsLogin: asked.includes("needsLogin"),
  };
}

async function ask(
  shown: ShownRoute,
  { api, req, see }: DescribeOptions,
): Promise<AllowedRoute | "refused" | "needsLogin"> {
  const { route, description } = shown;
  if (see !== undefined && await see(req, description) !== true) return "refused";
  const { status, told } = await askRoute(api, { req, route });
  if (told === undefined) return status === 401 ? "needsLogin" : "refused";
  const hasTrash = description.parameters.some(({ name }) => name === "trash");
  const seesTrash = hasTrash &&
    (await askRoute(api, { req, route, query: "trash=only" })).told !== undefined;
  return { ...shown, told, seesTrash };
}

/** Whether a route is the list of a model, without which the admin page does not show the model. */
function isList({ told, kind, property }: AllowedRoute): boolean {
  return told.operation === "all" && kind === "operation" && property === undefined;
}

interface AllowedRoutes {
  readonly own: readonly AllowedRoute[];
  /** The names of the classes that the caller can read. */
  readonly readable: ReadonlySet<string>;
}

function modelOf(path: string, { own, readable }: AllowedRoutes): PageModel {
  const ofModel = own.filter(({ property }) => property === undefined);
  const operations = ofModel.filter(({ kind }) => kind === "operation");
  const added = ofModel.filter(({ kind }) => kind === "added");
  const parts = groupBy(own, ({ property }) => property);
  return {
    name: path.slice(1).replaceAll("/", "-"),
    model: own.find(isList)?.told.model ?? "",
    path,
    operations: routesOf({ own: operations, readable }),
    added: routesOf({ own: added, readable }),
    actions: ofModel.filter(({ kind }) => kind === "action").map((each) =>
      actionOf(each, readable)
    ),
    parts: [...parts].flatMap(([property, own]) =>
      property === undefined ? [] : partOf(property, { own, readable }) ?? []
    ),
    hasTrash: ofModel.some((each) => isList(each) && each.seesTrash),
  };
}

function routesOf({ own, readable }: AllowedRoutes): Readonly<Record<string, PageRoute>> {
  return Object.fromEntries(own.map((each) => [each.told.operation, routeOf(each, readable)]));
}

function partOf(property: string, routes: AllowedRoutes): PagePart | undefined {
  const operations: Operations = routesOf(routes);
  return operations.all === undefined ? undefined : { property, operations };
}

function actionOf(allowed: AllowedRoute, readable: ReadonlySet<string>): PageAction {
  const { told: { operation, method }, route } = allowed;
  return {
    name: operation,
    on: route.operation.item ? "one" : "all",
    method: method === "GET" ? "GET" : "POST",
    ...routeOf(allowed, readable),
  };
}

/** Returns the part of a description that the admin page uses. */
function routeOf(
  { route, told, seesTrash }: AllowedRoute,
  readable: ReadonlySet<string>,
): PageRoute {
  const { summary, parameters, headers, filter, body, bodySchema, answer, formats, live } = told;
  return {
    ...summary !== undefined && { summary },
    parameters: parameters.filter((each) =>
      each.in === "query" && (each.name !== "trash" || seesTrash)
    ),
    preferences: headers.flatMap(({ preferences = [] }) => preferences),
    // The admin page sends filters only with requests for many entities.
    ...filter && route.operation.many && { filter: filter.fields },
    ...body && { body: fieldsOf(body, readable) },
    ...bodySchema && { bodySchema },
    answer: fieldsOf(answer, readable),
    isCsv: formats?.includes("csv") === true,
    isLive: live !== undefined,
  };
}

/**
 * Leaves out the names of the classes that the caller cannot read, so that the admin page shows references to them as
 * plain identifiers.
 */
function fieldsOf(
  fields: readonly FieldDescription[],
  readable: ReadonlySet<string>,
): readonly FieldDescription[] {
  // `valueOf()` also returns the name and the other properties of the field, which its type does not say.
  return fields.map((field) => valueOf(field, readable) as FieldDescription);
}

function valueOf(value: ValueDescription, readable: ReadonlySet<string>): ValueDescription {
  const { model, items, fields, ...others } = value;
  return {
    ...others,
    ...model !== undefined && readable.has(model) && { model },
    ...items && { items: valueOf(items, readable) },
    ...fields && { fields: fieldsOf(fields, readable) },
  };
}
