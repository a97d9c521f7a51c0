// deno-lint-ignore-file no-console -- the one place that writes to the host's log

/**
 * Logs an error that no client is told of.
 *
 * @param context Where it happened.
 */
export function logError(error: unknown, context?: object): void {
  if (context === undefined) console.error(error);
  else console.error(error, context);
}

/** Logs what the host should mend. */
export function logHint(message: string): void {
  console.warn(message);
}
