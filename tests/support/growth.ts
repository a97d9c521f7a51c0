/**
 * Returns how much longer a run takes with four times the size: about 4 if the time is linear in the size, 16 if it is
 * quadratic. Other load makes single runs slower, so the fastest of three counts.
 */
export async function growth(size: number, run: (size: number) => Promise<void>): Promise<number> {
  let [small, large] = [Infinity, Infinity];
  for (let round = 0; round < 3; round++) {
    small = Math.min(small, await timeOf(() => run(size / 4)));
    large = Math.min(large, await timeOf(() => run(size)));
  }
  return large / small;
}

async function timeOf(run: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await run();
  return performance.now() - begun;
}
