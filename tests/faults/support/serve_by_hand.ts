import process from "node:process";
// @ts-types="express-types"
import express from "express";
import type { Response } from "express-types";
import mongoose from "mongoose";
import type { Collection } from "mongoose";

/** Serves visits with Express and the driver. Their list is up to the application. */
export async function serveByHand(
  list: (res: Response, visits: Collection) => Promise<void> | void,
): Promise<void> {
  const { FAULTS_URI = "", PORT } = process.env;
  await mongoose.connect(FAULTS_URI);
  const visits = mongoose.connection.collection("visits");
  const app = express();
  app.use(express.json());
  app.get("/visits", (_req, res) => list(res, visits));
  app.post("/visits", async ({ body: { key, text } }, res) => {
    const { insertedId } = await visits.insertOne({ key, text });
    res.status(201).json({ _id: insertedId, key, text });
  });
  app.listen(Number(PORT), "127.0.0.1");
}
