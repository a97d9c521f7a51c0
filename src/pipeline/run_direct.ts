import { isHookName } from "../declare/operations/operation.ts";
import { notFound } from "../errors/refusals.ts";
import type { JsonObject } from "../schema/fields/json.ts";
import { idParam } from "./request/call.ts";
import type { OpenLevel } from "./request/call.ts";
import type { Reply } from "./request/reply.ts";
import type { Level } from "./request/route.ts";

/** Answers a request without documents. Returns `undefined` if a hook sees the entities, or the source needs documents. */
export async function runDirect(
  acting: OpenLevel,
  body: JsonObject | undefined,
): Promise<Reply | undefined> {
  const { level, route: { operation: { item, status } }, source } = acting;
  if (hasEntityHooks(level)) return undefined;
  const id = item ? idParam(acting) : undefined;
  const result = await source.direct?.({ operation: level.operation, id, body });
  if (result === null) throw notFound();
  return result && { status, ...result };
}

/** Whether a hook of a level sees its entities. */
function hasEntityHooks({ hooks }: Level): boolean {
  return Object.entries(hooks).some(([name, hook]) =>
    hook !== undefined && name !== "preFetch" && isHookName(name)
  );
}
