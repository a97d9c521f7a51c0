/** The most characters of an error that a dead letter holds. */
const MAX_LENGTH = 10_000;

/** Returns the text of any value that was thrown, also of one that cannot be turned into text. */
export function textOf(error: unknown): string {
  try {
    return String(error).slice(0, MAX_LENGTH);
  } catch {
    return `A value of type ${typeof error} that has no text`;
  }
}
