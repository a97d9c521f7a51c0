import { setImmediate } from "node:timers";
import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Connection } from "mongoose";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  remove,
  removeAll,
  rest,
  update,
} from "../../mod.ts";
import type { EntityBody } from "../support/support.ts";
import type { HooksOf, ModelClass, Ref } from "../../mod.ts";
import { longTest } from "../harness/testing.ts";
import { mount } from "../support/support.ts";
import { openTunnel } from "../support/tunnel.ts";

/** How long one wait may take: `maxTimeMS`, and a second. */
const PATIENCE_MS = 1200;

/** Keeps the process busy, as work of other requests does. */
function beBusy(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end) { /* works */ }
}

const WRITES = [create(), update(), remove(), removeAll()];

class Part extends FrameworkModel {
  @prop()
  text?: string;
}

class Note extends FrameworkModel {
  @prop()
  text?: string;
  @rest({ methods: WRITES, scope: () => ({ text: { $ne: "none" } }) })
  @arrayProp({ items: Part, embedded: true })
  bound?: Part[];
  @rest({ methods: WRITES })
  @arrayProp({ items: Part })
  others?: Ref<Part>[];
}

/** Hooks of reads, and of writes. */
interface Hooks {
  readonly reads: HooksOf<Note>;
  readonly writes: HooksOf<Note>;
}

/** When the process is busy. */
interface Busy {
  readonly commands: readonly string[];
  /** How long it is, in milliseconds. */
  readonly for: number;
  /**
   * How often it will be.
   *
   * @default {always}
   */
  times?: number;
  /**
   * Where the database is.
   *
   * @default {that of the tests}
   */
  readonly uri?: string;
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
async function openBusy(hooks: Hooks, busy: Busy) {
  const { uri = Deno.env.get("MONGODB_URI") ?? "" } = busy;
  const dbName = `mongrove_busy_${crypto.randomUUID().slice(0, 8)}`;
  const connection = await mongoose.createConnection(uri, { dbName, monitorCommands: true })
    .asPromise();
  const Model = buildNotes(connection, hooks);
  const notes = getModel(Model, connection);
  await notes.init();
  await notes.insertMany(Array.from({ length: 2500 }, (_, index) => ({ text: `n${index}` })));
  const app = await mount([Model], { limits: { timeMS: PATIENCE_MS - 1000 } });
  const { _id } = await notes.findOne() as Note;
  connection.getClient().on("commandStarted", ({ commandName }) => {
    // The command is sent in this turn, and its answer read in a later one.
    if (!busy.commands.includes(commandName) || busy.times === 0) return;
    if (busy.times) busy.times--;
    setImmediate(() => beBusy(busy.for));
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

longTest(
  "an answer of the database that waits to be read is read, however busy the process is",
  async (t) => {
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
  },
);

longTest("all() may wait as long for each batch as for the first one", async (t) => {
  for (const hooks of [{}, { preSend: pass }, { preSend: pass, lean: true as const }]) {
    await t.step(JSON.stringify(Object.keys(hooks)), async () => {
      const busy = { commands: ["find", "getMore"], for: PATIENCE_MS * 0.7 };
      await using app = await openBusy({ reads: hooks as HooksOf<Note>, writes: {} }, busy);
      const { status, body } = await app.get<EntityBody[]>("/notes");
      assertEquals([status, body.length], [200, 2500]);
    });
  }
});

longTest(
  "a request that sends several statements succeeds, though the process stands still after the first",
  async (t) => {
    const commands = ["aggregate", "insert", "update", "delete", "findAndModify"];
    using tunnel = openTunnel(Deno.env.get("MONGODB_URI") ?? "");
    const busy = { commands, for: PATIENCE_MS + 300, times: 0, uri: tunnel.uri };
    await using app = await openBusy({ reads: {}, writes: {} }, busy);
    tunnel.delay(20);
    for (const path of ["bound", "others"]) {
      let id = "";
      const body = { text: "new" };
      const step = (name: string, send: () => Promise<number[]>) =>
        t.step(`${path}: ${name}`, async () => {
          busy.times = 1;
          assertEquals((await send()).filter((status) => status >= 300), []);
        });
      // Some of them take turns.
      await step("create", async () => {
        const create = () => app.post<EntityBody>(`${app.item}/${path}`, body);
        const replies = await Promise.all([create(), create(), create()]);
        id = replies[0].body._id;
        return replies.map(({ status }) => status);
      });
      await step(
        "update",
        async () => [(await app.patch(`${app.item}/${path}/${id}`, body)).status],
      );
      await step("remove", async () => [(await app.delete(`${app.item}/${path}/${id}`)).status]);
      await step("removeAll", async () => [(await app.delete(`${app.item}/${path}`)).status]);
    }
  },
);
