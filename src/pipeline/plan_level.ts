import type { Model } from "mongoose";
import { modelSupport } from "../sources/collection/model_support.ts";
import { planRead, type ReadPlan } from "../sources/collection/plan_read.ts";
import type { Level } from "./request/route.ts";

/**
 * Query options of a hook can make a single request need documents in spite of this plan. Embedded entities have no
 * `model`, and always need documents.
 */
export function planLevel(
  { hooks, traits, link, shape }: Level,
  model: Model<unknown> | undefined,
): ReadPlan {
  const isEmbedded = link?.embedded === true || model === undefined;
  const needsMongoose = isEmbedded ? undefined : modelSupport(model, shape).needsMongoose;
  return planRead({
    hooks,
    forChange: traits.change !== undefined,
    isEmbedded,
    shape,
    needsMongoose,
  });
}
