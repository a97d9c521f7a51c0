// @ts-types="express-types"
import express from "express";
import type { Express } from "express-types";
import { Framework } from "../mod.ts";
import type { InitializeOptions, ModelClass } from "../mod.ts";
import { openDatabase, type TestDatabase } from "./harness/database.ts";
import { serve, type Served } from "./harness/serve.ts";

/** An application that serves models, over a database of its own. */
export interface Mounted extends AsyncDisposable {
  /** Where it listens, without a trailing slash. */
  readonly url: string;
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
  const { prepare = (app) => app.use(express.json()), at = "/", ...rest } = options;
  const app = express();
  prepare(app);
  app.use(at, Framework.initialize({ ...rest, models }));
  app.use(Framework.errors());
  const database = await openDatabase();
  let served: Served;
  try {
    served = await serve(app);
  } catch (error) {
    await database[Symbol.asyncDispose]();
    throw error;
  }
  return {
    url: served.url,
    database,
    async [Symbol.asyncDispose]() {
      await served.stop();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** Writes a filter as the query string `?q=…`. */
export function asQuery(filter: unknown): string {
  return `?q=${encodeURIComponent(JSON.stringify(filter))}`;
}

/** What an error answers. */
export interface ErrorBody {
  /** The code. */
  readonly code: string;
  /** The message. */
  readonly message: string;
  /** What is wrong with which field. */
  readonly errors?: Record<string, { readonly message: string; readonly kind: string }>;
  /** The fields of a conflict. */
  readonly fields?: readonly string[];
}

/** Any entity, as an answer shows it. */
export type EntityBody = Record<string, unknown> & { readonly _id: string; readonly __v: number };

/** The identifier of an entity that nobody has stored. */
export const NOBODY = "0123456789abcdef01234567";
