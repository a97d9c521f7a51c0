import { isHookName, isOperationName } from "../declare/operations/operation.ts";
import { notFound } from "../errors/refusals.ts";
import type { DirectCall, DirectResult } from "../sources/source.ts";
import { idParam, type OpenLevel, separatorOf } from "./request/call.ts";
import { isMinimal } from "./request/preferences.ts";
import type { Level } from "./request/route.ts";

/** Answers a request without documents. Returns `undefined` if a hook sees the entities, or the source needs documents. */
export async function runDirect(
  acting: OpenLevel,
  options: Omit<DirectCall, "operation" | "id">,
): Promise<DirectResult | undefined> {
  const { level, route: { operation: { item } }, source, asked: { select, match }, finder } =
    acting;
  const { operation } = level;
  if (!isOperationName(operation)) return undefined;
  if (hasEntityHooks(level) || needsVersion(acting) || isReadFirst(acting)) return undefined;
  const id = item ? idParam(acting) : undefined;
  const asked = {
    ...{ select, finder, reserved: acting.opened.key?.ids },
    ...{ minimal: isMinimal(acting), separator: separatorOf(acting), ...options },
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

export function hasEntityHooks({ hooks }: Level): boolean {
  return Object.entries(hooks).some(([name, hook]) =>
    hook !== undefined && name !== "preFetch" && isHookName(name)
  );
}
