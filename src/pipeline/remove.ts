import { fetchOne, openEntities, selectEntities } from "./fetch.ts";
import { passHook } from "./pass_hooks.ts";
import { bindToVersion, checkVersion } from "./request/versions.ts";
import { collect, mapAll, mapInOrder } from "./lists/map_in_order.ts";
import { persistRemoval } from "./persist.ts";
import type { OpenLevelContext } from "./request/request_context.ts";
import type { Reply } from "./request/reply.ts";
import { passPreSave } from "./write.ts";

export async function remove(context: OpenLevelContext): Promise<Reply> {
  const fetched = await fetchOne(context);
  checkVersion(context, fetched);
  const ready = await allow(context, fetched.seen);
  await bindToVersion(context, () => persistRemoval(context, ready));
  return { status: 204 };
}

/**
 * Removes the selected entities. Every entity passes its hooks before the first removal, so a hook that refuses one
 * entity stops all removals.
 */
export async function removeMany(context: OpenLevelContext, limit: number): Promise<void> {
  const { level: { hooks }, source } = context;
  const [entities, pass] = limit === Infinity
    ? [(await openEntities(context)).list(), (entity: object) => passRemovalHooks(context, entity)]
    : [[await selectEntities(context, limit)], (entity: object) => allow(context, entity)];
  if (hooks.persist === undefined) {
    const ids = mapInOrder(entities, async (entity) => {
      const ready = await pass(entity);
      return ready && source.identify(ready);
    });
    return await source.removeMany(await collect(ids));
  }
  const allowed = await collect(mapInOrder(entities, pass));
  await mapAll(allowed, (entity) => persistRemoval(context, entity));
}

/**
 * Runs the hooks before a removal. Returns `undefined` if `postFetch` hides the entity, so that the entity is not
 * removed.
 */
async function passRemovalHooks(
  context: OpenLevelContext,
  entity: object,
): Promise<object | undefined> {
  const seen = await passHook(context, "postFetch", { entity });
  return seen && await allow(context, seen);
}

function allow(context: OpenLevelContext, entity: object): Promise<object> {
  return passPreSave(context, { entity, previous: entity });
}
