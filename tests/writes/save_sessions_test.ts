import { assertEquals } from "@std/assert";
// @ts-types="express-types"
import express, { type RequestHandler } from "express";
import mongoose from "mongoose";
import type { Connection, Document } from "mongoose";
import { create, Framework, FrameworkModel, getModel, one, prop, rest, update } from "../../mod.ts";
import type { Entity, HooksOf, ModelClass } from "../../mod.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { test } from "../harness/testing.ts";
import { mount, start } from "../support/support.ts";

class Doc extends FrameworkModel {
  @prop()
  name?: string;
}

/** Makes a model with a hook, so that its entities are written as documents. */
function made(
  connection: () => Connection,
  preSave: HooksOf<Doc>["preSave"] = (_req, entity) => entity,
): ModelClass<Doc> {
  const postFetch = (_req: unknown, entity: Entity<Doc>) => entity;
  const methods = [create<Doc>({ preSave }), update<Doc>({ preSave }), one<Doc>({ postFetch })];
  @rest({ route: "/docs", methods, getConnection: connection })
  class Made extends Doc {}
  return Made;
}

test("entities are written by a connection that does not wait for the database", async () => {
  const model = made(() => connection);
  await using app = await mount([model]);
  const connection = mongoose.createConnection(app.database.uri, { writeConcern: { w: 0 } });
  const { _id } = await app.created("/docs", { name: "a" });
  const docs = getModel(model, connection);
  while (await docs.countDocuments() === 0);
  assertEquals((await app.patch(`/docs/${_id}`, { name: "b" })).status, 200);
  while (await docs.countDocuments({ name: "b" }) === 0);
  await connection.close();
});

/** Updates and creates an entity; gives the statuses. */
async function writeBoth(url: string, _id: unknown): Promise<number[]> {
  const statuses: number[] = [];
  for (const [method, path] of [["PATCH", `/docs/${_id}`], ["POST", "/docs"]] as const) {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ name: "aborted" });
    const reply = await fetch(url + path, { method, headers, body });
    await reply.body?.cancel();
    statuses.push(reply.status);
  }
  return statuses;
}

/** Stores one entity, and asserts that nothing is left of what is written in a transaction that is aborted. */
async function assertAborted(
  connection: Connection,
  { model, around }: { readonly model: ModelClass<Doc>; readonly around: RequestHandler },
): Promise<void> {
  const docs = getModel(model, connection);
  await docs.createCollection();
  const { _id } = await docs.create({ name: "kept" });
  const router = Framework.initialize({ models: [model] });
  await using app = await start(express().use(express.json(), around, router));
  assertEquals(await writeBoth(app.url, _id), [200, 201]);
  const own = connection.collection(docs.collection.name);
  while (await own.countDocuments({}) > 1);
  assertEquals((await docs.find().lean()).map(({ name }) => name), ["kept"]);
}

test("entities are written in the transaction of a hook", async () => {
  const mongo = await sharedReplicaSet();
  const connection = await mongoose.createConnection(mongo).asPromise();
  const session = await connection.startSession();
  const model = made(() => connection, (_req, entity) => {
    (entity as unknown as Document).$session(session);
    return entity;
  });
  const around: RequestHandler = (req, res, next) => {
    if (req.method === "PATCH") session.startTransaction();
    else res.on("finish", () => session.abortTransaction());
    next();
  };
  await assertAborted(connection, { model, around });
  assertEquals(session.hasEnded, false);
  await session.endSession();
  await connection.close();
});

test("entities are written in the transaction around a request", async () => {
  const mongo = await sharedReplicaSet();
  const connection = await mongoose.createConnection(mongo).asPromise();
  const around: RequestHandler = (_req, res, next) => {
    connection.transaction(async () => {
      next();
      await new Promise((resolve) => res.on("finish", resolve));
      throw new Error("Aborted");
    }).catch(() => {});
  };
  mongoose.set("transactionAsyncLocalStorage", true);
  try {
    await assertAborted(connection, { model: made(() => connection), around });
  } finally {
    mongoose.set("transactionAsyncLocalStorage", false);
    await connection.close();
  }
});

test("entities with hooks are read in the transaction around a request", async () => {
  const mongo = await sharedReplicaSet();
  const connection = await mongoose.createConnection(mongo).asPromise();
  const model = made(() => connection);
  const docs = getModel(model, connection);
  await docs.createCollection();
  const _id = new mongoose.Types.ObjectId();
  const around: RequestHandler = (_req, res, next) => {
    connection.transaction(async () => {
      await docs.create({ _id, name: "a" });
      next();
      await new Promise((resolve) => res.on("finish", resolve));
      throw new Error("Aborted");
    }).catch(() => {});
  };
  mongoose.set("transactionAsyncLocalStorage", true);
  try {
    const router = Framework.initialize({ models: [model] });
    await using app = await start(express().use(around, router));
    assertEquals((await app.get<{ name?: string }>(`/docs/${_id}`)).body.name, "a");
  } finally {
    mongoose.set("transactionAsyncLocalStorage", false);
    await connection.close();
  }
});

/** The session that middleware gives new entities. */
let ofMiddleware: mongoose.ClientSession | undefined;

@rest({
  route: "/late",
  methods: [create({ preSave: (_req, entity) => entity, many: 5 })],
})
class Late extends Doc {
  static override configure(schema: mongoose.Schema): void {
    schema.pre("save", function (this: Document) {
      this.$session(ofMiddleware ?? null);
    });
  }
}

test("new entities are written in the transaction that middleware of them has begun", async () => {
  await using app = await mount([Late], { mongo: await sharedReplicaSet() });
  const late = getModel(Late);
  await late.createCollection();
  for (const body of [{ name: "a" }, [{ name: "a" }, { name: "b" }]]) {
    ofMiddleware = await mongoose.connection.startSession();
    ofMiddleware.startTransaction();
    assertEquals((await app.post("/late", body)).status, 201);
    assertEquals(await late.countDocuments(), 0);
    await ofMiddleware.abortTransaction();
    await ofMiddleware.endSession();
  }
});
