/**
 * What is measured beside Mongrove: an application that somebody has written with care. It sends its list from a cursor,
 * in small batches, at the pace of the client.
 *
 * @module
 */
import process from "node:process";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
// @ts-types="express-types"
import express from "express";
import mongoose from "mongoose";

const { FAULTS_URI = "", PORT } = process.env;

await mongoose.connect(FAULTS_URI);
const visits = mongoose.connection.collection("visits");

async function* listTexts(): AsyncGenerator<string> {
  let before = "[";
  for await (const visit of visits.find().batchSize(1000)) {
    yield before + JSON.stringify(visit);
    before = ",";
  }
  yield "]";
}

const app = express();
app.use(express.json());
app.get("/visits", async (_req, res) => {
  res.type("json");
  // Clients may leave
  await pipeline(Readable.from(listTexts(), { objectMode: false }), res).catch(() => {});
});
app.post("/visits", async ({ body: { key, text } }, res) => {
  const { insertedId } = await visits.insertOne({ key, text });
  res.status(201).json({ _id: insertedId, key, text });
});
app.listen(Number(PORT), "127.0.0.1");
