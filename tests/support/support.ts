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

/** An application that serves models, over a database of its own, and the client that speaks to it. */
export interface Mounted extends Client, AsyncDisposable {
  /** Its database, on Mongoose's default connection. */
  readonly database: TestDatabase;
}

/** Options of {@linkcode mount}: those of `Framework.initialize()`, and how the application is set up. */
export interface MountOptions extends Omit<InitializeOptions, "models"> {
  /** Sets the application up before the framework is mounted, in place of the JSON parser. */
  readonly prepare?: (app: Express) => void;
  /**
   * The path under which the routes are mounted.
   *
   * @default {"/"}
   */
  readonly at?: string | RegExp;
  /**
   * The connection string of the MongoDB.
   *
   * @default {that of the tests}
   */
  readonly mongo?: string | undefined;
}

/**
 * Serves models the way an application does: a JSON parser, the framework's routes, the framework's error form.
 *
 * @param models The models; nothing else is mounted.
 * @param options See {@linkcode MountOptions}.
 * @returns The running application; disposing stops it and drops its database.
 */
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

/** Serves any application; disposing stops it. */
export async function start(app: RequestListener): Promise<Started> {
  const served = await serve(app);
  return { ...client(served), ...served };
}

/** Writes a filter as the query string `?q=…`. */
export function asQuery(filter: unknown): string {
  return `?q=${encodeURIComponent(JSON.stringify(filter))}`;
}

/** The identifier of an entity that nobody has stored. */
export const NOBODY = "0123456789abcdef01234567";
