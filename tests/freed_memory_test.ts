import { assert, assertEquals } from "@std/assert";
import { stub } from "@std/testing/mock";
import type { Express, Response } from "express-types";
import mongoose from "mongoose";
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { createServer } from "node:http";
import { Duplex } from "node:stream";
import { all, FrameworkModel, prop, rest } from "../mod.ts";
import type { FrameworkRequest, ModelClass } from "../mod.ts";
import { startMongo } from "./harness/mongo/start_mongo.ts";
import { test } from "./harness/testing.ts";
import { mount, type Mounted, type MountOptions } from "./support.ts";

class Row extends FrameworkModel {
  @prop()
  text?: string;
}

/** How many rows there are, of 1 kB. */
const ROWS = 2500;

const DATA = Buffer.alloc(100, 7);

/** Makes a model: `/rows` is a list in several batches, `/whole` comes in one. */
function buildRows(): ModelClass {
  const schemaOptions = { collection: "rows" };
  const preFetch = (req: FrameworkRequest) => {
    req.framework.options = { batchSize: ROWS + 1 };
    return true;
  };
  @rest({ route: "/rows", methods: [all()], schemaOptions })
  @rest({ route: "/whole", methods: [all<Row>({ preFetch })] })
  class Rows extends Row {}
  return Rows;
}

interface RowsOptions extends MountOptions {
  readonly models?: readonly ModelClass[];
}

async function openRows(
  { models = [buildRows()], ...options }: RowsOptions = {},
): Promise<Mounted> {
  const app = await mount(models, options);
  const rows = Array.from({ length: ROWS }, (_, n) => ({ text: `${n}`.padEnd(1000, "x") }));
  await app.database.connection.collection("rows").insertMany(rows);
  return app;
}

/** Gets a list and checks it; gives its length, and the bytes of memory that were freed meanwhile. */
async function freedBy({ url }: Mounted, path: string) {
  const { transfer } = ArrayBuffer.prototype;
  let freed = 0;
  using _stub = stub(ArrayBuffer.prototype, "transfer", function (this: ArrayBuffer, size) {
    freed += this.byteLength;
    return transfer.call(this, size);
  });
  const text = await (await fetch(url + path)).text();
  const rows: Row[] = JSON.parse(text);
  assertEquals(rows.map((row) => Number(row.text?.replaceAll("x", ""))), [...Array(ROWS).keys()]);
  return { freed, length: text.length };
}

/** How many times its text a list frees: a reply and a text, and what is joined with its brackets. */
const TIMES = { "/rows": 2, "/whole": 3 };

for (const [path, times] of Object.entries(TIMES)) {
  test(`a list frees the memory of replies and of its text when they are used up: ${path}`, async () => {
    await using app = await openRows();
    const { freed, length } = await freedBy(app, path);
    assert(freed > times * length, `${freed} bytes freed for ${length} of text`);
  });
}

test("the driver goes on to tell a replica set its time when replies were freed", async () => {
  await using mongo = await startMongo({ replicaSet: 1 });
  await using app = await openRows({ mongo: mongo.uri });
  const { freed, length } = await freedBy(app, "/rows");
  assert(freed > 1.5 * length, `${freed} bytes freed for ${length} of text`);
  const session = await app.database.connection.startSession();
  await app.database.connection.collection("rows").countDocuments({}, { session });
  assertEquals(session.clusterTime?.signature?.hash.buffer.length, 20);
  await session.endSession();
  await freedBy(app, "/rows");
});

for (const later of [true, false]) {
  test(`who listens to commands has whole replies, with monitorCommands ${later} later`, async () => {
    await using app = await openRows();
    const { connection, uri } = app.database;
    await connection.collection("rows").updateMany({}, { $set: { data: DATA } });
    await mongoose.disconnect();
    await mongoose.connect(uri, { monitorCommands: true });
    const seen: mongoose.mongo.Binary[] = [];
    const client = mongoose.connection.getClient();
    client.on("commandSucceeded", ({ reply }) => {
      const { firstBatch, nextBatch = firstBatch } = Object(Object(reply).cursor);
      seen.push(...(nextBatch ?? []).map((row: { data: mongoose.mongo.Binary }) => row.data));
    });
    // The connections that there are go on to tell of commands
    Reflect.set(client, "monitorCommands", later);
    await freedBy(app, "/rows");
    assertEquals(seen.filter((each) => DATA.equals(each.buffer)).length, ROWS);
  });
}

/** What has a method to write that middleware can replace. */
interface Writer {
  write(...args: unknown[]): unknown;
}

/** Replaces a method to write: all bytes that it is given are held, or only the first so many. */
function hold(held: Uint8Array[], target: unknown, only?: number): void {
  const writer = target as Writer;
  const { write } = writer;
  writer.write = (...args) => {
    const [bytes] = args;
    const { length } = bytes as Uint8Array | string;
    const isMeant = bytes instanceof Uint8Array && length > 0 && (only ?? length) === length;
    if (isMeant) held.push(bytes);
    if (isMeant && only !== undefined) writer.write = write;
    return Reflect.apply(write, writer, args);
  };
}

const HOLDERS: Record<string, (held: Uint8Array[], res: Response) => void> = {
  "in its own way": hold,
  "one piece in its own way": (held, res) => hold(held, res, 64 * 1024),
  "in its own way from the headers on": (held, res) => {
    const { writeHead } = res;
    res.writeHead = (...args: unknown[]) => {
      hold(held, res);
      return Reflect.apply(writeHead, res, args);
    };
  },
  "to the socket in its own way": (held, { socket }) => hold(held, socket),
};

for (const [how, begin] of Object.entries(HOLDERS)) {
  test(`middleware that writes ${how} may hold what it was given`, async () => {
    const held: Uint8Array[] = [];
    await using app = await openRows({
      prepare: (each) =>
        each.use((_req, res, next) => {
          begin(held, res);
          next();
        }),
    });
    for (const path of ["/rows", "/whole"]) {
      await freedBy(app, path);
      assert(held.length > 0);
      assertEquals(held.splice(0).filter(({ byteLength }) => byteLength === 0), []);
    }
  });
}

test("a stream in the place of a socket may hold what it was given", async () => {
  let express: Express | undefined;
  await using _app = await openRows({ prepare: (each) => express = each });
  const server = createServer(express);
  for (const path of ["/rows", "/whole"]) {
    const held: Uint8Array[] = [];
    const socket = new Duplex({
      read() {},
      write(bytes, _encoding, done) {
        held.push(bytes);
        done();
      },
    });
    server.emit("connection", socket);
    socket.push(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    await once(socket, "finish");
    const kept = held.reduce((sum, { byteLength }) => sum + byteLength, 0);
    assert(kept > ROWS * 1000, `${kept} bytes are left`);
  }
});

test("what computes a default may hold the document", async () => {
  const held: { data?: { bytes: mongoose.mongo.Binary } }[] = [];
  @rest({ route: "/rows", methods: [all()], schemaOptions: { collection: "rows" } })
  class Computed extends Row {
    @prop({ type: Object })
    data?: { bytes: mongoose.mongo.Binary };

    @prop({
      type: String,
      default(this: Computed) {
        held.push(this);
        return "";
      },
    })
    computed?: string;
  }
  await using app = await openRows({ models: [Computed] });
  await app.database.connection.collection("rows").updateMany({}, {
    $set: { data: { bytes: DATA } },
  });
  await freedBy(app, "/rows");
  assertEquals(
    held.filter(({ data }) => DATA.equals(data?.bytes.buffer ?? DATA.subarray(1))).length,
    ROWS,
  );
});
