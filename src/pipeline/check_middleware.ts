import { unsentQueries } from "../schema/model_hints.ts";
import { cannotMount } from "./option_reader.ts";
import type { Level } from "./request/route.ts";

const OF_MANY = ["updateMany", "deleteMany"];

/**
 * `updateAll()` and `removeAll()` would bypass middleware of `updateMany()` and `deleteMany()`, so such a model is
 * refused.
 */
export function checkMiddleware(
  { target, link, operation }: Pick<Level, "target" | "link" | "operation">,
): void {
  if (link?.embedded || operation !== "updateAll" && operation !== "removeAll") return;
  const name = unsentQueries(target).find((each) => OF_MANY.includes(each));
  if (name === undefined) return;
  throw cannotMount(
    target,
    `its middleware of ${name}() would not bind ${operation}(): use hooks, a scope, or middleware of documents`,
  );
}
