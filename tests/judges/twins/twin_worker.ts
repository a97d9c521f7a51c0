import { tracingChannel } from "node:diagnostics_channel";
import { parentPort, workerData } from "node:worker_threads";
// @ts-types="express-types"
import express from "express";
import mongoose from "mongoose";
import { Framework, getModel, type ModelClass, type RequestTrace } from "../../../mod.ts";
import { mount } from "../../support/support.ts";
import type { TwinData } from "./twins.ts";

const { mongo, hiding, isAdopted, start } = workerData as TwinData;

const { Holder, Item }: { readonly Holder: ModelClass; readonly Item: ModelClass } = isAdopted
  ? await import("./adopted_twins.ts")
  : await import("./twin_models.ts");

/**
 * The number of the request, of the request in its batch, and of the identifiers that it has got, so that both twins
 * make the same identifiers.
 */
const at = { turn: 0, part: 0, made: 0 };

// An identifier has the time, five bytes of the process and a counter.
Date.now = () => start + at.turn * 10;
Object.assign(mongoose.mongo.ObjectId, {
  PROCESS_UNIQUE: new Uint8Array(5).fill(0xee),
  getInc: () => at.turn * 400 + at.part * 40 + at.made++,
});

tracingChannel("mongrove:request").start.subscribe((message) => {
  if ((message as RequestTrace).attributes["mongrove.model"] === undefined) return;
  at.part++;
  at.made = 0;
});

let isBatch = false;

/** The commands of batches that did not belong to the transaction of their batch. */
const escaped: string[] = [];

const app = await mount([Item, Holder], {
  mongo: `${mongo}&monitorCommands=true`,
  queryMethod: true,
  actor: (req) => req.headers["x-user"] as string | undefined,
  batch: { path: "/batch", max: 20 },
  ...hiding !== "trash" && { tenant: (req) => req.headers["x-owner"] as string | undefined },
  prepare(app) {
    app.use((req, _res, next) => {
      const { "x-turn": turn, "x-continued": isContinued } = req.headers;
      if (turn !== undefined && isContinued === undefined) {
        Object.assign(at, { turn: Number(turn), part: 0, made: 0 });
      }
      isBatch = req.path === "/batch";
      next();
    });
    app.use(express.json());
    app.get("/escaped", (_req, res) => void res.json(escaped));
    app.get("/host", async (req, res) => {
      const { model, filter } = await Framework.queryFor(req, Item);
      res.json(await model.find(filter).sort("_id"));
    });
  },
});
mongoose.connection.getClient().on("commandStarted", ({ commandName, command }) => {
  // The first batch asks whether the deployment has transactions. The names of indexes are listed for the error of a
  // duplicate, when the transaction is undone. The session of an undone transaction is killed, so that its locks end.
  const isAllowed = ["hello", "listIndexes", "killSessions"].includes(commandName);
  if (isBatch && command.autocommit !== false && !isAllowed) {
    escaped.push(`${commandName} ${JSON.stringify(command)}`);
  }
});
await Promise.all([Item, Holder].map((model) => getModel(model).init()));

parentPort?.once("message", async () => {
  await app[Symbol.asyncDispose]();
  parentPort?.postMessage("stopped");
});
parentPort?.postMessage({ url: app.url, database: app.database.uri });
