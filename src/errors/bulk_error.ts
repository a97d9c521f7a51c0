/** What went wrong with some entities of a request that writes many, by their places in its body. */
export class BulkError extends Error {
  constructor(readonly errors: ReadonlyMap<number, unknown>) {
    const [first] = errors.values();
    super(`${errors.size} of many entities cannot be written`, { cause: first });
  }
}
