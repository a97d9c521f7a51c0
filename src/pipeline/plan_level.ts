import type { Model } from "mongoose";
import { modelSupport } from "../sources/collection/model_support.ts";
import { planRead, type ReadPlan } from "../sources/collection/plan_read.ts";
import type { Level } from "./request/route.ts";

/**
 * Returns the plan by which a level reads entities. The options of a single request may still make documents necessary.
 * `model` is the compiled model of the level. A part that its parent embeds needs no model.
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
