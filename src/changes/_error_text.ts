/** The maximum number of characters of an error in a dead letter. */
const MAX_LENGTH = 10_000;

/**
 * Returns a thrown value as text, for a dead letter or the log. If the conversion to text fails, the text names only
 * the type of the value, so that the function never throws.
 */
export function textOf(error: unknown): string {
  try {
    return String(error).slice(0, MAX_LENGTH);
  } catch {
    return `A value of type ${typeof error} that has no text`;
  }
}
