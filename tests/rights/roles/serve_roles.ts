// @ts-types="express-types"
import express from "express";
import type { RequestListener } from "node:http";
import mongoose from "mongoose";
import { Framework, getModel } from "../../../mod.ts";
import { start, type Started } from "../../support/support.ts";
import { ClassMaker } from "./role_classes.ts";
import type { CollectionNames } from "./role_classes.ts";
import { ROLES } from "./roles_world.ts";
import type { Doc, View, World } from "./roles_world.ts";

const VIEWS: readonly View[] = ["functions", ...ROLES];

const { EJSON } = mongoose.mongo.BSON;

/** What the collections of a world hold. */
interface StoredRoles {
  /** Reads it as canonical text. */
  readonly stored: () => Promise<string>;
  /** Stores something else in its place. */
  readonly restore: (stored: string) => Promise<void>;
  /** Reads the records of the roots as canonical text. */
  readonly records: () => Promise<string>;
  /** Stores other records in their place. */
  readonly restoreRecords: (records: string) => Promise<void>;
}

/** A world that is served once for each view, over the same collections; the header `x-view` chooses. */
export interface ServedRoles extends Started, StoredRoles {
  /** What has failed in it. */
  readonly failures: readonly unknown[];
}

/** Serves a world; disposing takes its collections away again. */
export async function serveRoles(world: World): Promise<ServedRoles> {
  const suffix = crypto.randomUUID().slice(0, 8);
  const names = { roots: `roles_roots_${suffix}`, targets: `roles_targets_${suffix}` };
  const failures: unknown[] = [];
  const onError = (_req: unknown, error: unknown) => void failures.push(error);
  const views = new Map<string, RequestListener>();
  for (const view of VIEWS) {
    const models = new ClassMaker(view, world).models(names);
    const app = express();
    app.use(express.json({ strict: false }), Framework.initialize({ models, onError }));
    if (view === "functions") { for (const model of models) await getModel(model).createIndexes(); }
    views.set(view, app);
  }
  const served = await start((req, res) => {
    views.get(String(req.headers["x-view"]))?.(req, res);
  });
  const store = storeOf(names);
  const [roots, targets] = [world.roots.map(extended), world.targets.map(extended)];
  await store.restore(JSON.stringify({ roots, targets }));
  return {
    ...{ ...served, ...store, failures },
    async [Symbol.asyncDispose]() {
      await served.stop();
      const all = [...Object.values(names), `${names.roots}_history`];
      for (const name of all) await mongoose.connection.dropCollection(name);
    },
  };
}

function storeOf({ roots, targets }: CollectionNames): StoredRoles {
  const native = (name: string) =>
    mongoose.connection.collection(name) as unknown as mongoose.mongo.Collection;
  const read = (name: string) => native(name).find().sort({ _id: 1 }).toArray();
  const replace = async (name: string, docs: Doc[]) => {
    await native(name).deleteMany();
    if (docs.length > 0) await native(name).insertMany(docs);
  };
  return {
    stored: async () => EJSON.stringify({ roots: await read(roots), targets: await read(targets) }),
    records: async () => EJSON.stringify(await read(`${roots}_history`)),
    restoreRecords: (text) => replace(`${roots}_history`, EJSON.parse(text)),
    restore: async (text) => {
      const stored = EJSON.parse(text);
      await replace(roots, stored.roots);
      await replace(targets, stored.targets);
    },
  };
}

/** Writes what looks like an identifier or a date as extended JSON does. */
function extended(value: unknown): unknown {
  if (typeof value === "string") {
    if (/^0{20}\d{4}$/.test(value)) return { $oid: value };
    return /^\d{4}-\d\d-\d\dT/.test(value) ? { $date: value } : value;
  }
  if (Array.isArray(value)) return value.map(extended);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value as Doc).map(([name, each]) => [name, extended(each)]),
  );
}
