import type { Model } from "mongoose";
import { modelSupport } from "../sources/collection/model_support.ts";
import { planRead, type ReadPlan } from "../sources/collection/plan_read.ts";
import type { Level } from "./request/route.ts";

/**
 * Decides how a route reads its entities, as JSON text or as objects, for the log and for live lists. The options of a
 * single request may still require objects. `model` is the compiled model, which an embedded part does not need.
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
