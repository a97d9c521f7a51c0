import mongoose from "mongoose";

/** Waits for a minute by default, and on a busy machine for three times as long, also for one look that never ends. */
export async function until(
  holds: () => Promise<boolean> | boolean,
  { seconds = 60, everyMs = 25 }: { seconds?: number; everyMs?: number } = {},
): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("It did not hold in time")), 3000 * seconds);
  });
  late.catch(() => {});
  try {
    for (let left = seconds * 1000 / everyMs; left > 0; left--) {
      if (await Promise.race([holds(), late])) return;
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  } finally {
    clearTimeout(timer);
  }
  throw new Error("It never held");
}

/** The server refuses an operation while an index is built. */
const BUILDING = 12587;

/** Waits until the server builds no index of the collection. */
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

/** In the database of the tests. Idle cursors wait for a client. */
export async function idleCursors(): Promise<unknown[]> {
  return (await cursors()).filter(({ type }) => type === "idleCursor").map(({ id }) => id);
}

/** Other test files have cursors in other databases. */
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
