import { isOperationName } from "../declare/operations/operation.ts";
import { notFound } from "../errors/refusals.ts";
import { entityHook } from "../sources/plan_read.ts";
import type { DirectCall, DirectResult } from "../sources/source.ts";
import { idParam, type OpenLevelContext } from "./request/call.ts";
import { isMinimal } from "./request/preferences.ts";

/** Writes without documents. Returns `undefined` if a hook sees the entities, or the source needs documents. */
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
  // With documents, an entity that is gone is told from one that has changed.
  if (match !== undefined) return undefined;
  throw notFound();
}

/** Whether a write has to be refused because it does not say which version it changes. */
function needsVersion(
  { level: { concurrency }, route: { operation }, params }: OpenLevelContext,
): boolean {
  return concurrency === "required" && params.match === undefined && operation.item &&
    operation.change !== undefined;
}

/** Whether a write is bound to an entity without a version, or to one that its path does not name: both are read first. */
function isReadFirst({ route: { operation }, params: { match } }: OpenLevelContext): boolean {
  return Array.isArray(match) &&
    match.some(({ version, parentId }) =>
      parentId !== undefined || (version === null && operation.change !== "remove")
    );
}
