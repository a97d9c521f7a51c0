import type { Request, RequestHandler } from "express-types";
import type { SchemaType } from "mongoose";
import type { Actor } from "../declare/hooks/framework_request.ts";
import { describeModel } from "../declare/model/describe_model.ts";
import { PATH_PARAMETER } from "../describe/paths.ts";
import { sendInner } from "../http/inner_request.ts";
import { type ActorNames, askNames } from "../pipeline/actor_names.ts";
import { actingLevel, type Route } from "../pipeline/request/route.ts";
import { buildSchema } from "../schema/build_schema.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import { castForQuery } from "../schema/mongoose/schemas/field_rules.ts";
import type { AdminOptions } from "./options.ts";
import type { ShownRoute } from "./_shown_routes.ts";

const MAX_IDS = 100;
const MAX_BYTES = 1_000_000;

/** Returns the names of the fields in which the framework stores the sender of a write. */
export function stampsOf(route: Route): readonly string[] {
  return [...describeModel(actingLevel(route).target).fields.values()]
    .filter(({ options }) => options.stamp !== undefined).map(({ name }) => name);
}

interface NamesOptions {
  readonly api: RequestHandler;
  readonly req: Request;
  readonly see: AdminOptions["see"];
  readonly ask: ActorNames;
}

/**
 * Returns the names of the users in the stamps of entities, by their identifiers. The request names the entities, and
 * each is read as its reader reads it. A request that names the users would tell anybody who has which identifier.
 */
export async function nameStamps(
  routes: readonly ShownRoute[],
  { api, req, see, ask }: NamesOptions,
): Promise<Readonly<Record<string, string>>> {
  const { path, ids } = req.query;
  const shown = routes.find(({ base, description, kind, parts }) =>
    base === path && description.operation === "one" && kind === "operation" && parts.length === 0
  );
  if (shown === undefined || typeof ids !== "string") return {};
  if (see !== undefined && await see(req, shown.description) !== true) return {};
  const { route } = shown;
  const texts = [...new Set(ids.split(","))].slice(0, MAX_IDS);
  const { schema } = buildSchema(actingLevel(route).target);
  const actors = await Promise.all(texts.map(async (id) => {
    const url = route.path.replaceAll(PATH_PARAMETER, () => encodeURIComponent(id));
    const message = { method: "GET", url, query: {}, headers: {} };
    const facts = { mounted: route };
    const answer = await sendInner(api, { req, message, facts, maxBytes: MAX_BYTES });
    const entity: unknown = answer?.status === 200 ? JSON.parse(answer.text) : undefined;
    if (!isJsonObject(entity)) return [];
    return stampsOf(route).flatMap((name) => actorIn(entity[name], schema.path(name)));
  }));
  const found = [...new Map(actors.flat().map((id) => [String(id), id])).values()];
  if (found.length === 0) return {};
  const names = await askNames(ask, found);
  return Object.fromEntries(found.flatMap((id) => {
    const name = names.get(String(id));
    return name === undefined ? [] : [[String(id), name]];
  }));
}

/** Returns the identifier in a stamp. A hook may show another value in its place, of which nothing is returned. */
function actorIn(value: unknown, type: SchemaType): readonly Actor[] {
  if (typeof value !== "string" && typeof value !== "number") return [];
  try {
    return [castForQuery(type, value) as Actor];
  } catch {
    return [];
  }
}
