// Runs alone: it sets Mongoose's `transactionAsyncLocalStorage`.
import { assertEquals } from "@std/assert";
// @ts-types="express-types"
import express, { type RequestHandler } from "express";
import mongoose, { type Connection, type Model } from "mongoose";
import {
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  getModel,
  one,
  prop,
  remove,
  removeAll,
  replace,
  rest,
  update,
  updateAll,
} from "../../mod.ts";
import type { FrameworkRequest, ModelClass } from "../../mod.ts";
import { pass, type SentCommand, watchCommands } from "../support/both_paths.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { test } from "../harness/testing.ts";
import { asQuery, mount, type Mounted, start } from "../support/support.ts";

@rest({ route: "/plain", methods: [updateAll<Job>({ fields: ["name"] })] })
@rest({
  route: "/hooked",
  methods: [update({ preSave: pass }), updateAll<Job>({ fields: ["name"], preSave: pass })],
})
class Job extends FrameworkModel {
  @prop()
  name?: string;
}

/** Connects anew, with other options in the connection string. */
async function connectWith(
  app: Mounted,
  options: Record<string, string>,
): Promise<readonly SentCommand[]> {
  const uri = new URL(app.database.uri);
  for (const [name, value] of Object.entries(options)) uri.searchParams.set(name, value);
  return await watchCommands(uri.href);
}

test("updateAll() of one entity has the write concern of the connection, as update() has", async () => {
  const mongo = await sharedReplicaSet();
  await using app = await mount([Job], { mongo, onError: () => {} });
  const { _id } = await getModel(Job).create({ name: "a" });
  await connectWith(app, { w: "3", wtimeoutMS: "200" });
  for (const path of [`/hooked/${_id}`, `/hooked${asQuery({})}`]) {
    assertEquals((await app.patch(path, { name: "b" })).status, 503, path);
  }
});

test("updateAll() writes on a connection that reads from secondaries", async () => {
  const mongo = await sharedReplicaSet();
  await using app = await mount([Job], { mongo });
  await getModel(Job).create([{ name: "a" }, { name: "b" }]);
  await connectWith(app, { readPreference: "secondaryPreferred" });
  for (const route of ["/plain", "/hooked"]) {
    assertEquals((await app.patch(`${route}${asQuery({})}`, { name: route })).status, 200, route);
    assertEquals(await getModel(Job).distinct("name"), [route]);
  }
});

const namesOnly = {
  preFetch({ framework }: FrameworkRequest) {
    framework.projection = { name: 1 };
    return true;
  },
};

class Page extends FrameworkModel {
  @prop()
  name?: string;
  @prop()
  text?: string;
}

@rest({ route: "/books", methods: [create({ ...namesOnly, many: 2 }), one()] })
class Book extends FrameworkModel {
  @prop()
  name?: string;
  @prop()
  text?: string;
  @rest({ route: "/pages", methods: [create(namesOnly)] })
  @arrayProp({ items: Page, embedded: true })
  pages?: Page[];
}

test("what was just saved is read from the primary, on a connection that reads from secondaries", async () => {
  const mongo = await sharedReplicaSet();
  await using app = await mount([Book], { mongo });
  const { _id } = await getModel(Book).create({ name: "a" });
  const sent = await connectWith(app, { readPreference: "secondaryPreferred" });
  const body = { name: "b", text: "long" };
  for (const [path, given] of [["", body], ["", [body]], [`/${_id}/pages`, body]] as const) {
    const before = sent.length;
    const made = await app.post(`/books${path}`, given);
    assertEquals([made.status, "text" in Object([made.body].flat()[0])], [201, false], path);
    const commands = sent.slice(before);
    const read = commands.slice(commands.findLastIndex(({ name }) => /insert|update/.test(name)))
      .filter(({ name }) => /find|aggregate/.test(name));
    const modes = read.map(({ command: { $readPreference } }) =>
      ($readPreference as { readonly mode?: string } | undefined)?.mode ?? "primary"
    );
    assertEquals(modes, ["primary"], path);
  }
});

