import { badFormat } from "../../errors/refusals.ts";
import { declaredNames } from "../../filter/parameters/parse_read.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import type { Call } from "./call.ts";
import { actingLevel } from "./route.ts";

/**
 * Refuses query parameters that nothing declares: always for `removeAll()`, where a filter with a wrong name would remove
 * everything, and for every operation of a strict route. `removeAll()` takes no filter from a body either.
 *
 * @throws {RestError} 400 that names the parameter.
 */
export function checkParameters({ route, req, levels }: Call): void {
  const { operation, parameters } = route;
  const removesMany = operation.many && operation.change === "remove";
  if (!removesMany && parameters !== "strict") return;
  const known = new Set<string>(levels.flatMap(({ level }) => level.parameters));
  for (const name of declaredNames(actingLevel(route).reads ?? {})) known.add(name);
  if (operation.origin !== "new") known.add("q");
  const start = req.url.indexOf("?");
  const query = start === -1 ? "" : req.url.slice(start + 1);
  for (const parameter of new URLSearchParams(query).keys()) {
    if (known.has(parameter)) continue;
    throw badFormat(`Parameter "${parameter}" is not allowed`, { parameter });
  }
  if (removesMany && hasBody(req)) {
    throw badFormat(`A body is not allowed: parameter "q" selects what to remove`);
  }
}

/** An empty object is no body: some clients send it with every request. */
function hasBody({ body, headers }: Call["req"]): boolean {
  if (isJsonObject(body)) return Object.keys(body).length > 0;
  const length = headers["content-length"] ?? "0";
  return body !== undefined || length !== "0" || headers["transfer-encoding"] !== undefined;
}
