// Runs alone: it sets Mongoose's `transactionAsyncLocalStorage`.
import { assertEquals } from "@std/assert";
// @ts-types="express-types"
import express, { type RequestHandler } from "express";
import mongoose from "mongoose";
import {
  action,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  getModel,
  one,
  prop,
  remove,
  removeAll,
  replace,
  rest,
  update,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { asQuery, type EntityBody } from "../../support/support.ts";
import { records, serveHistory } from "./plans.ts";

class Stop extends FrameworkModel {
  @prop()
  place?: string;
}

@rest({
  route: "/trips",
  methods: [
    one(),
    create(),
    update(),
    replace(),
    remove(),
    removeAll(),
    action("shout", {
      on: "one",
      run: async (_req, trip: Entity<Trip>) => {
        trip.name = trip.name?.toUpperCase() ?? "";
        return await trip.save();
      },
    }),
  ],
  history: true,
})
class Trip extends FrameworkModel {
  @prop()
  name?: string;
  @prop()
  touched?: string;
  @rest({ methods: [create()] })
  @arrayProp({ items: Stop, embedded: true, apart: false })
  stops!: Stop[];
}

/** The transactions around the requests so far. */
const running: Promise<unknown>[] = [];

/**
 * Runs each request with the header `x-touch` in a transaction, which first changes the trip that the header names. The
 * header `x-end` says how the transaction ends.
 */
const around: RequestHandler = (req, res, next) => {
  const { "x-touch": id, "x-end": end } = req.headers;
  if (id === undefined) return next();
  const _id = new mongoose.Types.ObjectId(String(id));
  const run = mongoose.connection.transaction(async (session) => {
    await getModel(Trip).collection.updateOne({ _id }, { $set: { touched: "yes" } }, { session });
    next();
    await new Promise((resolve) => res.on("finish", resolve));
    if (end === "abort") throw new Error("Aborted");
  });
  running.push(run.catch(() => {}));
};

type Send = (path: string, options: { readonly headers: Record<string, string> }) => Promise<
  { readonly status: number }
>;

async function serveTrips() {
  mongoose.set("transactionAsyncLocalStorage", true);
  const app = await serveHistory([Trip], {
    limits: { timeMS: 2000 },
    onError: () => {},
    prepare: (app) => app.use(express.json(), around),
  });
  await getModel(Trip).createCollection();
  const writes: Record<string, Send> = {
    create: (_path, options) => app.post("/trips", {}, options),
    update: (path, options) => app.patch(path, { name: "b" }, options),
    replace: (path, options) => app.put(path, { name: "b" }, options),
    action: (path, options) => app.post(`${path}/shout`, {}, options),
    revert: (path, options) => app.post(`${path}/revert`, { version: 0 }, options),
    part: (path, options) => app.post(`${path}/stops`, {}, options),
    remove: (path, options) => app.delete(path, options),
    removeAll: (_path, options) => app.delete(`/trips${asQuery({ name: "a" })}`, options),
  };
  return {
    ...app,
    writes,
    async [Symbol.asyncDispose]() {
      mongoose.set("transactionAsyncLocalStorage", false);
      await app[Symbol.asyncDispose]();
    },
  };
}

test("a write and its record belong to the transaction around the request", async (t) => {
  await using app = await serveTrips();
  const countOf = async (end: string, send: Send) => {
    const { _id } = await app.created<EntityBody>("/trips", { name: "a" });
    const before = (await records({}, "trips_history")).length;
    const { status } = await send(`/trips/${_id}`, { headers: { "x-touch": _id, "x-end": end } });
    await Promise.all(running);
    const added = (await records({}, "trips_history")).length - before;
    await getModel(Trip).collection.deleteMany({});
    return [status < 300, added];
  };
  for (const [name, send] of Object.entries(app.writes)) {
    await t.step(name, async () => {
      assertEquals(await countOf("abort", send), [true, 0]);
      assertEquals(await countOf("commit", send), [true, 1]);
    });
  }
});
