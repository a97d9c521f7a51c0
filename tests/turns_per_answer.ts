import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";

/** Takes about as long as a portion of a list. */
function work(): void {
  const bytes = new Uint8Array(64 * 1024);
  for (let at = 0; at < 8 * bytes.length; at++) bytes[at % bytes.length] = at;
}

/** An odd number: one of them is the median. */
const ANSWERS = 21;

/**
 * Gives how many turns of work begin, in the median, until a client of this process has its answer.
 *
 * @param next Has the next turn called.
 */
export async function turnsPerAnswer(next: (turn: () => void) => void): Promise<number> {
  const server = createServer((socket) => void socket.on("data", (bytes) => socket.write(bytes)));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  await once(client, "connect");
  let [turns, isOver] = [0, false];
  const turn = () => {
    turns++;
    work();
    if (!isOver) next(turn);
  };
  turn();
  const taken: number[] = [];
  while (taken.length < ANSWERS) {
    const begun = turns;
    client.write("a");
    await once(client, "data");
    taken.push(turns - begun);
  }
  isOver = true;
  client.destroy();
  await new Promise((resolve) => server.close(resolve));
  return taken.sort((a, b) => a - b)[(ANSWERS - 1) / 2] ?? Infinity;
}
