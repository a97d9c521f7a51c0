import { isOperationName, type OperationName } from "../../declare/operations/operation.ts";
import { capitalize } from "../operation_ids.ts";
import type { RouteNode } from "../route_node.ts";

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

/** `MovieTheatre` becomes `movie theatre`. */
function wordsIn(name: string): string {
  const parted = name
    .replaceAll(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2");
  const words = parted.split(/[\s_-]+/).filter((word) => word !== "");
  return words.map((word) => /^\p{Lu}{2,}\p{N}*$/u.test(word) ? word : word.toLowerCase()).join(
    " ",
  );
}

/** Irregular plurals are not known. */
function pluralOf(noun: string): string {
  if (/[^aeiou]y$/.test(noun)) return `${noun.slice(0, -1)}ies`;
  return /(s|x|z|ch|sh)$/.test(noun) ? `${noun}es` : `${noun}s`;
}

function withArticle(noun: string): string {
  const startsLikeVowel = /^[aeiou]/i.test(noun) && !/^(u[bcklnrst][aeiou]|eu|one\b)/i.test(noun);
  return `${startsLikeVowel ? "an" : "a"} ${noun}`;
}
