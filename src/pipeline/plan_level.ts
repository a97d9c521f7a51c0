import type { Model } from "mongoose";
import { modelSupport } from "../sources/collection/model_support.ts";
import { planRead, type ReadPlan } from "../sources/collection/plan_read.ts";
import type { Level } from "./request/route.ts";

/**
 * Returns the plan by which a route reads its entities, as JSON text or as objects. The log shows the plan at start-up,
 * and clients share one read of a live list only if its plan needs no objects. A single request may still need objects,
 * because of query options of its hooks. `model` is missing for embedded entities, which are always read as objects.
 */
export function planLevel(
  { hooks, kind, link, shape }: Level,
  model: Model<unknown> | undefined,
): ReadPlan {
  const isEmbedded = link?.embedded === true || model === undefined;
  const needsMongoose = isEmbedded ? undefined : modelSupport(model, shape).needsMongoose;
  return planRead({
    hooks,
    forChange: kind.change !== undefined,
    isEmbedded,
    shape,
    needsMongoose,
  });
}
