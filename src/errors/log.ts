// deno-lint-ignore-file no-console -- the one place that writes to the host's log

/** Logs an error that no client is told of. */
export function logError(error: unknown): void {
  console.error(error);
}

/** Logs what the host should mend. */
export function logHint(message: string): void {
  console.warn(message);
}
