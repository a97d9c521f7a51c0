import { assertEquals } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import { Framework, type FrameworkRequest, type ModelClass } from "../../mod.ts";
import { apiKeyOf, keys, type KeysOptions } from "../../src/keys/mod.ts";
import { Assignee, Task } from "../plugins/plugged.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import type { Client } from "../support/client.ts";
import { mount, type MountOptions, start } from "../support/support.ts";

/** A key as its owner gets it once. */
export interface MadeKey {
  readonly id: string;
  readonly key: string;
  readonly prefix: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
  readonly endedAt: string | null;
}

interface KeyedOptions extends MountOptions {
  readonly models?: readonly ModelClass[];
  readonly keys?: Partial<KeysOptions>;
}

/** The header of a user who has signed in. */
export const as = (user: string) => ({ headers: { "x-user": user } });

/** The header of a program with a key. */
export const by = ({ key }: { readonly key: string }) => ({ headers: { "x-api-key": key } });

/** Returns the user of the header, or the owner of the key. */
export function senderOf(req: object): string | undefined {
  const { headers } = req as FrameworkRequest;
  return apiKeyOf(req)?.owner as string ?? headers["x-user"];
}

/** Options of a router with keys. */
export function keyedOptions(given: Partial<KeysOptions> = {}) {
  return {
    actor: senderOf,
    guard: (req: object) => senderOf(req) !== undefined,
    plugins: [keys({ owner: (id) => ({ id }), ...given })],
  };
}

/** Serves tasks and people to users and their keys, over a replica set unless `mongo` says another one. */
export async function mountKeyed(
  { models = [Task, Assignee], keys: given, ...rest }: KeyedOptions,
) {
  const { mongo = await sharedReplicaSet() } = rest;
  const app = await mount(models, { ...keyedOptions(given), mongo, ...rest });
  return { ...app, make: makerOf(app) };
}

/** Serves more on the database of a mounted application, as another process does. */
export async function serveKeyed(given: Partial<KeysOptions> = {}, models = [Task, Assignee]) {
  const app = express();
  app.use(express.json(), Framework.initialize({ ...keyedOptions(given), models }));
  app.use(Framework.errors());
  const served = await start(app);
  return { ...served, make: makerOf(served), [Symbol.asyncDispose]: () => served.stop() };
}

function makerOf({ post }: Client) {
  return async (user: string, scopes: readonly string[], more = {}) => {
    const given = { name: "program", scopes, ...more };
    const { status, body, text } = await post<MadeKey>("/keys", given, as(user));
    assertEquals(status, 201, text);
    return body;
  };
}
