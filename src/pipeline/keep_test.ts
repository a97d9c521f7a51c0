import { assert, assertEquals, assertRejects } from "@std/assert";
import { keep } from "./keep.ts";

async function collect<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const value of values) all.push(value);
  return all;
}

function later<T>(value: T, milliseconds: number): Promise<T> {
  return new Promise((resolve) => setTimeout(() => resolve(value), milliseconds));
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

Deno.test("keep() maps in order, though later ones finish first", async () => {
  const kept = keep(numbers(50), (each) => later(each * 2, (50 - each) % 10));
  assertEquals(await collect(kept), numbers(50).map((each) => each * 2));
});

Deno.test("keep() leaves out undefined, and nothing else", async () => {
  const values = [0, "", false, null, undefined, NaN];
  assertEquals(await collect(keep(values, (each) => Promise.resolve(each))), [
    0,
    "",
    false,
    null,
    NaN,
  ]);
});

Deno.test("keep() maps several at a time, and never all of many", async () => {
  let running = 0;
  let most = 0;
  const kept = keep(numbers(300), async (each) => {
    most = Math.max(most, ++running);
    await later(undefined, 1);
    running--;
    return each;
  });
  assertEquals((await collect(kept)).length, 300);
  assert(most > 1 && most <= 32, `${most} at a time`);
});

Deno.test("keep() fails with the first failure in order, after what came before it", async () => {
  const seen: number[] = [];
  const kept = keep(numbers(10), async (each) => {
    if (each === 7) throw new Error("seven");
    await later(undefined, 5);
    if (each === 3) throw new Error("three");
    return each;
  });
  await assertRejects(
    async () => {
      for await (const each of kept) seen.push(each);
    },
    Error,
    "three",
  );
  assertEquals(seen, [0, 1, 2]);
});

Deno.test("keep() closes its source when its reader leaves", async () => {
  let closed = false;
  async function* source() {
    try {
      for (let index = 0;; index++) yield index;
    } finally {
      closed = true;
    }
  }
  for await (const _each of keep(source(), (each) => Promise.resolve(each))) break;
  assert(closed);
});
