import type { ModelClass } from "../../mod.ts";
import { sharedReplicaSet } from "./shared_replica_set.ts";
import { mount, type Mounted, type MountOptions } from "./support.ts";

export async function mountOnReplicaSet(
  models: readonly ModelClass[],
  options: MountOptions = {},
): Promise<Mounted> {
  return await mount(models, { mongo: await sharedReplicaSet(), ...options });
}
