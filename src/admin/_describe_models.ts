import type { Request, RequestHandler } from "express-types";
import type { FieldDescription, ValueDescription } from "../describe/describe_object.ts";
import type { RouteDescription } from "../describe/describe_route.ts";
import { askRoute } from "./_ask_route.ts";
import type { Operations, PageAction, PageFile, PageModel } from "./document.ts";
import type { PagePart, PageRoute } from "./document.ts";
import type { AdminOptions } from "./options.ts";
import type { ShownRoute } from "./_shown_routes.ts";
import { actingLevel, type Route } from "../pipeline/request/route.ts";
import { buildSchema } from "../schema/build_schema.ts";
import { showsOtherThanStored } from "../schema/mongoose/documents/hide_in_json.ts";
import { schemasWithin, typesWithin } from "../schema/mongoose/schemas/schema_members.ts";

/** A route that the user of the admin page may use, with its description as this user may see it. */
interface AllowedRoute extends ShownRoute {
  readonly told: RouteDescription;
}

interface DescribeOptions {
  readonly api: RequestHandler;
  readonly req: Request;
  readonly see: AdminOptions["see"];
}

/**
 * Returns the descriptions of the models that the admin page shows to its user. Asks each route through the router, so
 * that the hooks and the field rights of the route decide about its description. A route that refuses the user is left
 * out.
 */
export async function describeModels(
  routes: readonly ShownRoute[],
  options: DescribeOptions,
): Promise<{ readonly models: readonly PageModel[]; readonly needsLogin: boolean }> {
  const asked = await Promise.all(routes.map((route) => ask(route, options)));
  const allowed = asked.filter((each) => typeof each === "object");
  const lists = allowed.filter(isList);
  const readable = new Set(lists.map(({ told }) => told.model));
  const groups = Map.groupBy(allowed, ({ base }) => base);
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
  return { ...shown, told };
}

/** Whether a route is the list of a model, without which the admin page does not show the model. */
function isList({ told, kind, part }: AllowedRoute): boolean {
  return told.operation === "all" && kind === "operation" && part === undefined;
}

interface AllowedRoutes {
  readonly own: readonly AllowedRoute[];
  /**
   * The names of the classes whose list the user of the admin page may read. References to other classes are shown as
   * plain identifiers.
   */
  readonly readable: ReadonlySet<string>;
}

function modelOf(path: string, { own, ...rules }: AllowedRoutes): PageModel {
  const ofModel = own.filter(({ part }) => part === undefined);
  const operations = withSafeForms(ofModel.filter(({ kind }) => kind === "operation"));
  const added = ofModel.filter(({ kind }) => kind === "added");
  const parts = Map.groupBy(own, ({ part }) => part);
  return {
    // React-admin has a slash in the paths of its pages, so a name must have none. A hyphen could make two names equal.
    name: path.slice(1).replaceAll("/", "~"),
    model: own.find(isList)?.told.model ?? "",
    path,
    operations: routesOf({ own: operations, ...rules }),
    added: routesOf({ own: added, ...rules }),
    actions: ofModel.filter(({ kind }) => kind === "action").map((each) => actionOf(each, rules)),
    parts: [...parts].flatMap(([property, own]) =>
      property === undefined ? [] : partOf(property, { own, ...rules }) ?? []
    ),
    files: filesOf(ofModel),
    // The description of the list has the parameter `trash` only if the user sees the trash. The option `see` of the
    // trash belongs to the class, so the value is valid for the other routes of the class too.
    hasTrash: own.find(isList)?.told.parameters.some(({ name }) => name === "trash") === true,
  };
}

/**
 * Leaves out the route of `replace()` if hooks or transforms may change the entities that reads show. The form for
 * `replace()` on the admin page sends all shown values back, so it would remove a value that a hook leaves out, and
 * store a value that a hook has made, such as a masked number. The hooks of the list count as well, because React-admin
 * keeps the entities of a list, and a form that started from one of them would store the values of the hooks.
 */
