/** For what takes time: one line on stderr. */
export function say(line: string): void {
  console.error(`[harness] ${line}`);
}

export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().split("\n")[0] ?? "";
}
