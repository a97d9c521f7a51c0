import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { Framework, RestError } from "../../../mod.ts";
import { longTest, test } from "../../harness/testing.ts";
import { openStandalone } from "../../support/shared_replica_set.ts";
import { mount } from "../../support/support.ts";
import { Book, bytesOf, fileAt, inHours, outcome, storedCounts } from "./shelf.ts";

/** Of three chunks each. */
const OLD = bytesOf(600_000, 1);
const NEW = bytesOf(600_001, 2);

/** The code of the error of a database whose disk is full. */
const OUT_OF_DISK_SPACE = 14_031;

/** The ways in which writes fail: before they are done, or after that without an answer. */
const FAILURES = {
  "not done": { closeConnection: true },
  "no space": { errorCode: OUT_OF_DISK_SPACE },
  "done": { writeConcernError: { code: 64, errmsg: "timed out" } },
};

async function failWrites(after: number | "off", how: object = {}): Promise<void> {
  await mongoose.connection.getClient().db("admin").command({
    configureFailPoint: "failCommand",
    mode: after === "off" ? "off" : { skip: after },
    ...after !== "off" && { data: { failCommands: ["insert", "update", "delete"], ...how } },
  });
}

/** Serves books on a database whose writes can fail. */
async function serveFailing() {
  const mongo = await openStandalone();
  const app = await mount([Book], {
    mongo: mongo.uri,
    limits: { timeMS: 2000 },
    tidy: false,
    onError: () => new RestError(500, "failed"),
  });
  return {
    app,
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await mongo.stop();
    },
  };
}

type Failing = Awaited<ReturnType<typeof serveFailing>>;

/** A request whose writes fail from some write on, and the files that may be there after it. */
interface Scenario {
  readonly hasOld: boolean;
  readonly send: (book: string) => Promise<Response>;
  readonly left: readonly (Uint8Array | undefined)[];
}

const SCENARIOS: Record<string, Scenario> = {
  "a first file": {
    hasOld: false,
    send: (book) => fileAt(`${book}/cover`).put(NEW as BodyInit),
    left: [undefined, NEW],
  },
  "a later file": {
    hasOld: true,
    send: (book) => fileAt(`${book}/cover`).put(NEW as BodyInit),
    left: [OLD, NEW],
  },
  "the removal of a file": {
    hasOld: true,
    send: (book) => fileAt(`${book}/cover`).remove(),
    left: [OLD, undefined],
  },
  "the removal of the entity": {
    hasOld: true,
    send: (book) => fetch(book, { method: "DELETE" }),
    left: [OLD, undefined],
  },
};

/** Sends a request whose writes fail after some of them. Returns whether the request has succeeded. */
async function failAt(
  { app }: Failing,
  { hasOld, send, left }: Scenario,
  [skipped, how]: [number, object],
): Promise<boolean> {
  const { _id } = await app.created("/books", { name: "a" });
  const book = `${app.url}/books/${_id}`;
  if (hasOld) assertEquals(await outcome(fileAt(`${book}/cover`).put(OLD as BodyInit)), [201]);
  await failWrites(skipped, how);
  const answer = await send(book);
  await answer.body?.cancel();
  await failWrites("off");
  if (!answer.ok) assertEquals(answer.status, 503);
  const read = await fileAt(`${book}/cover`).get();
  const file = read.ok ? new Uint8Array(await read.arrayBuffer()) : undefined;
  if (!read.ok) assertEquals([read.status, await read.text()].slice(0, 1), [404]);
  const at = left.findIndex((each) => each?.length === file?.length);
  assertEquals(file, left[at]);
  if (answer.ok) assertEquals(at, 1);
  await Framework.tidy({ at: inHours(24) });
  const chunks = Math.ceil((file?.length ?? 0) / 261_120);
  assertEquals(await storedCounts(), { files: file ? 1 : 0, chunks }, `${answer.status}`);
  assertEquals((await fileAt(`${book}/cover`).get()).status, read.status);
  await fetch(book, { method: "DELETE" });
  assertEquals((await storedCounts()).files, 0);
  return answer.ok;
}

for (const [name, scenario] of Object.entries(SCENARIOS)) {
  const register = name === "a first file" ? test : longTest;
  register(`${name} that fails at any write leaves no broken entity and no bytes`, async (t) => {
    await using failing = await serveFailing();
    for (const [kind, how] of Object.entries(FAILURES)) {
      await t.step(kind, async () => {
        let succeeded = 0;
        for (let skipped = 0; succeeded < 3; skipped++) {
          if (await failAt(failing, scenario, [skipped, how])) succeeded++;
        }
      });
    }
  });
}

test("a full disk is a 503, and files can still be read", async () => {
  await using failing = await serveFailing();
  const { app } = failing;
  const { _id } = await app.created("/books", { name: "a" });
  const cover = fileAt(`${app.url}/books/${_id}/cover`);
  assertEquals(await outcome(cover.put(OLD as BodyInit)), [201]);
  // The record of an upload is the first insert, and its chunks are the second one.
  for (const [skipped, command] of [[0, "insert"], [1, "insert"], [0, "update"]] as const) {
    await failWrites(skipped, { ...FAILURES["no space"], failCommands: [command] });
    assertEquals(await outcome(cover.put(NEW as BodyInit)), [503, "UNAVAILABLE"]);
    assertEquals(new Uint8Array(await (await cover.get()).arrayBuffer()), OLD);
    await failWrites("off");
    assertEquals(await storedCounts(), { files: 1, chunks: 3 });
  }
  assertEquals(await outcome(cover.put(NEW as BodyInit)), [200]);
  assertEquals(new Uint8Array(await (await cover.get()).arrayBuffer()), NEW);
});

longTest("100 uploads that are cut at random leave nothing but whole files", async () => {
  await using failing = await serveFailing();
  const { app } = failing;
  const { _id } = await app.created("/books", { name: "a" });
  const { hostname, port } = new URL(app.url);
  const head =
    `PUT /books/${_id}/cover HTTP/1.1\r\nHost: a\r\nContent-Length: ${NEW.length}\r\n\r\n`;
  const whole = new Uint8Array([...new TextEncoder().encode(head), ...NEW]);
  for (let round = 0; round < 100; round++) {
    const socket = await Deno.connect({ hostname, port: Number(port) });
    let bytes = whole.subarray(0, Math.floor(Math.random() * (whole.length + 1)));
    while (bytes.length > 0) bytes = bytes.subarray(await socket.write(bytes));
    socket.close();
  }
  await new Promise((resolve) => setTimeout(resolve, 2000));
  const { files, chunks } = await storedCounts();
  const read = await fileAt(`${app.url}/books/${_id}/cover`).get();
  if (read.ok) assertEquals(new Uint8Array(await read.arrayBuffer()), NEW);
  assertEquals([files, chunks], read.ok ? [1, 3] : [0, 0]);
});
