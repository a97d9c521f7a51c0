/** The maximum number of characters of an error in a dead letter. */
const MAX_LENGTH = 10_000;

/** Returns the text of a thrown value. Values whose conversion to text fails get a text with their type. */
export function textOf(error: unknown): string {
  try {
    return String(error).slice(0, MAX_LENGTH);
  } catch {
    return `A value of type ${typeof error} that has no text`;
  }
}
