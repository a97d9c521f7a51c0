/** How many entities of a list are with the hooks at a time. */
const WINDOW = 32;

/**
 * Maps entities through hooks, several at a time, in order, and leaves out what becomes `undefined`.
 *
 * The first failure, in order, ends it; what is still under way is let go.
 */
export async function* keep<T, R>(
  entities: AsyncIterable<T> | Iterable<T>,
  map: (entity: T) => Promise<R | undefined>,
): AsyncGenerator<R> {
  const pending: Promise<R | undefined>[] = [];
  for await (const entity of entities) {
    const result = map(entity);
    result.catch(() => {});
    pending.push(result);
    if (pending.length < WINDOW) continue;
    const value = await pending.shift();
    if (value !== undefined) yield value;
  }
  for (const result of pending) {
    const value = await result;
    if (value !== undefined) yield value;
  }
}
