export async function memoryOf(act: () => Promise<unknown>): Promise<number> {
  const before = held();
  let most = before;
  const timer = setInterval(() => most = Math.max(most, held()), 2);
  try {
    await act();
  } finally {
    clearInterval(timer);
  }
  return most - before;
}

/** Test files run side by side in one process, whose resident set belongs to all of them. */
function held(): number {
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
}
