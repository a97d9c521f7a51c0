import { assertEquals } from "@std/assert";
import { setImmediate } from "node:timers";
import { awaitLoopTurn, PORTION } from "./loop_turn.ts";

/** Waits for the end of this turn of the event loop. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Gives the turns of the event loop in which lists have had their portions. */
async function turnsOf(sizes: readonly number[]): Promise<number[]> {
  await nextTurn();
  const turns: number[] = [];
  const ended = nextTurn();
  let turn = 0;
  const done = sizes.map(async (size) => {
    await awaitLoopTurn(size);
    turns.push(turn);
  });
  for (let end = ended; turns.length < sizes.length; end = nextTurn()) {
    await end;
    turn++;
  }
  await Promise.all(done);
  return turns;
}

Deno.test("awaitLoopTurn() gives all lists together a portion in each turn of the event loop", async () => {
  const turns = await turnsOf(Array(5).fill(PORTION));
  assertEquals(turns, [0, 1, 2, 3, 4]);
});

Deno.test("awaitLoopTurn() lets smaller work share a turn, until it is a portion", async () => {
  const half = PORTION / 2;
  assertEquals(await turnsOf([half, half, half, half, PORTION]), [0, 0, 1, 1, 2]);
  assertEquals(await turnsOf([half, PORTION, half]), [0, 0, 1]);
});

Deno.test("awaitLoopTurn() holds up nothing that is short", () => {
  awaitLoopTurn(PORTION);
  assertEquals(Array.from({ length: 100 }, () => awaitLoopTurn(1000)), Array(100).fill(undefined));
});