function withSafeForms(own: readonly AllowedRoute[]): readonly AllowedRoute[] {
  const isChanged = own.some(({ told: { operation, hooks }, route }) =>
    (operation === "one" || operation === "all") && hooks.some((name) => name !== "preFetch") ||
    operation === "replace" && showsOtherValues(route)
  );
  return isChanged ? own.filter(({ told }) => told.operation !== "replace") : own;
}

/**
 * Whether JSON may show another value of a field than the database stores, for example by a transform of the
 * application. The admin page has no form for `replace()` in this case, because the form would store the shown value.
 */
function showsOtherValues(route: Route): boolean {
  const { schema } = buildSchema(actingLevel(route).target);
  return [...schemasWithin(schema)].some((each) =>
    Object.values(each.paths).flatMap(typesWithin).some((type) => showsOtherThanStored(type, each))
  );
}

function routesOf({ own, ...rules }: AllowedRoutes): Readonly<Record<string, PageRoute>> {
  return Object.fromEntries(own.map((each) => [each.told.operation, routeOf(each, rules)]));
}

function partOf(property: string, { own, ...rules }: AllowedRoutes): PagePart | undefined {
  const routes = own.filter(({ kind }) => kind === "operation");
  const operations: Operations = routesOf({ own: routes, ...rules });
  return operations.all === undefined ? undefined : { property, operations, files: filesOf(own) };
}

/**
 * Returns the files that an entity of one class may have, with the routes by which the admin page downloads, uploads
 * and removes each file.
 */
function filesOf(own: readonly AllowedRoute[]): PageFile[] {
  return [...Map.groupBy(own, ({ file }) => file)].flatMap(([property, routes]): PageFile[] => {
    if (property === undefined) return [];
    const { body = [], maxBytes } = routes.flatMap(({ told }) => told.bytes ?? [])
      .find((each) => each.body) ?? {};
    const accept = body.filter((type) => type !== "multipart/form-data");
    return [{
      property,
      operations: routes.map(({ told }) => told.operation as PageFile["operations"][number]),
      ...accept.length > 0 && !accept.includes("*/*") && { accept },
      ...maxBytes !== undefined && { maxBytes },
    }];
  });
}

type Rules = Omit<AllowedRoutes, "own">;

function actionOf(allowed: AllowedRoute, rules: Rules): PageAction {
  const { told: { operation, method, conditional = false }, route } = allowed;
  return {
    name: operation,
    on: route.operation.item ? "one" : "all",
    method: method === "GET" ? "GET" : "POST",
    isConditional: conditional,
    ...routeOf(allowed, rules),
  };
}

/**
 * Returns the description of a route for the JSON document of the admin page. Path parameters and most headers are left
 * out, because the page does not use them.
 */
function routeOf(
  { route, told }: AllowedRoute,
  { readable }: Rules,
): PageRoute {
  const { summary, parameters, headers, filter, body, bodySchema, answer, formats, live, writes } =
    told;
  return {
    ...summary !== undefined && { summary },
    parameters: parameters.filter((each) => each.in === "query"),
    preferences: headers.flatMap(({ preferences = [] }) => preferences),
    // The admin page sends the filter `q` only with requests for many entities, so the other routes get no list of the
    // fields that a filter may name.
    ...filter && route.operation.many && { filter: filter.fields },
    ...body && { body: fieldsOf(body, readable) },
    ...bodySchema && { bodySchema },
    answer: fieldsOf(answer, readable),
    isCsv: formats?.includes("csv") === true,
    isLive: live !== undefined,
    ...writes?.by !== undefined && { by: writes.by },
  };
}

/**
 * Leaves out the names of the classes that the user of the admin page cannot read, so that the page shows references to
 * these classes as plain identifiers.
 */
function fieldsOf(
  fields: readonly FieldDescription[],
  readable: ReadonlySet<string>,
): readonly FieldDescription[] {
  // `valueOf()` copies all properties of a field's description, including the name. Its result type declares only the
  // properties of a value, so the type of a field is asserted.
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
