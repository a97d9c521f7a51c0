import type { RequestListener } from "node:http";
import { type Client, client } from "../../support/client.ts";
import { openDatabase } from "../../harness/database.ts";
import { serve } from "../../harness/serve.ts";
import { sharedReplicaSet } from "../../support/shared_replica_set.ts";

/** An example that listens, over a database of its own with its seed, and the client that speaks to it. */
export interface OpenExample extends Client, AsyncDisposable {
  /** Where it listens, without a trailing slash. */
  readonly url: string;
}

/** What an example is made of. */
export interface Example {
  /** Builds the application. */
  readonly buildApp: () => RequestListener;
  /** Stores its data. */
  readonly seed: () => Promise<void>;
}

/** Serves an example on a free port, on a replica set. Disposing stops it and drops its database. */
export async function openExample({ buildApp, seed }: Example): Promise<OpenExample> {
  const database = await openDatabase(await sharedReplicaSet());
  await seed();
  const served = await serve(buildApp());
  return {
    ...client(served),
    url: served.url,
    async [Symbol.asyncDispose]() {
      await served.stop();
      await database[Symbol.asyncDispose]();
    },
  };
}
