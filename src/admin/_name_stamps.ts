import type { Request, RequestHandler } from "express-types";
import type { SchemaType } from "mongoose";
import type { Actor } from "../declare/hooks/framework_request.ts";
import { describeModel } from "../declare/model/describe_model.ts";
import { type InnerRequest, sendInner } from "../http/inner_request.ts";
import { type ActorNames, askNames } from "../pipeline/actor_names.ts";
import { makeTimeBudget } from "../pipeline/request/request_context.ts";
import { actingLevel, type Route } from "../pipeline/request/route.ts";
import { buildSchema } from "../schema/build_schema.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import { castForQuery } from "../schema/mongoose/schemas/field_rules.ts";
import type { AdminOptions } from "./options.ts";
import type { ShownRoute } from "./_shown_routes.ts";

const MAX_IDS = 100;
const MAX_BYTES = 1_000_000;

const AT_ONCE = 4;

export function stampNames(route: Route): readonly string[] {
  const { target } = actingLevel(route);
  const stamps = [...describeModel(target).fields.values()]
    .filter(({ options }) => options.stamp !== undefined).map(({ name }) => name);
  const removal = route.features.removalFieldsOf(target);
  return removal === undefined ? stamps : [...stamps, removal.actor];
}

interface NamesOptions {
  readonly api: RequestHandler;
  readonly req: Request;
  readonly see: AdminOptions["see"];
  readonly ask: ActorNames;
}

/** A request names entities instead of users, or else anybody could ask for the names of all users. */
export async function nameStamps(
  routes: readonly ShownRoute[],
  { api, req, see, ask }: NamesOptions,
): Promise<Readonly<Record<string, string>>> {
  const { searchParams } = new URL(req.url, "http://localhost");
  const path = searchParams.get("path") ?? "";
  const shown = routes.find(({ route, description, kind }) =>
    description.operation === "one" && kind === "operation" && isListOf(path, route)
  );
  if (shown === undefined) return {};
  if (see !== undefined && await see(req, shown.description) !== true) return {};
  const ids = [...new Set(searchParams.getAll("id"))].slice(0, MAX_IDS);
  const timeBudget = makeTimeBudget(shown.route);
  const read = (id: string) =>
    actorsOf(`${path}/${encodeURIComponent(id)}`, { api, req, shown, timeBudget });
  const actors = new Map<string, Actor>();
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const found = await Promise.all(ids.slice(at, at + AT_ONCE).map(read));
    for (const actor of found.flat()) actors.set(String(actor), actor);
  }
  if (actors.size === 0) return {};
  const names = await timeBudget.wait(askNames(ask, [...actors.values()]));
  return Object.fromEntries([...names].filter(([id]) => actors.has(id)));
}

/** A path such as `/shelves/1/books` has an identifier for each parameter of the route. */
function isListOf(path: string, route: Route): boolean {
  const given = path.split("/");
  const expected = route.path.split("/").slice(0, -1);
  return given.length === expected.length && !/[?#]/.test(path) &&
    expected.every((each, index) => each.startsWith(":") || each === given[index]);
}

interface ReadOptions extends Pick<NamesOptions, "api" | "req"> {
  readonly shown: ShownRoute;
  readonly timeBudget: Required<InnerRequest>["timeBudget"];
}

/** An entity that is not found may be in the trash, so a second read looks there. */
async function actorsOf(
  url: string,
  { api, req, shown: { route, description }, timeBudget }: ReadOptions,
): Promise<readonly Actor[]> {
  const read = (query: string) =>
    sendInner(api, {
      req,
      message: { method: "GET", url: url + query, query: {}, headers: {} },
      facts: { mounted: route, timeBudget },
      maxBytes: MAX_BYTES,
    });
  const found = await read("");
  const hasTrash = description.parameters.some(({ name }) => name === "trash");
  const answer = found?.status === 404 && hasTrash ? await read("?trash=only") : found;
  const entity: unknown = answer?.status === 200 ? JSON.parse(answer.text) : undefined;
  if (!isJsonObject(entity)) return [];
  const { schema } = buildSchema(actingLevel(route).target);
  return stampNames(route).flatMap((name) => actorIn(entity[name], schema.path(name)));
}

/** A hook may show another value than the user's identifier, which then names nobody. */
function actorIn(value: unknown, type: SchemaType): readonly Actor[] {
  if (typeof value !== "string" && typeof value !== "number") return [];
  try {
    return [castForQuery(type, value) as Actor];
  } catch {
    return [];
  }
}
