import { leftOutBy } from "../declare/hooks/named_fields.ts";
import type { Problems } from "../errors/refusals.ts";
import { staleVersion } from "./failures.ts";
import { hasOneOf } from "../filter/filters.ts";
import { readProjection, showsWhole, unshownFields } from "../filter/projection.ts";
import { wholeToJson } from "../json/to_json.ts";
import { isJsonObject, type JsonObject } from "../schema/fields/json.ts";
import type { Shape } from "../schema/fields/shape.ts";
import type { Version } from "../schema/fields/system_fields.ts";
import { checkStrictBody, type StrictPlace } from "../write/body/strict_body.ts";
import type { LevelContext, OpenLevelContext } from "./request/request_context.ts";

/** Some problems depend on the stored entity, so a single statement writes only bodies without any problem. */
export function passesUnread(context: LevelContext, body: JsonObject): boolean {
  if (!context.route.strict.bodies) return true;
  // Whether a PUT creates the entity, whose immutable fields it then sets, is not known yet.
  const { problems } = checkStrictBody(body, placeOf(context, false));
  return Object.keys(problems).length === 0;
}

/** The body may repeat the stored value of a field that the client cannot set. An old version in it is a 409. */
export function strictProblems(
  context: LevelContext,
  { body, passed }: { readonly body: JsonObject; readonly passed?: object | undefined },
): Problems {
  if (!context.route.strict.bodies) return {};
  const place = placeOf(context, passed === undefined);
  const { problems, needsStored } = checkStrictBody(body, place);
  if (!needsStored) return problems;
  // A PUT that creates an entity has no stored version, so any version is out of date.
  const replaces = context.level.traits.change === "replace";
  const stored = passed === undefined ? replaces ? {} : undefined : jsonOf(passed, context);
  if (stored === undefined) return problems;
  const verdict = checkStrictBody(body, { ...place, stored });
  if (verdict.isStale) throw staleVersion();
  return verdict.problems;
}

/**
 * A strict body may repeat stored values of fields that it cannot set. The stored entity is not read here, so this is
 * no problem, except for `keys`.
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

/** The body of an action is no entity, so it cannot repeat stored values. */
export function strictActionProblems(
  { route }: LevelContext,
  { body, shape }: { readonly body: JsonObject; readonly shape: Shape },
): Problems {
  if (!route.strict.bodies) return {};
  return checkStrictBody(body, { shape, isEmbedded: false, isNew: true }).problems;
}

/** The version in a strict body is a condition of the write. */
export function boundToBody(context: OpenLevelContext, body: JsonObject): OpenLevelContext {
  const { level: { versionKey, link }, route, source, match } = context;
  const isBound = Array.isArray(match) || !route.strict.bodies || link?.embedded === true;
  if (isBound || versionKey === undefined || !Object.hasOwn(body, versionKey)) return context;
  const version = hasOneOf(versionKey, [body[versionKey] as Version]);
  return { ...context, source: source.boundTo({ isFirst: true, version }) };
}

function placeOf(
  { level: { shape, link, writes, traits } }: LevelContext,
  isAbsent = true,
): StrictPlace {
  const isReplace = traits.change === "replace";
  const isNew = traits.origin === "new" || isReplace && isAbsent;
  const isEmbedded = link?.embedded === true;
  return { shape, isEmbedded, isNew, ...isReplace && { key: writes?.by } };
}

/** Leaves out hidden fields, because a client could guess their values until it gets no error. */
function jsonOf(passed: object, { level: { shape, hooks, versionKey }, state }: LevelContext) {
  const text = wholeToJson(passed, { shape, unshown: unshownFields({}, shape) });
  const json: unknown = JSON.parse(text);
  const projection = readProjection(state.projection, shape);
  const leftOut = leftOutBy(hooks.preSend);
  const isShown = (name: string) =>
    name === "_id" || name === versionKey ||
    !leftOut.includes(name) && (!shape.fields.has(name) || showsWhole(name, projection));
  const entries = isJsonObject(json) ? Object.entries(json) : [];
  return Object.fromEntries(entries.filter(([name]) => isShown(name)));
}
