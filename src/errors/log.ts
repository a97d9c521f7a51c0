// deno-lint-ignore-file no-console -- the one place that writes to the host's log

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
