import { assertEquals, assertRejects } from "@std/assert";
import type { Connection } from "mongoose";
import { until } from "../../../tests/until.ts";
import { ListTurn } from "./list_turn.ts";

/** Opens turns of lists that read from one pool of connections. */
function openTurns(count: number, maxPoolSize: number): ListTurn[] {
  const client = { options: { maxPoolSize } };
  const connection = { getClient: () => client } as unknown as Connection;
  return Array.from({ length: count }, () => new ListTurn(connection));
}

/** Has lists read; gives the numbers of those that have begun, in order. */
function readAll(turns: readonly ListTurn[], step: "begin" | "goOn") {
  const begun: number[] = [];
  const reads = turns.map((turn, index) =>
    turn[step](() => {
      begun.push(index);
      return Promise.resolve(index);
    })
  );
  return { begun, reads };
}

Deno.test("ListTurn.begin() leaves half of the connections to others", () => {
  const turns = openTurns(7, 10);
  const { begun } = readAll(turns, "begin");
  assertEquals(begun, [0, 1, 2, 3, 4]);
  turns[3]?.pass();
  assertEquals(begun, [0, 1, 2, 3, 4, 5]);
  for (const turn of turns) turn.pass();
});

Deno.test("ListTurn.goOn() begins at once for few lists, and for another one when one passes", () => {
  const turns = openTurns(5, 100);
  const { begun } = readAll(turns, "goOn");
  assertEquals(begun, [0, 1, 2]);
  turns[1]?.pass();
  assertEquals(begun, [0, 1, 2, 3]);
  turns[3]?.pass();
  assertEquals(begun, [0, 1, 2, 3, 4]);
  for (const turn of turns) turn.pass();
});

Deno.test("ListTurn.goOn() does not read for a list that has given up", () => {
  const turns = openTurns(5, 100);
  const { begun } = readAll(turns, "goOn");
  turns[3]?.pass();
  turns[0]?.pass();
  assertEquals(begun, [0, 1, 2, 4]);
  for (const turn of turns) turn.pass();
});

Deno.test("ListTurn.goOn() waits for no slow read, as long as a quarter of the connections is enough", async () => {
  const turns = openTurns(6, 20);
  const { begun, reads } = readAll(turns, "goOn");
  await until(() => begun.length === 5);
  // The sixth would be next
  await new Promise((resolve) => setTimeout(resolve, 50));
  assertEquals(begun, [0, 1, 2, 3, 4]);
  turns[0]?.pass();
  assertEquals(await reads[5], 5);
  for (const turn of turns) turn.pass();
});

Deno.test("ListTurn lets lists begin that come after lists that wait to go on, however small the pool is", () => {
  const [first, second, third, fourth] = openTurns(4, 1);
  const begun: string[] = [];
  const read = (name: string) => () => Promise.resolve(begun.push(name));
  first?.goOn(read("goes on"));
  second?.goOn(read("goes on later"));
  third?.begin(read("begins"));
  fourth?.begin(read("begins later"));
  assertEquals(begun, ["goes on", "begins"]);
  for (const turn of [first, second, third, fourth]) turn?.pass();
});

Deno.test("ListTurn.begin() passes on what a read throws", async () => {
  const [turn] = openTurns(1, 10);
  await assertRejects(
    async () => await turn?.begin(() => Promise.reject(new Error("No"))),
    Error,
    "No",
  );
  turn?.pass();
});
