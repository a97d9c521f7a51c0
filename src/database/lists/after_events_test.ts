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

Deno.test("afterEvents() lets sockets be looked at between turns that follow each other", async () => {
  const server = createServer((socket) => void socket.on("data", (bytes) => socket.write(bytes)));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  await once(client, "connect");
  let [turns, isOver] = [0, false];
  const turn = () => {
    turns++;
    if (!isOver) afterEvents(turn);
  };
  turn();
  for (let left = 10; left > 0; left--) {
    client.write("a");
    await once(client, "data");
  }
  isOver = true;
  client.destroy();
  await new Promise((resolve) => server.close(resolve));
  assert(turns < 600, `${turns} turns for 10 answers`);
});
