import type { RequestHandler } from "express-types";
import type { FrameworkRequest } from "../declare/hooks/framework_request.ts";
import { badFormat, badParameter } from "../errors/refusals.ts";
import { queryOf } from "../filter/query_string.ts";
import type { ParameterForms } from "../pipeline/given_request.ts";
import { markBodyParameters } from "../pipeline/request/link_url.ts";
import { MEDIA_TYPES } from "../pipeline/request/media_types.ts";
import { rightsOf } from "../pipeline/request/reader_rights.ts";
import { actingLevel, type Route } from "../pipeline/request/route.ts";
import { findPath, type JsonObject } from "../schema/fields/json.ts";
import { isInexact } from "../schema/fields/json_numbers.ts";
import { readBody } from "../write/body/read_body.ts";

export function queryRouteOf(route: Route): Route {
  const acting = actingLevel(route);
  const options = acting.options.declared.withoutTakeOver().under(acting.shape);
  const levels = [...route.levels.slice(0, -1), { ...acting, options }];
  return { ...route, levels, rights: rightsOf(levels) };
}

export const announceQuery: RequestHandler = (_req, res, next) => {
  res.setHeader("Accept-Query", MEDIA_TYPES.json);
  next();
};

export function readAsGet(req: FrameworkRequest, forms: ParameterForms): unknown {
  const given = queryOf(req.url);
  req.method = "GET";
  markBodyParameters(req);
  try {
    if (given !== "") throw badFormat("The parameters belong to the body, and not to the URL");
    const parameters = parametersOf(readBody(req, UNLIMITED), forms);
    if (parameters.size > 0) req.url = `${req.url.replace(/\?$/, "")}?${parameters}`;
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Each parameter in the body has its own limits, as in a URL, so the body has none. */
const UNLIMITED = { maxKeys: Infinity, maxElements: Infinity, maxObjects: Infinity };

function parametersOf(body: JsonObject, forms: ParameterForms): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(body)) {
    for (const text of textsOf(value, { name, form: forms.get(name) })) {
      // `URLSearchParams` would replace half of a surrogate pair, and change the parameter.
      if (!`${name}${text}`.isWellFormed()) throw badParameter(name, "well-formed text");
      parameters.append(name, text);
    }
  }
  return parameters;
}

function textsOf(
  value: unknown,
  { name, form }: { readonly name: string; readonly form: "one" | "list" | undefined },
): readonly string[] {
  if (typeof value === "string") return [value];
  if (name === "q") return [filterText(value)];
  if (typeof value === "number" || typeof value === "boolean") return [String(value)];
  if (Array.isArray(value) && form !== "one" && value.every((each) => typeof each === "string")) {
    return value.length > 0 && form === "list" ? [value.join()] : value;
  }
  throw badParameter(name, form === "list" ? "a list of texts" : "one value");
}

/** Refuses a number that the JSON parser has rounded, because the filter would select other entities. */
function filterText(filter: unknown): string {
  if (findPath(filter, (value) => typeof value === "number" && isInexact(value)) !== undefined) {
    throw badFormat(
      `Parameter "q" has a number that JavaScript does not hold exactly: write it as text, ` +
        `in the form {"$numberLong":"9007199254740993"}`,
    );
  }
  return JSON.stringify(filter);
}
