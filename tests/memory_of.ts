/** The greatest resident set while something runs, above what there was before, in bytes. */
export async function memoryOf(act: () => Promise<unknown>): Promise<number> {
  const before = Deno.memoryUsage().rss;
  let most = before;
  const timer = setInterval(() => most = Math.max(most, Deno.memoryUsage().rss), 2);
  try {
    await act();
  } finally {
    clearInterval(timer);
  }
  return most - before;
}
