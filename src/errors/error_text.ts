const MAX_LENGTH = 10_000;

/** The conversion of a thrown value may fail. */
export function errorText(error: unknown): string {
  try {
    return String(error).slice(0, MAX_LENGTH);
  } catch {
    return `A value of type ${typeof error} that has no text`;
  }
}
