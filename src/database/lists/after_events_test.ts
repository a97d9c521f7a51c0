import { assert, assertEquals } from "@std/assert";
import { turnsPerAnswer } from "../../../tests/turns_per_answer.ts";
import { afterEvents } from "./after_events.ts";

Deno.test("afterEvents() calls back in order", async () => {
  const turns: number[] = [];
  for (const turn of [0, 1, 2]) {
    await new Promise<void>(afterEvents);
    turns.push(turn);
  }
  assertEquals(turns, [0, 1, 2]);
});

Deno.test("afterEvents() lets sockets be looked at between turns that follow each other", async () => {
  const turns = await turnsPerAnswer(afterEvents);
  assert(turns < 20, `${turns} turns for an answer`);
});
