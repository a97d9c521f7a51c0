import { assertEquals } from "@std/assert";
import { liftDeadline, setDeadline } from "./deadline.ts";

/** Sets deadlines so many milliseconds from now, and tells the order in which they expire. */
function watch(...delays: number[]) {
  const now = performance.now();
  const expired: number[] = [];
  const watched = delays.map((delay) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const expire = () => {
      expired.push(delay);
      resolve();
    };
    return { deadline: { at: now + delay, expire }, promise };
  });
  const deadlines = watched.map(({ deadline }) => deadline);
  for (const each of deadlines) setDeadline(each);
  return { expired, deadlines, expiries: watched.map(({ promise }) => promise) };
}

Deno.test("setDeadline() expires each at its time, in whatever order they were set", async () => {
  const { expired, expiries } = watch(60, 20, 40);
  assertEquals(expired, []);
  await Promise.all(expiries);
  assertEquals(expired, [20, 40, 60]);
});

Deno.test("liftDeadline() keeps one from expiring, and tells whether it had", async () => {
  const { expired, deadlines: [lifted, other], expiries } = watch(20, 60);
  if (lifted === undefined || other === undefined) throw new Error("Unreachable");
  assertEquals([liftDeadline(lifted), liftDeadline(lifted)], [true, false]);
  await expiries[1];
  assertEquals(liftDeadline(other), false);
  assertEquals(expired, [60]);
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
  await Promise.all(watch(10).expiries);
  assertEquals(expired, []);
  if (far !== undefined) liftDeadline(far);
});
