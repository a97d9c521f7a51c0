import { assertEquals, assertRejects } from "@std/assert";
import { pause, pauseAfter } from "./retry.ts";

const FOREVER = "Fri, 31 Dec 9999 23:59:59 GMT";
const FIRST = { repeated: 0, retryAfter: null, random: 0 };

Deno.test("pauseAfter() doubles the pause, and adds up to as much at random", () => {
  assertEquals(pauseAfter(FIRST), 250);
  assertEquals(pauseAfter({ ...FIRST, repeated: 2 }), 1000);
  assertEquals(pauseAfter({ ...FIRST, repeated: 2, random: 0.5 }), 1500);
  assertEquals(pauseAfter({ ...FIRST, random: 1 }), 500);
});

Deno.test("pauseAfter() never comes back before Retry-After", () => {
  assertEquals(pauseAfter({ ...FIRST, retryAfter: "2" }), 2000);
  assertEquals(pauseAfter({ ...FIRST, retryAfter: "2", random: 0.5 }), 2125);
  assertEquals(pauseAfter({ ...FIRST, retryAfter: "0", random: 0.5 }), 375);
});

Deno.test("pauseAfter() reads a Retry-After that is a date, and ignores one that is neither", () => {
  assertEquals(pauseAfter({ ...FIRST, retryAfter: FOREVER }), undefined);
  assertEquals(pauseAfter({ ...FIRST, retryAfter: new Date(0).toUTCString() }), 250);
  assertEquals(pauseAfter({ ...FIRST, retryAfter: "soon" }), 250);
});

Deno.test("pauseAfter() ends after the given number of repetitions, and above the longest pause", () => {
  assertEquals(pauseAfter({ ...FIRST, repeated: 3 }), undefined);
  assertEquals(pauseAfter(FIRST, 0), undefined);
  assertEquals(pauseAfter(FIRST, NaN), undefined);
  assertEquals(pauseAfter(FIRST, "10 mb" as never), undefined);
  assertEquals(pauseAfter({ ...FIRST, retryAfter: "11" }), undefined);
  assertEquals(pauseAfter({ ...FIRST, retryAfter: "10", random: 1 }), 10_000);
  assertEquals(pauseAfter({ ...FIRST, repeated: 9, random: 1 }, 10), 10_000);
});

Deno.test("pause() ends with the reason of its signal, before and after it has begun", async () => {
  const controller = new AbortController();
  const paused = pause(60_000, controller.signal);
  controller.abort(new RangeError("enough"));
  await assertRejects(() => paused, RangeError, "enough");
  await assertRejects(() => pause(60_000, controller.signal), RangeError, "enough");
  await pause(0, new AbortController().signal);
});
