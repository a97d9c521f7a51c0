import { assertEquals } from "@std/assert";
import { liftDeadline, setDeadline } from "./deadline.ts";

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Sets deadlines so many milliseconds from now, and tells the order in which they expire. */
function watch(...delays: number[]) {
  const now = performance.now();
  const expired: number[] = [];
  const deadlines = delays.map((delay) => ({
    at: now + delay,
    expire: () => {
      expired.push(delay);
    },
  }));
  for (const each of deadlines) setDeadline(each);
  return { expired, deadlines };
}

Deno.test("setDeadline() expires each at its time, in whatever order they were set", async () => {
  const { expired } = watch(60, 20, 40);
  assertEquals(expired, []);
  await sleep(120);
  assertEquals(expired, [20, 40, 60]);
});

Deno.test("liftDeadline() keeps one from expiring, and tells whether it had", async () => {
  const { expired, deadlines: [first, second] } = watch(20, 60);
  if (first === undefined || second === undefined) throw new Error("Unreachable");
  await sleep(40);
  assertEquals([liftDeadline(first), liftDeadline(second), liftDeadline(second)], [
    false,
    true,
    false,
  ]);
  await sleep(60);
  assertEquals(expired, [20]);
});

Deno.test({
  name: "liftDeadline() leaves no timer behind with the last one",
  sanitizeOps: true,
  sanitizeResources: true,
  fn() {
    const { deadlines } = watch(60_000, 1_000, 2 ** 40);
    for (const each of deadlines) liftDeadline(each);
  },
});

Deno.test("setDeadline() does not take a far one for one that is due", async () => {
  const { expired, deadlines: [far] } = watch(2 ** 40);
  await sleep(20);
  assertEquals(expired, []);
  if (far !== undefined) liftDeadline(far);
});
