import { isOperationName } from "../declare/operations/operation.ts";
import { notFound } from "../errors/refusals.ts";
import { entityHook } from "../sources/plan_read.ts";
import type { DirectCall, DirectResult } from "../sources/source.ts";
import { idParam, type OpenLevelContext } from "./request/call.ts";
import { isMinimal } from "./request/preferences.ts";

/** Writes without documents. Returns `undefined` if a hook uses the entities, or if the source needs documents. */
export async function runDirect(
  context: OpenLevelContext,
  options: Omit<DirectCall, "operation" | "id">,
): Promise<DirectResult | undefined> {
  const { level, route: { operation: { item } }, source, params: { match } } = context;
  const { key } = context.cache;
  const { operation } = level;
  if (!isOperationName(operation)) return undefined;
  if (entityHook(level.hooks) !== undefined || needsVersion(context) || isReadFirst(context)) {
    return undefined;
  }
  const id = item ? idParam(context) : undefined;
  const request = {
    reserved: key?.ids,
    key,
    minimal: isMinimal(context),
    ...options,
  };
  const result = await source.direct?.({ operation, id, ...request });
  if (result !== null) return result;
  // A write through documents distinguishes a removed entity from a changed one.
  if (match !== undefined) return undefined;
  throw notFound();
}

/** Whether a write must be refused because its request names no version. */
function needsVersion(
  { level: { concurrency }, route: { operation }, params }: OpenLevelContext,
): boolean {
  return concurrency === "required" && params.match === undefined && operation.item &&
    operation.change !== undefined;
}

/**
 * Whether an entity must be read before a write, because `If-Match` stands for an entity without a version or for a
 * document that the path alone does not identify.
 */
function isReadFirst({ route: { operation }, params: { match } }: OpenLevelContext): boolean {
  return Array.isArray(match) &&
    match.some(({ version, parentId }) =>
      parentId !== undefined || (version === null && operation.change !== "remove")
    );
}
