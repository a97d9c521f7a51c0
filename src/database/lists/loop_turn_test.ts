import { assert, assertEquals, assertRejects } from "@std/assert";
import { stub } from "@std/testing/mock";
import { turnsPerAnswer } from "../../../tests/turns_per_answer.ts";
import { awaitLoopTurn, PORTION, runShort } from "./loop_turn.ts";

/** Gives the turns of the event loop in which lists have had their portions. */
async function turnsOf(sizes: readonly number[]): Promise<number[]> {
  // A turn that is used up
  for (let left = 2; left > 0; left--) await awaitLoopTurn(4 * PORTION);
  const turns: number[] = [];
  let turn = 0;
  await Promise.all(sizes.map(async (size) => {
    await awaitLoopTurn(size);
    // The others of this turn go on before
    if (!turns.includes(turn)) queueMicrotask(() => turn++);
    turns.push(turn);
  }));
  return turns;
}

/** In how many of 16 turns sockets are looked at: Deno does so while another thread works. */
async function looksIn16(): Promise<number> {
  // It looks at the end of a turn: the first of them begins here, and the last has not ended
  await awaitLoopTurn(4 * PORTION);
  const { digest } = SubtleCrypto.prototype;
  let looks = 0;
  using _stub = stub(SubtleCrypto.prototype, "digest", function (this: SubtleCrypto, ...args) {
    looks++;
    return digest.apply(this, args);
  });
  for (let left = 16; left > 0; left--) await awaitLoopTurn(4 * PORTION);
  return looks;
}

// A short request tells of others for a while: lists that are alone come first
Deno.test("awaitLoopTurn() gives lists four portions in each turn of the event loop while they are alone", async () => {
  const turns = await turnsOf(Array(9).fill(PORTION));
  assertEquals(turns, [0, 0, 0, 0, 1, 1, 1, 1, 2]);
});

Deno.test("awaitLoopTurn() lets sockets be looked at while lists are alone", async () => {
  const turns = await turnsPerAnswer((turn) => {
    const wait = awaitLoopTurn(4 * PORTION);
    void (wait ?? Promise.resolve()).then(turn);
  });
  assert(turns < 40, `${turns} turns for an answer`);
});

Deno.test("awaitLoopTurn() has sockets looked at in every fourth turn while lists are alone", async () => {
  assertEquals(await looksIn16(), 4);
});

Deno.test("awaitLoopTurn() has sockets looked at in every turn beside short requests", async () => {
  assertEquals(await runShort(looksIn16), 16);
});

Deno.test("awaitLoopTurn() gives all lists together one portion beside short requests", async () => {
  const turns = await runShort(() => turnsOf(Array(5).fill(PORTION)));
  assertEquals(turns, [0, 1, 2, 3, 4]);
});

Deno.test("awaitLoopTurn() lets smaller work share a turn, until it is a portion", async () => {
  const half = PORTION / 2;
  const beside = (sizes: number[]) => runShort(() => turnsOf(sizes));
  assertEquals(await beside([half, half, half, half, PORTION]), [0, 0, 1, 1, 2]);
  assertEquals(await beside([half, PORTION, half]), [0, 0, 1]);
});

Deno.test("awaitLoopTurn() holds up nothing that is short", () => {
  awaitLoopTurn(PORTION);
  assertEquals(Array.from({ length: 100 }, () => awaitLoopTurn(1000)), Array(100).fill(undefined));
});

Deno.test("runShort() gives what the request gives, or throws what it throws", async () => {
  assertEquals(await runShort(() => Promise.resolve(1)), 1);
  await assertRejects(() => runShort(() => Promise.reject(new RangeError("a"))), RangeError, "a");
});
