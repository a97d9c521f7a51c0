import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { RestError } from "../errors/rest_error.ts";
import { Patience } from "./patience.ts";

function later<T>(value: T, milliseconds: number): Promise<T> {
  return new Promise((resolve) => setTimeout(() => resolve(value), milliseconds));
}

Deno.test("Patience gives what comes in time, and the failure that comes in time", async () => {
  const patience = new Patience(1000);
  assertEquals(await patience.wait(later("here", 1)), "here");
  const failing = () => patience.wait(Promise.reject(new TypeError("own")));
  await assertRejects(failing, TypeError, "own");
});

Deno.test("Patience runs out with 503, and stays so", async () => {
  const patience = new Patience(20);
  const never = new Promise<never>(() => {});
  const first = await assertRejects(() => patience.wait(never), RestError);
  assertEquals([first.status, Number(first.headers["Retry-After"]) > 0], [503, true]);
  assertEquals(patience.left, 0);
  await assertRejects(() => patience.wait(never), RestError);
  assertEquals(await patience.wait(Promise.resolve("at once")), "at once");
});

Deno.test("Patience takes the time of all waits together, not of each", async () => {
  const patience = new Patience(200);
  await patience.wait(later(undefined, 150));
  assert(patience.left < 100);
  await assertRejects(() => patience.wait(later(undefined, 1000)), RestError);
});

Deno.test("Patience takes the time of waits that overlap once", async () => {
  const patience = new Patience(2000);
  await Promise.all(Array.from({ length: 50 }, () => patience.wait(later(undefined, 100))));
  assert(patience.left > 1000, `${patience.left} ms left`);
});

Deno.test("Patience takes no time for what happens between its waits", async () => {
  const patience = new Patience(1000);
  await patience.wait(Promise.resolve());
  await later(undefined, 200);
  assert(patience.left > 850);
});

Deno.test("Patience lets no statement be sent after its time, and none begin after it", async () => {
  const patience = new Patience(20);
  const [waiting, sent] = [patience.statement(), patience.statement()];
  sent.signal.throwIfAborted();
  await assertRejects(() => patience.wait(new Promise<never>(() => {})), RestError);
  // What is under way is left alone: the driver would close its connection.
  assertEquals([waiting.signal.aborted, sent.signal.aborted], [true, false]);
  for (const { signal } of [waiting, sent, patience.statement()]) {
    assertThrows(() => signal.throwIfAborted(), RestError);
  }
});

Deno.test("Patience gives the database what is left, without the margin", async () => {
  const patience = new Patience(4000);
  assertEquals(patience.statement().maxTimeMS, 3000);
  await patience.wait(later(undefined, 100));
  const { maxTimeMS } = patience.statement();
  assert(maxTimeMS > 1000 && maxTimeMS <= 2901, String(maxTimeMS));
  assertEquals(new Patience(1500).statement().maxTimeMS, 500);
});
