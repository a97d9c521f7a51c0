import express, { type Express } from "express";
import { admin, type AdminOptions } from "@mongrove/mongrove/admin";
import {
  Framework,
  type FrameworkRequest,
  type InitializeOptions,
  type ModelClass,
  RestError,
} from "../../mod.ts";
import type { PageDocument } from "../../src/admin/document.ts";
import { openDatabase } from "../harness/database.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import type { Client } from "../support/client.ts";
import { start } from "../support/support.ts";

/** An application with an admin page that listens. */
export interface AdminServer extends Omit<Client, "read">, AsyncDisposable {
  /** Where it listens, without a trailing slash. */
  readonly url: string;
  /** Reads the document of the page, as the caller with a role. */
  readonly read: (role?: string) => Promise<PageDocument>;
}

export interface AdminServerOptions extends Partial<AdminOptions> {
  /** Sets the application up before the API is mounted. */
  readonly prepare?: (app: Express) => void;
  /** The path of the page. */
  readonly at?: string;
  /** Options of `Framework.initialize()`. */
  readonly initialize?: Omit<InitializeOptions, "models">;
}

export async function serveAdmin(
  models: readonly ModelClass[],
  { prepare, at = "/admin", initialize, ...options }: AdminServerOptions = {},
): Promise<AdminServer> {
  const database = await openDatabase(await sharedReplicaSet());
  const api = Framework.initialize({ models, ...initialize });
  const app = express();
  app.use(express.json());
  prepare?.(app);
  app.use(api);
  app.use(at, admin(api, { title: "Test", ...options }));
  app.use(Framework.errors({ notFound: true }));
  const served = await start(app);
  return {
    ...served,
    read: async (role = "guest") => {
      const { body } = await served.get<PageDocument>(`${at}/routes.json`, { headers: { role } });
      return body;
    },
    async [Symbol.asyncDispose]() {
      await served.stop();
      await database[Symbol.asyncDispose]();
    },
  };
}

export function isGuest({ headers }: FrameworkRequest): boolean {
  return headers.role !== "staff";
}

/** Lets members of the staff pass. Guests get a 403, and strangers a 401. */
export function staffOnly(req: FrameworkRequest): boolean {
  if (req.headers.role === "stranger") throw new RestError(401, { code: "UNAUTHENTICATED" });
  return !isGuest(req);
}
