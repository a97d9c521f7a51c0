import type { RequestListener } from "node:http";
// @ts-types="express-types"
import express from "express";
import type { Express } from "express-types";
import { Framework } from "../../mod.ts";
import type { InitializeOptions, ModelClass } from "../../mod.ts";
import { type Client, client } from "./client.ts";
import { openDatabase, type TestDatabase } from "../harness/database.ts";
import { serve, type Served } from "../harness/serve.ts";

export type { EntityBody, ErrorBody } from "./client.ts";

/** An application that listens, and the client that speaks to it. */
export type Started = Client & Served;

/** Serves models over a new database. */
export interface Mounted extends Client, AsyncDisposable {
  readonly database: TestDatabase;
}

/** Options of `Framework.initialize()` and of the application. */
export interface MountOptions extends Omit<InitializeOptions, "models"> {
  /** Replaces the JSON parser. */
  readonly prepare?: (app: Express) => void;
  /** @default {"/"} */
  readonly at?: string | RegExp;
  /** @default {that of the tests} */
  readonly mongo?: string | undefined;
}

/** Has a JSON parser, the framework's routes and its form of errors. Disposing also drops the database. */
export async function mount(
  models: readonly ModelClass[],
  options: MountOptions = {},
): Promise<Mounted> {
  const { prepare = (app) => app.use(express.json()), at = "/", mongo, ...rest } = options;
  const app = express();
  prepare(app);
  app.use(at, Framework.initialize({ ...rest, models }));
  app.use(Framework.errors());
  const database = await openDatabase(mongo);
  let served: Started;
  try {
    served = await start(app);
  } catch (error) {
    await database[Symbol.asyncDispose]();
    throw error;
  }
  return {
    ...served,
    database,
    async [Symbol.asyncDispose]() {
      await served.stop();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** Disposing stops the application. */
export async function start(app: RequestListener): Promise<Started> {
  const served = await serve(app);
  return { ...client(served), ...served };
}

/** Writes a filter as the query string `?q=…`. */
export function asQuery(filter: unknown): string {
  return `?q=${encodeURIComponent(JSON.stringify(filter))}`;
}

export const NOBODY = "0123456789abcdef01234567";
