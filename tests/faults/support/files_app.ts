/**
 * An application with files. `POST /tidy` runs its housekeeping as of tomorrow. `GET /state` tells what has failed.
 *
 * @module
 */
import process from "node:process";
// @ts-types="express-types"
import express from "express";
import mongoose from "mongoose";
import { Framework } from "../../../mod.ts";
import { Scan } from "./files_judge.ts";

const { FAULTS_URI = "", PORT } = process.env;

const rejections: string[] = [];
process.on("unhandledRejection", (error) => void rejections.push(String(error)));

const causes = new WeakMap<object, unknown>();
const failures: string[] = [];
const app = express();
app.use(express.json(), (req, res, next) => {
  res.on("finish", () => {
    if (res.statusCode === 500) failures.push(`${req.method} ${req.path}: ${causes.get(req)}`);
  });
  next();
});
app.use(Framework.initialize({
  models: [Scan],
  onError: (req, error) => void causes.set(req, error),
}));
app.get("/state", (_req, res) => void res.json({ rejections, failures }));
app.post("/tidy", async (_req, res) => {
  res.json(await Framework.tidy({ at: new Date(Date.now() + 24 * 3_600_000) }));
});
app.use(Framework.errors());
app.listen(Number(PORT), "127.0.0.1");

// The database may come later than the application
const connect = () => mongoose.connect(FAULTS_URI).catch(() => undefined);
while (!await connect()) await new Promise((resolve) => setTimeout(resolve, 500));
