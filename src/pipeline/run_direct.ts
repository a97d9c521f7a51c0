import { isOperationName } from "../declare/operations/operation.ts";
import { notFound } from "../errors/refusals.ts";
import { entityHook } from "../sources/plan_read.ts";
import type { DirectCall, DirectResult } from "../sources/source.ts";
import { idParam, type OpenLevel } from "./request/call.ts";
import { isMinimal } from "./request/preferences.ts";

/** Writes without documents. Returns `undefined` if a hook sees the entities, or the source needs documents. */
export async function runDirect(
  acting: OpenLevel,
  options: Omit<DirectCall, "operation" | "id">,
): Promise<DirectResult | undefined> {
  const { level, route: { operation: { item } }, source, asked: { match } } = acting;
  const { key } = acting.opened;
  const { operation } = level;
  if (!isOperationName(operation)) return undefined;
  if (entityHook(level.hooks) !== undefined || needsVersion(acting) || isReadFirst(acting)) {
    return undefined;
  }
  const id = item ? idParam(acting) : undefined;
  const asked = {
    reserved: key?.ids,
    key,
    minimal: isMinimal(acting),
    ...options,
  };
  const result = await source.direct?.({ operation, id, ...asked });
  if (result !== null) return result;
  // With documents, an entity that is gone is told from one that has changed.
  if (match !== undefined) return undefined;
  throw notFound();
}

/** Whether a write has to be refused because it does not say which version it changes. */
function needsVersion({ level: { concurrency }, route: { operation }, asked }: OpenLevel): boolean {
  return concurrency === "required" && asked.match === undefined && operation.item &&
    operation.change !== undefined;
}

/** Whether a write is bound to an entity without a version, or to one that its path does not name: both are read first. */
function isReadFirst({ route: { operation }, asked: { match } }: OpenLevel): boolean {
  return Array.isArray(match) &&
    match.some(({ version, holder }) =>
      holder !== undefined || (version === null && operation.change !== "remove")
    );
}
