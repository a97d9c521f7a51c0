import { isOperationName, type OperationName } from "../../declare/operations/operation.ts";
import { capitalize } from "../operation_ids.ts";
import type { RouteNode } from "../route_node.ts";
import { pluralOf, withArticle, wordsIn } from "./nouns.ts";

const VERBS: Readonly<Record<OperationName, string>> = {
  all: "List",
  one: "Read",
  create: "Create",
  update: "Change",
  remove: "Remove",
  removeAll: "Remove",
  updateAll: "Change",
  replace: "Replace",
};

export function summarize(route: RouteNode): string {
  const { operation, property, isOfMany } = route;
  const verb = isOperationName(operation) ? VERBS[operation] : capitalize(wordsIn(operation));
  const ofParent = property === undefined ? "" : ` of ${withArticle(wordsIn(property.parent))}`;
  return `${verb} ${isOfMany ? pluralIn(route) : singularIn(route)}${ofParent}`;
}

function singularIn({ model, property }: RouteNode): string {
  return property?.isSingle ? `the ${wordsIn(property.name)}` : withArticle(wordsIn(model));
}

/** Uses the last segment of the path if it looks like a plural of the class name. */
function pluralIn(route: RouteNode): string {
  const { model, property } = route;
  if (property !== undefined) return wordsIn(property.name);
  const singular = wordsIn(model);
  const last = wordsIn(listPath(route).split("/").at(-1) ?? "");
  const isPlural = last.startsWith(singular.slice(0, 2)) && last !== singular &&
    Math.abs(last.length - singular.length) <= 3;
  return isPlural ? last : pluralOf(singular);
}

/** `/books/{id}` becomes `/books`. */
export function listPath({ operation, path }: RouteNode): string {
  const name = `/${operation}`;
  const isAction = !isOperationName(operation) && path.endsWith(name);
  const place = isAction ? path.slice(0, -name.length) : path;
  return place.replace(/\/\{[^/]*\}$/, "") || "/";
}
