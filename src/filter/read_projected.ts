import type { Document, Model, PipelineStage } from "mongoose";
import { isJsonObject } from "../schema/fields/json.ts";
import type { Shape } from "../schema/fields/shape.ts";
import { dropMarks } from "../schema/mongoose/schemas/drop_marks.ts";
import { isEmpty } from "./filters.ts";
import { databaseProjection } from "./projection.ts";
import type { Projection } from "./projection.ts";

interface Projected {
  readonly shape: Shape;
  readonly model: Model<unknown>;
}

export interface ProjectedRead {
  readonly stages: readonly PipelineStage[];
  hydrate(raw: object): Document;
}

/**
 * Tells how to project what a parent embeds, which is read by an aggregation.
 *
 * @throws {TypeError} If a query would show some elements of an array: in an aggregation, that would be an expression.
 */
export function readProjected(given: Projection, { shape, model }: Projected): ProjectedRead {
  const stored = databaseProjection(given, shape);
  for (const [path, value] of Object.entries(stored)) {
    if (!path.endsWith(".$") && !showsElements(value)) continue;
    throw new TypeError(
      `Cannot use the projection: "${path}" would show some elements of an array, which is not possible in an embedded part`,
    );
  }
  const stages = isEmpty(stored) ? [] : [{ $project: stored as never }];
  const hydrate = (raw: object) => {
    dropMarks(raw);
    return model.hydrate(raw, stored) as Document;
  };
  return { stages, hydrate };
}

function showsElements(value: unknown): boolean {
  return isJsonObject(value) && ("$slice" in value || "$elemMatch" in value);
}
