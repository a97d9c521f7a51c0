import { markConditions } from "../filter/filters.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import { unchangedSinceHooks } from "../write/update_conditions.ts";
import { bindToVersion } from "./failures.ts";
import { passPostFetch, prepareEntitiesRead, selectEntities } from "./fetch.ts";
import { writeFetched } from "./asked_hook.ts";
import { checkVersion } from "./request/versions.ts";
import { collect, mapAll, mapInOrder } from "../sources/lists/map_in_order.ts";
import { persistRemoval } from "./persist.ts";
import type { OpenLevelContext } from "./request/request_context.ts";
import type { TextAnswer } from "./request/answer.ts";
import { passPreSave } from "./write.ts";

export async function performRemoval(context: OpenLevelContext): Promise<TextAnswer> {
  return await writeFetched(context, async (fetched) => {
    checkVersion(context, fetched);
    const ready = await allow(context, fetched.passed);
    await bindToVersion(context, () => persistRemoval(context, ready));
    return { kind: "text", status: 204 };
  });
}

/** A refused entity prevents all removals, so all pass their hooks first. */
export async function removeMany(context: OpenLevelContext, limit: number): Promise<number> {
  const { level: { hooks }, source } = context;
  const [entities, pass] = limit === Infinity
    ? [
      (await prepareEntitiesRead(context)).list(),
      (entity: object) => passRemovalHooks(context, entity),
    ]
    : [[await selectEntities(context, limit)], (entity: object) => allow(context, entity)];
  if (hooks.persist === undefined) {
    const removals = await collect(mapInOrder(entities, async (entity) => {
      const ready = await pass(entity);
      if (ready === undefined) return undefined;
      const unchanged = isDocument(ready) ? markConditions(unchangedSinceHooks(ready)) : {};
      return { id: source.identify(ready), unchanged };
    }));
    return await source.removeMany(
      removals.map(({ id }) => id),
      removals.map(({ unchanged }) => unchanged),
    );
  }
  const allowed = await collect(mapInOrder(entities, pass));
  await mapAll(allowed, (entity) => persistRemoval(context, entity));
  return allowed.length;
}

async function passRemovalHooks(
  context: OpenLevelContext,
  entity: object,
): Promise<object | undefined> {
  const passed = await passPostFetch(context, entity);
  return passed && await allow(context, passed);
}

function allow(context: OpenLevelContext, entity: object): Promise<object> {
  return passPreSave(context, { entity, previous: entity });
}
