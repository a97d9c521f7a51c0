/**
 * The parts that the applications of fault tests share. They record what has failed, and connect as soon as the database is
 * available.
 *
 * @module
 */
import process from "node:process";
// @ts-types="express-types"
import express from "express";
import mongoose from "mongoose";

const { FAULTS_URI = "" } = process.env;

/** The promises that nobody waited for, and that were rejected. */
export const rejections: string[] = [];
process.on("unhandledRejection", (error) => {
  rejections.push(String(error));
  console.error(error);
});

/** The errors of requests, for the option `onError`. */
export const causes = new WeakMap<object, unknown>();

/** The requests that were answered 500, and why. */
export const failures: string[] = [];

/** The requests that were answered 503, and why. A cause that repeats is told once in a minute. */
export const outages: string[] = [];

/** The application, to which the tests add their routes. */
export const app = express();
app.use(express.json(), (req, res, next) => {
  res.on("finish", () => {
    const error = causes.get(req);
    const place = `${req.method} ${req.path}`;
    if (res.statusCode === 500) failures.push(`${place}: ${error}`);
    else if (res.statusCode === 503 && error instanceof Error) {
      outages.push(`${place}: ${error.cause ?? error}`);
    }
  });
  next();
});

/** Connects to the database, which may start later than the application. */
export async function connect(): Promise<void> {
  const isConnected = () => mongoose.connect(FAULTS_URI).then(() => true, () => false);
  while (!await isConnected()) await new Promise((resolve) => setTimeout(resolve, 500));
}
