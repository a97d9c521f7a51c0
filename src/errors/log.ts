// deno-lint-ignore-file no-console -- the one place that writes to the host's log

/**
 * Logs an error that no answer shows, because otherwise nobody would learn of the error. `context` describes the
 * request or the work in which the error happened.
 */
export function logError(error: unknown, context?: object): void {
  if (context === undefined) console.error(error);
  else console.error(error, context);
}

export function logLine(message: string): void {
  console.info(message);
}

export function logHint(message: string): void {
  console.warn(message);
}
