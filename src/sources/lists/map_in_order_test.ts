import { assert, assertEquals, assertRejects } from "@std/assert";
import { mapInOrder } from "./map_in_order.ts";

async function collect<T>(lists: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const values of lists) all.push(...values);
  return all;
}

function later<T>(value: T, milliseconds: number): Promise<T> {
  return new Promise((resolve) => setTimeout(() => resolve(value), milliseconds));
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** The same numbers, a few at a time. */
function lists(count: number): number[][] {
  const all = numbers(count);
  return all.filter((each) => each % 7 === 0).map((start) => all.slice(start, start + 7));
}

Deno.test("mapInOrder() maps in order, though later ones finish first", async () => {
  const kept = mapInOrder(lists(50), (each) => later(each * 2, (50 - each) % 10));
  assertEquals(await collect(kept), numbers(50).map((each) => each * 2));
});

Deno.test("mapInOrder() leaves out undefined, and nothing else", async () => {
  const values = [0, "", false, null, undefined, NaN];
  assertEquals(await collect(mapInOrder([values], (each) => Promise.resolve(each))), [
    0,
    "",
    false,
    null,
    NaN,
  ]);
});

Deno.test("mapInOrder() maps several at a time, and never all of many", async () => {
  let running = 0;
  let most = 0;
  const kept = mapInOrder(lists(300), async (each) => {
    most = Math.max(most, ++running);
    await later(undefined, 1);
    running--;
    return each;
  });
  assertEquals((await collect(kept)).length, 300);
  assert(most > 1 && most <= 32, `${most} at a time`);
});

Deno.test("mapInOrder() fails with the first failure in order, though a later one was sooner", async () => {
  const kept = mapInOrder([numbers(10)], async (each) => {
    if (each === 7) throw new Error("seven");
    await later(undefined, 5);
    if (each === 3) throw new Error("three");
    return each;
  });
  await assertRejects(() => collect(kept), Error, "three");
});

Deno.test("mapInOrder() keeps the order of what comes at once and what comes later", async () => {
  const kept = mapInOrder(lists(50), (each) => each % 3 ? each : later(each, each % 5));
  assertEquals(await collect(kept), numbers(50));
});

Deno.test("mapInOrder() waits for nothing that comes at once", async () => {
  const kept = mapInOrder([numbers(5), numbers(3)], (each) => each ? each : undefined);
  const found: number[][] = [];
  for await (const some of kept) found.push(some);
  assertEquals(found, [[1, 2, 3, 4], [1, 2]]);
});

Deno.test("mapInOrder() fails with the first failure in order, though a later hook throws at once", async () => {
  const kept = mapInOrder([numbers(10)], (each) => {
    if (each === 7) throw new Error("seven");
    return each === 3 ? later(undefined, 5).then(() => Promise.reject(new Error("three"))) : each;
  });
  await assertRejects(() => collect(kept), Error, "three");
});

Deno.test("mapInOrder() closes its source when its reader leaves", async () => {
  let closed = false;
  async function* source() {
    try {
      for (let index = 0;; index++) yield [index];
    } finally {
      closed = true;
    }
  }
  for await (const _each of mapInOrder(source(), (each) => Promise.resolve(each))) break;
  assert(closed);
});
