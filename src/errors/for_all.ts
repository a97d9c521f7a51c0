class SeveralErrors extends TypeError {
  override readonly name = "TypeError";
  readonly #errors: readonly unknown[];

  constructor(errors: readonly unknown[]) {
    super([`Cannot start: ${errors.length} problems`, ...errors.map(messageOf)].join("\n"));
    this.#errors = errors;
  }

  static in(error: unknown): readonly unknown[] {
    return error instanceof SeveralErrors ? error.#errors : [error];
  }
}

/** Errors are thrown after the last item, so that one start reports all problems. */
export function forAll<T, R>(items: Iterable<T>, work: (item: T) => R): R[] {
  const results: R[] = [];
  // By message, because each class that refers to a wrong class repeats its error.
  const errors = new Map<string, unknown>();
  for (const item of items) {
    try {
      results.push(work(item));
    } catch (error) {
      for (const each of SeveralErrors.in(error)) {
        if (!errors.has(messageOf(each))) errors.set(messageOf(each), each);
      }
    }
  }
  const [first, ...others] = errors.values();
  if (others.length > 0) throw new SeveralErrors([first, ...others]);
  if (errors.size > 0) throw first;
  return results;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
