import { ApiError } from "@mongrove/mongrove/client";
import { HttpError } from "react-admin";
import { isSame } from "./body.ts";
import type { AnyResource, Entity } from "./page_context.ts";

type Match = { readonly ifMatch?: object };

interface Bound<T> {
  readonly resource: AnyResource;
  readonly before: Entity;
  /** The fields whose change by another client is a conflict. */
  readonly names: readonly string[];
  readonly send: (match: Match) => Promise<T>;
}

/**
 * The write is refused if the entity has changed since it was read. An embedded entity has no version, so if the route
 * requires `If-Match`, its `ETag` is read.
 */
export async function sendBound<T>({ resource, before, names, send }: Bound<T>): Promise<T> {
  try {
    return await send("__v" in before ? { ifMatch: before } : {});
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 428) throw error;
    const stored = await resource.one(String(before._id));
    if (names.every((name) => isSame(stored[name], before[name]))) {
      return await send({ ifMatch: stored });
    }
    throw new HttpError("Somebody else has changed this", 412);
  }
}
