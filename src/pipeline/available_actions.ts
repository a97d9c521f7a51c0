import type { ActionRecord } from "../declare/operations/action.ts";
import { runHook } from "../declare/hooks/run_hook.ts";
import { notAvailableNow } from "../errors/refusals.ts";
import { RestError } from "../errors/rest_error.ts";
import { fetchOne } from "./fetch.ts";
import { NO_PIECES } from "./pieces.ts";
import { wordsOfParameters } from "./plugins/operation_names.ts";
import { pathOf } from "./request/response.ts";
import type { OpenLevelContext } from "./request/request_context.ts";
import type { Level } from "./request/route.ts";

export function checkAvailable(
  context: OpenLevelContext,
  { action, entity }: { readonly action: ActionRecord; readonly entity: object },
): void {
  if (!isAvailable(context, { action, entity })) throw notAvailableNow(context.level.operation);
}

function isAvailable(
  { req, level: { operation, target } }: OpenLevelContext,
  { action, entity }: { readonly action: ActionRecord; readonly entity: object },
): boolean {
  const available = action.available as ((...args: unknown[]) => unknown) | undefined;
  const result = available === undefined || runHook("available", () => available(req, entity));
  if (typeof result === "boolean") return result;
  throw new TypeError(
    `Cannot use the result of "available" of ${operation}() of "${target.name}": it is neither true nor false`,
  );
}

/** Each action reads the entity again, because `available` also gets fields that the reader does not see. */
export async function actionLinks(
  context: OpenLevelContext,
  actions: readonly Level[],
): Promise<Readonly<Record<string, string>>> {
  // With a parameter such as `trash`, the entity is a removed one, on which no action can run.
  if (wordsOfParameters(context).length > 0) return {};
  const links: string[] = [];
  const path = pathOf(context.req).replace(/[<>"\s]/g, encodeURIComponent);
  for (const { operation, action, hooks, traits } of actions) {
    const level: Level = { ...context.level, operation, hooks, traits };
    const acting: OpenLevelContext = { ...context, level, pieces: NO_PIECES };
    if (action === undefined || !await isOffered(acting, action)) continue;
    links.push(`<${path}/${operation}>; rel="action"`);
  }
  return links.length === 0 ? {} : { Link: links.join(", ") };
}

async function isOffered(context: OpenLevelContext, action: ActionRecord): Promise<boolean> {
  if (action.available === undefined) return true;
  try {
    const { passed } = await fetchOne(context);
    return isAvailable(context, { action, entity: passed });
  } catch (error) {
    // No link is shown if the hooks of the action refuse the entity, or it has been removed.
    if (error instanceof RestError) return false;
    throw error;
  }
}
