import { type Problems, staleVersion } from "../errors/refusals.ts";
import { hasOneOf } from "../filter/filters.ts";
import { unshownFields } from "../filter/projection.ts";
import { wholeToJson } from "../json/to_json.ts";
import { isJsonObject, type JsonObject } from "../schema/fields/json.ts";
import type { Shape } from "../schema/fields/shape.ts";
import type { Version } from "../schema/fields/system_fields.ts";
import { checkStrictBody, type StrictPlace } from "../write/body/strict_body.ts";
import type { LevelContext, OpenLevelContext } from "./request/request_context.ts";

/** Whether a body may be written without the stored entity. Any body may, unless bodies are strict. */
export function passesUnread(context: LevelContext, body: JsonObject): boolean {
  if (context.route.bodies !== "strict") return true;
  const { problems } = checkStrictBody(body, placeOf(context));
  return Object.keys(problems).length === 0;
}

/**
 * Returns the problems of a strict body. The keys that the caller cannot set are compared with the entity as its reader
 * sees it. Throws a 409 if the body has another version than the entity. Returns no problems if bodies are not strict.
 */
export function strictProblems(
  context: LevelContext,
  { body, seen }: { readonly body: JsonObject; readonly seen?: object | undefined },
): Problems {
  if (context.route.bodies !== "strict") return {};
  const place = placeOf(context);
  const { problems, needsStored } = checkStrictBody(body, place);
  if (!needsStored) return problems;
  // A replacement that creates its entity has no stored version, so each version in its body is stale.
  const replaces = context.level.kind.change === "replace";
  const stored = seen === undefined ? replaces ? {} : undefined : jsonOf(seen, place.shape);
  if (stored === undefined) return problems;
  const verdict = checkStrictBody(body, { ...place, stored });
  if (verdict.isStale) throw staleVersion();
  return verdict.problems;
}

/**
 * Returns the problems of a strict body that no stored entity can change. A key that the caller cannot set is a problem
 * only if the operation does not take the key, because the stored entity may have its value.
 */
export function certainProblems(
  context: LevelContext,
  { body, keys }: { readonly body: JsonObject; readonly keys: readonly string[] },
): Problems {
  const problems = Object.entries(strictProblems(context, { body }));
  return Object.fromEntries(
    problems.filter(([path, { kind }]) => kind !== "readonly" || keys.includes(path)),
  );
}

/** Returns the problems of the strict body of an action, which belongs to no stored entity. */
export function strictActionProblems(
  { route }: LevelContext,
  { body, shape }: { readonly body: JsonObject; readonly shape: Shape },
): Problems {
  if (route.bodies !== "strict") return {};
  return checkStrictBody(body, { shape, isEmbedded: false }).problems;
}

/**
 * Returns the context of a write whose strict body has a version. The write is bound to this version, so that a change
 * between the read and the write is a 409.
 */
export function boundToBody(context: OpenLevelContext, body: JsonObject): OpenLevelContext {
  const { level: { versionKey, link }, route, source, match } = context;
  const isBound = Array.isArray(match) || route.bodies !== "strict" || link?.embedded === true;
  if (isBound || versionKey === undefined || !Object.hasOwn(body, versionKey)) return context;
  const version = hasOneOf(versionKey, [body[versionKey] as Version]);
  return { ...context, source: source.boundTo({ isFirst: true, version }) };
}

function placeOf({ level: { shape, link, writes, kind } }: LevelContext): StrictPlace {
  const isReplace = kind.change === "replace";
  return { shape, isEmbedded: link?.embedded === true, ...isReplace && { key: writes?.by } };
}

function jsonOf(seen: object, shape: Shape): JsonObject {
  const text = wholeToJson(seen, { shape, unshown: unshownFields({}, shape) });
  const json: unknown = JSON.parse(text);
  return isJsonObject(json) ? json : {};
}
