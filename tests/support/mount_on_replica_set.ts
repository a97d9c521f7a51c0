import type { ModelClass } from "../../mod.ts";
import { startMongo } from "../harness/mongo/start_mongo.ts";
import { mount, type Mounted, type MountOptions } from "./support.ts";

/** Serves models on a new replica set of one member, which stops with the application. */
export async function mountOnReplicaSet(
  models: readonly ModelClass[],
  options: MountOptions = {},
): Promise<Mounted> {
  const mongo = await startMongo({ replicaSet: 1 });
  try {
    const app = await mount(models, { mongo: mongo.uri, ...options });
    return {
      ...app,
      async [Symbol.asyncDispose]() {
        await app[Symbol.asyncDispose]();
        await mongo.stop();
      },
    };
  } catch (error) {
    await mongo.stop();
    throw error;
  }
}
