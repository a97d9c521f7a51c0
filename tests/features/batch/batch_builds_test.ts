import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  create,
  FrameworkModel,
  type FrameworkRequest,
  one,
  prop,
  type Ref,
  remove,
  rest,
  update,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { openReplicaSet } from "../../support/shared_replica_set.ts";
import { mount } from "../../support/support.ts";
import { until } from "../../support/until.ts";
import { failCommand } from "../many/many.ts";
import { rows, sendBatch } from "./shop.ts";

const batch = { path: "/batch", max: 20 };

/** What the creation of a deed waits for. */
let awaited: () => Promise<unknown> = () => Promise.resolve();

@rest({
  route: "/deeds",
  methods: [
    one(),
    create({
      async preSave(_req, deed) {
        await awaited();
        return deed;
      },
    }),
  ],
  history: true,
})
class Deed extends FrameworkModel {}

type Rows = readonly (readonly [method: string, path: string, body?: unknown])[];

let fresh = 0;
const getConnection = (req: FrameworkRequest) =>
  mongoose.connection.useDb(`fresh_${req.get("tenant")}`, { useCache: true });

@rest({ route: "/makers", methods: [all(), one(), create(), update(), remove()], getConnection })
class Maker extends FrameworkModel {
  @prop({ unique: true })
  name?: string;
}

@rest({
  route: "/tools",
  methods: [one(), create()],
  history: true,
  getConnection,
})
class Tool extends FrameworkModel {
  @prop({ ref: () => Maker, onDelete: "cascade" })
  maker?: Ref<Maker>;
}

@rest({ route: "/unused", methods: [one(), create()], history: true, getConnection })
class Unused extends FrameworkModel {}

@rest({ route: "/", methods: [create()], getConnection })
class Top extends FrameworkModel {}

@rest({ route: "/others", methods: [create()], getConnection: (req) => getConnection(req) })
class Other extends FrameworkModel {
  @prop({ unique: true })
  name?: string;
}

/** Serves the classes for a tenant without a database. */
async function serve() {
  const { uri, stop } = await openReplicaSet();
  const app = await mount([Maker, Tool, Unused, Top, Other], { mongo: uri, batch });
  const tenant = `${fresh++}`;
  const database = mongoose.connection.useDb(`fresh_${tenant}`);
  await database.dropDatabase();
  return {
    app,
    database,
    block: (commands: readonly string[], options: object) =>
      failCommand(database, commands, { mode: "alwaysOn", blockConnection: true, ...options }),
    send: (requests: Rows) => sendBatch(app, rows(...requests), { tenant }),
    async [Symbol.asyncDispose]() {
      await stop();
      await database.dropDatabase();
      await app[Symbol.asyncDispose]();
    },
  };
}

test("a batch waits for the indexes of a history that are being built", async () => {
  await using mongo = await openReplicaSet();
  const aside = await mongoose.createConnection(mongo.uri).asPromise();
  const block = { mode: "alwaysOn", blockConnection: true, blockTimeMS: 700 };
  await failCommand(aside, ["createIndexes"], block);
  await using app = await mount([Deed], { mongo: mongo.uri, batch });
  const history = aside.useDb(mongoose.connection.name).collection("deeds_history");
  awaited = () => until(async () => (await history.indexes().catch(() => [])).length > 1);
  const { status, text } = await sendBatch(app, rows(["POST", "/deeds", {}]));
  assertEquals(status, 200, text);
  assertEquals(await history.countDocuments(), 1);
  await aside.close();
});

const BATCHES: Readonly<Record<string, Rows>> = {
  "two classes": [["POST", "/makers", { name: "a" }], ["POST", "/tools", {
    maker: { $result: "r0._id" },
  }]],
  "a class at the root": [["POST", "/makers", { name: "a" }], ["POST", "/", {}]],
  "a class with a history": [["POST", "/tools", {}]],
  "a class that a removal cascades to": [
    ["POST", "/makers", { name: "a" }],
    ["DELETE", "/makers/{r0._id}"],
  ],
};

for (const [what, requests] of Object.entries(BATCHES)) {
  test(`a batch is the first request to a database: ${what}`, async () => {
    await using app = await serve();
    // Builds that begin in the transaction are done before its next statement.
    await app.block(["find", "update"], { blockTimeMS: 300 });
    const { status, text } = await app.send(requests);
    assertEquals(status, 200, text);
    const names = (await app.database.listCollections()).map(({ name }) => name);
    assertEquals(names.filter((name) => name.startsWith("unused")), []);
  });
}

test("a batch that makes collections by another getConnection is repeated by its client", async () => {
  await using app = await serve();
  const requests: Rows = [["POST", "/makers", { name: "a" }], ["POST", "/others", { name: "a" }]];
  const { status, body, headers } = await app.send(requests);
  assertEquals([status, Object(body).reason, headers.has("retry-after")], [503, "locked", true]);
  assertEquals(await app.database.collection("makers").countDocuments(), 0);
  assertEquals((await app.send(requests)).status, 200);
});
