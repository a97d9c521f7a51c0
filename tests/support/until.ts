import mongoose from "mongoose";

/** Waits until something holds, for at most a minute if not told otherwise. */
export async function until(
  holds: () => Promise<boolean> | boolean,
  { seconds = 60, everyMs = 25 }: { seconds?: number; everyMs?: number } = {},
): Promise<void> {
  for (let left = seconds * 1000 / everyMs; left > 0; left--) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  throw new Error("It never held");
}

/** The server's code for an operation that it refuses while an index of the collection is built. */
const BUILDING = 12587;

/** Changes a collection when the server builds no index of it. */
export async function whenIndexed(change: () => Promise<unknown> | undefined): Promise<void> {
  await until(async () => {
    try {
      await change();
      return true;
    } catch (error) {
      if (Object(error).code === BUILDING) return false;
      throw error;
    }
  });
}

/** The cursors in the database of the tests that wait for a client. */
export async function idleCursors(): Promise<unknown[]> {
  return (await cursors()).filter(({ type }) => type === "idleCursor").map(({ id }) => id);
}

/** How many cursors the database of the tests holds open. Test files that run beside have theirs in others. */
export async function openCursors(): Promise<number> {
  return new Set((await cursors()).map(({ id }) => String(id))).size;
}

async function cursors(): Promise<{ type: unknown; id: unknown }[]> {
  const { name } = mongoose.connection;
  const found = await mongoose.connection.getClient().db("admin").aggregate([
    { $currentOp: { idleCursors: true, allUsers: true } },
    { $match: { "cursor.cursorId": { $exists: true }, ns: { $regex: `^${name}\\.` } } },
  ]).toArray();
  return found.map(({ type, cursor }) => ({ type, id: cursor.cursorId }));
}
