// Runs alone: it sets Mongoose's `transactionAsyncLocalStorage`.
import { assertEquals } from "@std/assert";
// @ts-types="express-types"
import express, { type RequestHandler } from "express";
import mongoose from "mongoose";
import {
  create,
  FrameworkModel,
  getModel,
  type ModelClass,
  one,
  prop,
  rest,
  update,
} from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";
import { test } from "../../harness/testing.ts";
import { mountOnReplicaSet } from "../../support/mount_on_replica_set.ts";
import { rows, sendBatch } from "./shop.ts";

class Note extends FrameworkModel {
  @prop()
  text?: string;
}

@rest({ route: "/plain", methods: [create(), update()] })
@rest({ route: "/hooked", methods: [create({ preSave: pass }), update({ preSave: pass })] })
class Plain extends Note {}

@rest({ route: "/kept", methods: [one(), create(), update()], history: true })
class Kept extends Note {}

const CLASSES: Readonly<Record<string, ModelClass<Note>>> = {
  "/plain": Plain,
  "/hooked": Plain,
  "/kept": Kept,
};

/** The transactions around the requests, which commit after any answer. */
const running: Promise<unknown>[] = [];

const around: RequestHandler = (_req, res, next) => {
  running.push(mongoose.connection.transaction(async () => {
    next();
    await new Promise((resolve) => res.on("finish", resolve));
  }));
};

test("a batch that is undone stores nothing by the transaction around it", async () => {
  await using app = await mountOnReplicaSet([Plain, Kept], {
    batch: { path: "/batch", max: 20 },
    prepare: (app) => app.use(express.json(), around),
  });
  for (const each of Object.values(CLASSES)) await getModel(each).init();
  mongoose.set("transactionAsyncLocalStorage", true);
  try {
    for (const [route, each] of Object.entries(CLASSES)) {
      const model = getModel(each);
      const { insertedId } = await model.collection.insertOne({ text: "a", __v: 0 });
      const missing = new mongoose.Types.ObjectId();
      const requests = rows(
        ["POST", route, { text: "new" }],
        ["PATCH", `${route}/${insertedId}`, { text: "b" }],
        ["PATCH", `${route}/${missing}`, { text: "b" }],
      );
      assertEquals((await sendBatch(app, requests)).status, 404, route);
      await Promise.all(running);
      assertEquals(await model.collection.distinct("text"), ["a"], route);
    }
  } finally {
    mongoose.set("transactionAsyncLocalStorage", false);
  }
});
