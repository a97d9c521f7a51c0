import { setImmediate } from "node:timers";
import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Connection } from "mongoose";
import { all, create, FrameworkModel, getModel, one, prop, rest, update } from "../mod.ts";
import type { EntityBody } from "./support.ts";
import type { HooksOf, ModelClass } from "../mod.ts";
import { test } from "./harness/testing.ts";
import { mount } from "./support.ts";

/** How long one wait may take: `maxTimeMS`, and a second. */
const PATIENCE_MS = 1200;

/** Keeps the process busy, as work of other requests does. */
function beBusy(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end) { /* works */ }
}

class Note extends FrameworkModel {
  @prop()
  text?: string;
}

/** Hooks of reads, and of writes. */
interface Hooks {
  readonly reads: HooksOf<Note>;
  readonly writes: HooksOf<Note>;
}

/** Makes a model on a connection. */
function buildNotes(connection: Connection, { reads, writes }: Hooks): ModelClass<Note> {
  @rest({
    route: "/notes",
    methods: [all<Note>(reads), one<Note>(reads), create<Note>(writes), update<Note>(writes)],
    getConnection: () => connection,
    schemaOptions: { collection: "notes" },
  })
  class Busy extends Note {}
  return Busy;
}

/** Serves notes; right after each command of certain names is sent, the process is busy for a while. */
async function openBusy(hooks: Hooks, busy: { commands: string[]; for: number }) {
  const uri = Deno.env.get("MONGODB_URI") ?? "";
  const dbName = `mongrove_busy_${crypto.randomUUID().slice(0, 8)}`;
  const connection = await mongoose.createConnection(uri, { dbName, monitorCommands: true })
    .asPromise();
  const Model = buildNotes(connection, hooks);
  const notes = getModel(Model, connection);
  await notes.init();
  await notes.insertMany(Array.from({ length: 2500 }, (_, index) => ({ text: `n${index}` })));
  const app = await mount([Model], { maxTimeMS: PATIENCE_MS - 1000 });
  const { _id } = await notes.findOne() as Note;
  connection.getClient().on("commandStarted", ({ commandName }) => {
    // The command is sent in this turn, and its answer read in a later one.
    if (busy.commands.includes(commandName)) setImmediate(() => beBusy(busy.for));
  });
  return {
    ...app,
    item: `/notes/${_id}`,
    async [Symbol.asyncDispose]() {
      await connection.dropDatabase();
      await connection.close();
      await app[Symbol.asyncDispose]();
    },
  };
}

const pass = <E extends object>(_req: unknown, entity: E): E => entity;

test("an answer of the database that waits to be read is read, however busy the process is", async (t) => {
  const commands = ["find", "findAndModify", "insert", "update"];
  for (const hooks of [{}, { preSend: pass }]) {
    await using app = await openBusy({ reads: hooks, writes: hooks }, {
      commands,
      for: PATIENCE_MS + 300,
    });
    const calls: [string, string, string][] = [
      ["all", "GET", "/notes"],
      ["one", "GET", app.item],
      ["create", "POST", "/notes"],
      ["update", "PATCH", app.item],
    ];
    for (const [name, method, path] of calls) {
      await t.step(`${name}(), ${Object.keys(hooks)}`, async () => {
        const body = method === "GET" ? undefined : { text: "new" };
        assertEquals((await app.send(method, path, { body })).status < 300, true);
      });
    }
  }
});

test("all() may wait as long for each batch as for the first one", async (t) => {
  for (const hooks of [{}, { preSend: pass }, { preSend: pass, lean: true as const }]) {
    await t.step(JSON.stringify(Object.keys(hooks)), async () => {
      const busy = { commands: ["find", "getMore"], for: PATIENCE_MS * 0.7 };
      await using app = await openBusy({ reads: hooks as HooksOf<Note>, writes: {} }, busy);
      const { status, body } = await app.get<EntityBody[]>("/notes");
      assertEquals([status, body.length], [200, 2500]);
    });
  }
});
