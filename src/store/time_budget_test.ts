import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { getMaxListeners } from "node:events";
import { StoreFailure } from "../errors/failure.ts";
import { TimeBudget } from "./time_budget.ts";

function later<T>(value: T, milliseconds: number): Promise<T> {
  return new Promise((resolve) => setTimeout(() => resolve(value), milliseconds));
}

Deno.test("TimeBudget gives what comes in time, and the failure that comes in time", async () => {
  const timeBudget = new TimeBudget(1000);
  assertEquals(await timeBudget.wait(later("here", 1)), "here");
  const failing = () => timeBudget.wait(Promise.reject(new TypeError("own")));
  await assertRejects(failing, TypeError, "own");
});

Deno.test("TimeBudget runs out, and stays so", async () => {
  const timeBudget = new TimeBudget(20);
  const never = new Promise<never>(() => {});
  const first = await assertRejects(() => timeBudget.wait(never), StoreFailure);
  assertEquals(first.failure, { kind: "away", reason: "outage" });
  assertEquals(timeBudget.left, 0);
  await assertRejects(() => timeBudget.wait(never), StoreFailure);
  assertEquals(await timeBudget.wait(Promise.resolve("at once")), "at once");
});

Deno.test("TimeBudget takes the time of all waits together, not of each", async () => {
  const timeBudget = new TimeBudget(60_000);
  for (const left of [59_905, 59_805, 59_705]) {
    await timeBudget.wait(later(undefined, 100));
    assert(timeBudget.left < left, `${timeBudget.left} ms left`);
  }
});

Deno.test("TimeBudget takes the time of waits that overlap once", async () => {
  const timeBudget = new TimeBudget(60_000);
  await Promise.all(Array.from({ length: 200 }, () => timeBudget.wait(later(undefined, 100))));
  assert(timeBudget.left > 45_000, `${timeBudget.left} ms left`);
});

Deno.test("TimeBudget takes little time for a process that stands still", async () => {
  const timeBudget = new TimeBudget(4000);
  const work = timeBudget.wait(later("here", 100));
  const end = performance.now() + 4000;
  while (performance.now() < end) { /* stands still */ }
  assertEquals(await work, "here");
  assert(timeBudget.left > 1000, `${timeBudget.left} ms left`);
});

Deno.test("TimeBudget takes no time for what happens between its waits", async () => {
  const timeBudget = new TimeBudget(60_000);
  await timeBudget.wait(Promise.resolve());
  const begun = performance.now();
  await later(undefined, 500);
  assert(timeBudget.left > 60_000 - (performance.now() - begun), `${timeBudget.left} ms left`);
});

Deno.test("TimeBudget lets no statement be sent after its time, and none begin after it", async () => {
  const timeBudget = new TimeBudget(20);
  const waiting = timeBudget.statement();
  waiting.signal.throwIfAborted();
  await assertRejects(() => timeBudget.wait(new Promise<never>(() => {})), StoreFailure);
  for (const { signal } of [waiting, timeBudget.statement()]) {
    assertThrows(() => signal.throwIfAborted(), StoreFailure);
  }
});

Deno.test("TimeBudget gives the database what is left, without the margin", async () => {
  const timeBudget = new TimeBudget(4000);
  assertEquals(timeBudget.statement().maxTimeMS, 3000);
  await timeBudget.wait(later(undefined, 100));
  const { maxTimeMS } = timeBudget.statement();
  assert(maxTimeMS > 1000 && maxTimeMS <= 2901, String(maxTimeMS));
  assertEquals(new TimeBudget(1500).statement().maxTimeMS, 500);
});

Deno.test("TimeBudget opens a signal to which any number of statements may listen", () => {
  const { signal } = new TimeBudget(1000).statement();
  assertEquals(getMaxListeners(signal), 0);
});
