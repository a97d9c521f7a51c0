import { assertEquals, assertRejects } from "@std/assert";
import { pause, retryPause } from "./retry.ts";

const FOREVER = "Fri, 31 Dec 9999 23:59:59 GMT";
const FIRST = { repeated: 0, retryAfter: null, random: 0 };

Deno.test("pauseAfter() doubles the pause, and adds up to as much at random", () => {
  assertEquals(retryPause(FIRST), 250);
  assertEquals(retryPause({ ...FIRST, repeated: 2 }), 1000);
  assertEquals(retryPause({ ...FIRST, repeated: 2, random: 0.5 }), 1500);
  assertEquals(retryPause({ ...FIRST, random: 1 }), 500);
});

Deno.test("pauseAfter() never comes back before Retry-After", () => {
  assertEquals(retryPause({ ...FIRST, retryAfter: "2" }), 2000);
  assertEquals(retryPause({ ...FIRST, retryAfter: "2", random: 0.5 }), 2125);
  assertEquals(retryPause({ ...FIRST, retryAfter: "0", random: 0.5 }), 375);
});

Deno.test("pauseAfter() reads a Retry-After that is a date, and ignores one that is neither", () => {
  assertEquals(retryPause({ ...FIRST, retryAfter: FOREVER }), undefined);
  assertEquals(retryPause({ ...FIRST, retryAfter: new Date(0).toUTCString() }), 250);
  assertEquals(retryPause({ ...FIRST, retryAfter: "soon" }), 250);
});

Deno.test("pauseAfter() ends after the given number of repetitions, and above the longest pause", () => {
  assertEquals(retryPause({ ...FIRST, repeated: 3 }), undefined);
  assertEquals(retryPause(FIRST, 0), undefined);
  assertEquals(retryPause(FIRST, NaN), undefined);
  assertEquals(retryPause(FIRST, "10 mb" as never), undefined);
  assertEquals(retryPause({ ...FIRST, retryAfter: "11" }), undefined);
  assertEquals(retryPause({ ...FIRST, retryAfter: "10", random: 1 }), 10_000);
  assertEquals(retryPause({ ...FIRST, repeated: 9, random: 1 }, 10), 10_000);
});

Deno.test("pause() ends with the reason of its signal, before and after it has begun", async () => {
  const controller = new AbortController();
  const paused = pause(60_000, controller.signal);
  controller.abort(new RangeError("enough"));
  await assertRejects(() => paused, RangeError, "enough");
  await assertRejects(() => pause(60_000, controller.signal), RangeError, "enough");
  await pause(0, new AbortController().signal);
});
