import { isHookName } from "../declare/operations/operation.ts";
import { notFound } from "../errors/refusals.ts";
import type { JsonObject } from "../schema/fields/json.ts";
import type { DirectResult } from "../sources/direct/direct_collection.ts";
import type { PageRead } from "../sources/source.ts";
import { idParam } from "./request/call.ts";
import type { OpenLevel } from "./request/call.ts";
import type { Level } from "./request/route.ts";

/** What a request asks for besides what its level selects. */
export interface DirectOptions {
  readonly body?: JsonObject | undefined;
  readonly page?: PageRead | undefined;
}

/** Answers a request without documents. Returns `undefined` if a hook sees the entities, or the source needs documents. */
export async function runDirect(
  acting: OpenLevel,
  options: DirectOptions,
): Promise<DirectResult | undefined> {
  const { level, route: { operation: { item } }, source, asked: { select }, finder } = acting;
  if (hasEntityHooks(level)) return undefined;
  const id = item ? idParam(acting) : undefined;
  const asked = { select, finder, ...options };
  const result = await source.direct?.({ operation: level.operation, id, ...asked });
  if (result === null) throw notFound();
  return result;
}

/** Whether a hook of a level sees its entities. */
function hasEntityHooks({ hooks }: Level): boolean {
  return Object.entries(hooks).some(([name, hook]) =>
    hook !== undefined && name !== "preFetch" && isHookName(name)
  );
}
