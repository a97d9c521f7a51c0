/** What is under way, by its key. */
const lines = new Map<string, Promise<void>>();

/**
 * Runs works of one key one after the other, in this process. Works that would otherwise get in each other's way, and
 * be repeated, then succeed at once.
 */
export async function inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
  const before = lines.get(key);
  const { promise: done, resolve } = Promise.withResolvers<void>();
  lines.set(key, done);
  try {
    await before;
    return await work();
  } finally {
    resolve();
    if (lines.get(key) === done) lines.delete(key);
  }
}
