import { parentPort, workerData } from "node:worker_threads";
// @ts-types="express-types"
import express from "express";
import mongoose from "mongoose";
import { Framework, getModel } from "../../../mod.ts";
import { mount } from "../../support/support.ts";
import { Holder, Item } from "./twin_models.ts";
import type { TwinData } from "./twins.ts";

const { mongo, hiding, start } = workerData as TwinData;

/** The number of the request, and of the identifiers that it has got, so that both twins make the same identifiers. */
const at = { turn: 0, made: 0 };

// An identifier has the time, five bytes of the process and a counter.
Date.now = () => start + at.turn * 10;
Object.assign(mongoose.mongo.ObjectId, {
  PROCESS_UNIQUE: new Uint8Array(5).fill(0xee),
  getInc: () => at.turn * 200 + at.made++,
});

const app = await mount([Item, Holder], {
  mongo,
  queryMethod: true,
  actor: (req) => req.headers["x-user"] as string | undefined,
  ...hiding !== "trash" && { tenant: (req) => req.headers["x-owner"] as string | undefined },
  prepare(app) {
    app.use((req, _res, next) => {
      const turn = req.headers["x-turn"];
      if (turn !== undefined) Object.assign(at, { turn: Number(turn), made: 0 });
      next();
    });
    app.use(express.json());
    app.get("/host", async (req, res) => {
      const { model, filter } = await Framework.queryFor(req, Item);
      res.json(await model.find(filter).sort("_id"));
    });
  },
});
await Promise.all([Item, Holder].map((model) => getModel(model).init()));

parentPort?.once("message", async () => {
  await app[Symbol.asyncDispose]();
  parentPort?.postMessage("stopped");
});
parentPort?.postMessage({ url: app.url, database: app.database.uri });
