import {
  type FrameworkModel,
  type FrameworkRequest,
  getModel,
  type ModelClass,
} from "../../mod.ts";
import type { Mounted } from "./support.ts";

/** A hook that waits until `count` entities have come, so that all are read before one is written. */
export function gate(count: number): <T>(req: unknown, entity: T) => Promise<T> {
  const opened = Promise.withResolvers<void>();
  return async (_req, entity) => {
    if (--count <= 0) opened.resolve();
    await opened.promise;
    return entity;
  };
}

/** A `fetch` hook that reads without the framework. */
export function fetching<M extends FrameworkModel>(model: () => ModelClass<M>) {
  return {
    fetch: (req: FrameworkRequest<M>) => getModel(model()).findById(req.params.id) as never,
  };
}

/** An entity, `created` by Mongoose or `stored` unchanged, and the updates that race for it. */
export type Race =
  & { readonly patches: readonly object[]; readonly repeats?: boolean }
  & ({ readonly created: object } | { readonly stored: object });

/**
 * Sends updates of one entity of `/raced` at the same time. Returns the first statuses, the last answers and the final
 * entity.
 *
 * @param given With `repeats`, updates with a 409 are sent again, one after the other.
 */
export async function race<Left = Record<string, unknown>>(
  app: Mounted,
  model: ModelClass,
  given: Race,
) {
  const target = getModel(model);
  const _id = "created" in given
    ? (await target.create(given.created))._id
    : (await target.collection.insertOne({ __v: 0, ...given.stored } as never)).insertedId;
  const replies = await Promise.all(given.patches.map((body) => app.patch(`/raced/${_id}`, body)));
  const statuses = replies.map(({ status }) => status);
  for (const [index, body] of given.patches.entries()) {
    if (given.repeats !== true || statuses[index] !== 409) continue;
    replies[index] = await app.patch(`/raced/${_id}`, body);
  }
  const left = await target.collection.findOne({ _id: _id as never }) as Left;
  return { replies, statuses, left };
}
