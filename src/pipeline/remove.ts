import { fetchOne, openEntities, selectEntities } from "./fetch.ts";
import { passHook } from "./pass_hooks.ts";
import { bindToVersion, checkVersion } from "./request/versions.ts";
import { collect, mapAll, mapInOrder } from "./lists/map_in_order.ts";
import { persistRemoval } from "./persist.ts";
import type { OpenLevel } from "./request/call.ts";
import type { Reply } from "./request/reply.ts";
import { passPreSave } from "./write.ts";

export async function remove(acting: OpenLevel): Promise<Reply> {
  const fetched = await fetchOne(acting);
  checkVersion(acting, fetched);
  const ready = await allow(acting, fetched.seen);
  await bindToVersion(acting, () => persistRemoval(acting, ready));
  return { status: 204 };
}

/** Every entity passes its hooks before the first one is removed: if one is refused, none is removed. */
export async function removeMany(acting: OpenLevel, limit: number): Promise<void> {
  const { level: { hooks }, source } = acting;
  const [entities, pass] = limit === Infinity
    ? [(await openEntities(acting)).list(), (entity: object) => passRemovalHooks(acting, entity)]
    : [[await selectEntities(acting, limit)], (entity: object) => allow(acting, entity)];
  if (hooks.persist === undefined) {
    const ids = mapInOrder(entities, async (entity) => {
      const ready = await pass(entity);
      return ready && source.identify(ready);
    });
    return await source.removeMany(await collect(ids));
  }
  const allowed = await collect(mapInOrder(entities, pass));
  await mapAll(allowed, (entity) => persistRemoval(acting, entity));
}

/** Runs the hooks before a removal; gives `undefined` where they hide the entity. */
async function passRemovalHooks(acting: OpenLevel, entity: object): Promise<object | undefined> {
  const seen = await passHook(acting, "postFetch", { entity });
  return seen && await allow(acting, seen);
}

function allow(acting: OpenLevel, entity: object): Promise<object> {
  return passPreSave(acting, { entity, previous: entity });
}
