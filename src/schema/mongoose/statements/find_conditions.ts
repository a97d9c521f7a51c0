import { once } from "node:events";
import type { Query } from "mongoose";

/** Returns `undefined` if middleware ends the query without a result. */
export async function findConditions(
  query: Query<unknown[], unknown>,
): Promise<Record<string, unknown> | undefined> {
  // A cursor runs the middleware when it is opened, and sends the query only when it is read.
  const [opened] = await once(query.cursor(), "cursor") as [{ close(): Promise<void> } | null];
  await opened?.close();
  return opened === null ? undefined : query.getFilter();
}
