import { forbidden, notFound } from "../errors/refusals.ts";
import type { Source } from "../sources/source.ts";
import { runHook } from "../declare/hooks/run_hook.ts";
import type { Call } from "./request/call.ts";
import { entityName, fetchEntities, fetchOne } from "./fetch.ts";
import { hasEntityHooks, passHook } from "./guard.ts";
import { Doomed } from "./lists/doomed.ts";
import type { Held } from "./lists/doomed.ts";
import { keep } from "./lists/keep.ts";
import type { Reply } from "./request/reply.ts";

const DONE: Reply = { status: 204 };

/** Removes one entity, or all that are selected. */
export async function erase(call: Call, source: Source): Promise<Reply> {
  if (!call.route.operation.many) {
    const removed = hasEntityHooks(call.acting.level)
      ? undefined
      : await source.removeById?.(entityName(call, call.acting));
    if (removed === false) throw notFound();
    if (removed === true) return DONE;
    const { seen: entity } = await fetchOne(call, call.acting, source);
    await eraseOne(call, source, await allow(call, entity));
    return DONE;
  }
  if (!hasEntityHooks(call.acting.level)) await source.removeSelected();
  else await eraseSeen(call, source);
  return DONE;
}

/** Every entity passes its hooks before the first one is removed: one refusal, and nothing is. */
async function eraseSeen(call: Call, source: Source): Promise<void> {
  const { persist } = call.acting.level.hooks;
  const holds = persist === undefined ? undefined : new Doomed(call, source);
  const allowed = keep(fetchEntities(call, call.acting, source), async (entity) => {
    const image = holds?.imageOf(entity);
    const seen = await passHook(call, "postFetch", entity);
    if (seen === undefined) return undefined;
    const ready = await allow(call, seen);
    return holds === undefined ? source.identify(ready) : holds.hold(ready, image);
  });
  const doomed: unknown[] = [];
  for await (const some of allowed) doomed.push(...some);
  if (holds === undefined) return await source.removeMany(doomed);
  for await (
    const _done of keep(
      holds.entities(doomed as Held[]),
      (entity) => eraseOne(call, source, entity),
    )
  ) { /* none is kept */ }
}

async function allow(call: Call, entity: object): Promise<object> {
  const ready = await passHook(call, "preSave", entity, { previous: entity });
  if (ready === undefined) throw forbidden();
  return ready;
}

async function eraseOne(call: Call, source: Source, entity: object): Promise<undefined> {
  const { persist } = call.acting.level.hooks;
  if (persist === undefined) await source.remove(entity);
  else {
    const work = runHook("persist", () => persist(call.req, entity, entity), entity);
    await call.patience.wait(Promise.resolve(work));
  }
  return undefined;
}
