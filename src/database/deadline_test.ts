import { assertEquals } from "@std/assert";
import { setDeadline } from "./deadline.ts";

/** Sets deadlines so many milliseconds from now, and tells the order in which they expire. */
function watch(...delays: number[]) {
  const expired: number[] = [];
  const watched = delays.map((delay) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const lift = setDeadline(delay, () => {
      expired.push(delay);
      resolve();
    });
    return { lift, promise };
  });
  return {
    expired,
    lifts: watched.map(({ lift }) => lift),
    expiries: watched.map(({ promise }) => promise),
  };
}

Deno.test("setDeadline() expires each at its time, in whatever order they were set", async () => {
  const { expired, expiries } = watch(60, 20, 40);
  assertEquals(expired, []);
  await Promise.all(expiries);
  assertEquals(expired, [20, 40, 60]);
});

Deno.test("setDeadline() is lifted once, and not after it has expired", async () => {
  const { expired, lifts: [lifted, other], expiries } = watch(20, 60);
  assertEquals([lifted?.(), lifted?.()], [true, false]);
  await expiries[1];
  assertEquals(other?.(), false);
  assertEquals(expired, [60]);
});

Deno.test({
  name: "setDeadline() leaves no timer behind once it is lifted",
  sanitizeOps: true,
  sanitizeResources: true,
  fn() {
    for (const lift of watch(60_000, 1_000, 2 ** 40).lifts) lift();
  },
});

Deno.test("setDeadline() does not take a far one for one that is due", async () => {
  const { expired, lifts: [lift] } = watch(2 ** 40);
  await Promise.all(watch(10).expiries);
  assertEquals(expired, []);
  lift?.();
});
