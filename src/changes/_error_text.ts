/** The maximum number of characters of an error in a dead letter. */
const MAX_LENGTH = 10_000;

/**
 * Returns the text of a thrown value. A value whose conversion to text fails gets a text with its type, so that the
 * function never throws.
 */
export function textOf(error: unknown): string {
  try {
    return String(error).slice(0, MAX_LENGTH);
  } catch {
    return `A value of type ${typeof error} that has no text`;
  }
}
