import { assert, assertEquals } from "@std/assert";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { afterEvents } from "./after_events.ts";

Deno.test("afterEvents() calls back in order", async () => {
  const turns: number[] = [];
  for (const turn of [0, 1, 2]) {
    await new Promise<void>(afterEvents);
    turns.push(turn);
  }
  assertEquals(turns, [0, 1, 2]);
});

/** Takes about as long as a portion of a list. */
function work(): void {
  const bytes = new Uint8Array(64 * 1024);
  for (let at = 0; at < 8 * bytes.length; at++) bytes[at % bytes.length] = at;
}

Deno.test("afterEvents() lets sockets be looked at between turns that follow each other", async () => {
  const server = createServer((socket) => void socket.on("data", (bytes) => socket.write(bytes)));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  await once(client, "connect");
  let [turns, isOver] = [0, false];
  const turn = () => {
    turns++;
    work();
    if (!isOver) afterEvents(turn);
  };
  turn();
  const taken: number[] = [];
  for (let left = 21; left > 0; left--) {
    const begun = turns;
    client.write("a");
    await once(client, "data");
    taken.push(turns - begun);
  }
  isOver = true;
  client.destroy();
  await new Promise((resolve) => server.close(resolve));
  // Where the machine is busy, single answers take longer
  const median = taken.sort((a, b) => a - b)[10] ?? Infinity;
  assert(median < 20, `turns for an answer: ${taken}`);
});
