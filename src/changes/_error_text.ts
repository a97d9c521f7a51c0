const MAX_LENGTH = 10_000;

/** The conversion of a thrown value to text may fail, but this function never throws. */
export function textOf(error: unknown): string {
  try {
    return String(error).slice(0, MAX_LENGTH);
  } catch {
    return `A value of type ${typeof error} that has no text`;
  }
}
