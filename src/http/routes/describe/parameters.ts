import { declaredNames } from "../../../filter/parameters/parse_read.ts";
import type { ReadRules } from "../../../filter/parameters/read_rules.ts";
import { actingLevel } from "../../../pipeline/request/route.ts";
import type { Route } from "../../../pipeline/request/route.ts";
import type { HeaderDescription, ParameterDescription } from "./description.ts";

export function describeParameters({ path, operation, levels }: Route): ParameterDescription[] {
  const inPath = pathParameters(path).map((
    name,
  ) => ({ name, in: "path", required: true } as const));
  const q = operation.origin === "new" ? [] : ["q"];
  const reads = levels.at(-1)?.reads ?? {};
  const known = declaredNames(reads);
  const declared = new Set([...q, ...known, ...levels.flatMap(({ parameters }) => parameters)]);
  const inQuery = [...declared].map((name) => ({
    ...{ name, in: "query", required: false } as const,
    ...detailsOf(name, reads),
  }));
  return [...inPath, ...inQuery];
}

/** What is known of the values of a parameter. */
function detailsOf(
  name: string,
  { page, sort, select, populate }: ReadRules,
): Pick<ParameterDescription, "fields" | "default" | "maximum"> {
  if (name === "limit" && page) return { default: page.size, maximum: page.max };
  if (name === "sort" && sort) return { fields: ["_id", ...sort] };
  if (name === "select" && select) return { fields: ["_id", ...select] };
  return name === "populate" && populate ? { fields: [...populate.keys()] } : {};
}

export function describeHeaders(route: Route): HeaderDescription[] {
  const { concurrency, reads, operation } = actingLevel(route);
  switch (operation) {
    case "one":
      return [{ name: "If-None-Match", required: false }];
    case "update":
    case "remove":
      return [{ name: "If-Match", required: concurrency === "required" }];
    default:
      return [
        ...operation === "all" ? [{ name: "If-None-Match", required: false } as const] : [],
        ...reads?.count?.always === false ? [{ name: "Prefer", required: false } as const] : [],
      ];
  }
}

/** A parameter of a path, as Express reads it: a name, which may be in quotes. */
export const PATH_PARAMETER =
  /:(?:([\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*)|"([^"\\{}/]+)")/gu;

export function pathParameters(path: string): string[] {
  return [...path.matchAll(PATH_PARAMETER)].map(([, name, quoted = ""]) => name ?? quoted);
}
