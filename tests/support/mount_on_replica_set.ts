import type { ModelClass } from "../../mod.ts";
import { sharedReplicaSet } from "./shared_replica_set.ts";
import { mount, type Mounted, type MountOptions } from "./support.ts";

/** Serves models on a new database of the replica set that the tests of an isolate share. */
export async function mountOnReplicaSet(
  models: readonly ModelClass[],
  options: MountOptions = {},
): Promise<Mounted> {
  return await mount(models, { mongo: await sharedReplicaSet(), ...options });
}
