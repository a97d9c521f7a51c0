import mongoose from "mongoose";

/** Waits until something holds, for at most ten seconds if not told otherwise. */
export async function until(
  holds: () => Promise<boolean> | boolean,
  { seconds = 10 }: { seconds?: number } = {},
): Promise<void> {
  for (let left = seconds * 40; left > 0; left--) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error("It never held");
}

/** The cursors in the database of the tests that wait for a client. */
export async function idleCursors(): Promise<unknown[]> {
  const { name } = mongoose.connection;
  const found = await mongoose.connection.getClient().db("admin").aggregate([
    { $currentOp: { idleCursors: true, allUsers: true } },
    { $match: { type: "idleCursor", ns: { $regex: `^${name}\\.` } } },
  ]).toArray();
  return found.map(({ cursor }) => cursor.cursorId);
}

/** How many cursors the server holds open. */
export async function openCursors(): Promise<number> {
  const status = await mongoose.connection.db?.admin().command({ serverStatus: 1 });
  return Number(status?.metrics.cursor.open.total);
}