@rest({ route: "/codes", methods: [replace({ by: "code" })] })
class Coded extends FrameworkModel {
  @prop({ unique: true, required: true })
  code!: string;
}

test("the unique indexes are listed by the primary, on a connection that reads from secondaries", async () => {
  const mongo = await sharedReplicaSet();
  await using app = await mount([Coded], { mongo });
  await getModel(Coded).init();
  const sent = await connectWith(app, { readPreference: "secondaryPreferred" });
  assertEquals((await app.put("/codes/a", { code: "a" })).status, 201);
  const listed = sent.filter(({ name }) => name === "listIndexes");
  const modes = listed.map(({ command }) => Object(command.$readPreference).mode ?? "primary");
  assertEquals(new Set(modes), new Set(["primary"]));
});

class Counted extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Number })
  visits?: number;
}

/** Makes a model whose entities could be written without documents in one of its routes. */
function counted(connection: Connection): ModelClass<Counted> {
  const methods = (saving: { preSave?: typeof pass }, removing: { postFetch?: typeof pass }) => [
    create<Counted>({ many: 2, ...saving }),
    update<Counted>(saving),
    updateAll<Counted>({ fields: ["name"], ...saving }),
    remove<Counted>(removing),
    removeAll<Counted>(removing),
  ];
  const getConnection = () => connection;
  @rest({ route: "/docs", methods: methods({}, {}), getConnection })
  @rest({
    route: "/hooked",
    methods: methods({ preSave: pass }, { postFetch: pass }),
    getConnection,
  })
  class Plain extends Counted {}
  return Plain;
}

/** Wraps every request in a transaction, which counts a visit and is aborted; gives the middleware, and those that run. */
function aborting(docs: Model<Counted>) {
  const running: Promise<unknown>[] = [];
  const around: RequestHandler = (_req, res, next) => {
    const run = docs.db.transaction(async () => {
      await docs.updateOne({ name: "kept" }, { $inc: { visits: 1 } });
      next();
      await new Promise((resolve) => res.on("finish", resolve));
      throw new Error("Aborted");
    });
    running.push(run.catch(() => {}));
  };
  return { around, running };
}

/** Sends every kind of write. Each changes what the transaction has changed before: another one would wait for that. */
async function writeAll(app: { readonly [each in "post" | "patch" | "delete"]: Mounted[each] }, {
  route,
  id,
}: { readonly route: string; readonly id: unknown }): Promise<readonly number[]> {
  const all = `${route}${asQuery({ name: "kept" })}`;
  const replies = [
    await app.post(route, { name: "new" }),
    await app.post(route, [{ name: "new" }, { name: "newer" }]),
    await app.patch(`${route}/${id}`, { name: "changed" }),
    await app.patch(all, { name: "changed" }),
    await app.delete(`${route}/${id}`),
    await app.delete(all),
  ];
  return replies.map(({ status }) => status);
}

test("entities are written in the transaction around a request, one and several", async () => {
  const mongo = await sharedReplicaSet();
  const connection = await mongoose.createConnection(mongo).asPromise();
  const model = counted(connection);
  const docs = getModel(model, connection) as unknown as Model<Counted>;
  await docs.createCollection();
  const { _id: id } = await docs.create({ name: "kept" });
  await docs.create({ name: "kept" });
  const { around, running } = aborting(docs);
  mongoose.set("transactionAsyncLocalStorage", true);
  try {
    const limits = { timeMS: 2000 };
    const router = Framework.initialize({ models: [model], limits, onError: () => {} });
    await using app = await start(express().use(express.json(), around, router));
    for (const route of ["/docs", "/hooked"]) {
      assertEquals(await writeAll(app, { route, id }), [201, 201, 200, 200, 204, 204], route);
    }
    await Promise.all(running);
    const left = await docs.find().lean();
    assertEquals(
      left.map(({ name, visits }) => [name, visits]),
      Array(2).fill(["kept", undefined]),
    );
  } finally {
    mongoose.set("transactionAsyncLocalStorage", false);
    await connection.close();
  }
});
