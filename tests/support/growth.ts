/**
 * Returns how much longer a run takes with four times the size: about 4 for linear time, 16 for quadratic time. Other
 * load makes single runs slower, so the smallest of three ratios counts.
 */
export async function growth(size: number, run: (size: number) => Promise<void>): Promise<number> {
  let ratio = Infinity;
  for (let round = 0; round < 3; round++) {
    const small = await timeOf(() => run(size / 4));
    ratio = Math.min(ratio, await timeOf(() => run(size)) / small);
  }
  return ratio;
}

async function timeOf(run: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await run();
  return performance.now() - begun;
}
