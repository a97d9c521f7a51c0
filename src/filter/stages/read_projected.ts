import type { Document, Model, PipelineStage } from "mongoose";
import { isJsonObject } from "../../schema/fields/json.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import { foundDocument } from "../../schema/mongoose/statements/found_document.ts";
import { dropMarks } from "../../schema/mongoose/schemas/drop_marks.ts";
import { castFilter } from "../cast_filter.ts";
import { isEmpty } from "../filters.ts";
import { databaseProjection } from "../projection.ts";
import type { Projection } from "../projection.ts";
import { readSlice, sliceStage } from "./slice_stage.ts";
import type { Slice } from "./slice_stage.ts";

interface Projected {
  readonly shape: Shape;
  readonly model: Model<unknown>;
}

export interface ProjectedRead {
  readonly stages: readonly PipelineStage[];
  hydrate(raw: object): Document;
}

/**
 * Tells how to project as a query does: to `$project`, `$slice` and `$elemMatch` would be expressions.
 *
 * @throws {TypeError} If no stage can do it; the message names the path.
 */
export function readProjected(given: Projection, { shape, model }: Projected): ProjectedRead {
  const stored = databaseProjection(given, shape);
  const positional = Object.keys(stored).find((path) => path.endsWith(".$"));
  if (positional !== undefined) {
    throw unusable(`"${positional}" is not possible in an embedded part, use $elemMatch`);
  }
  const slices = pathsWith(stored, readSlice);
  const matches = pathsWith(stored, readMatch);
  if (slices.size + matches.size === 0) {
    const stages = isEmpty(stored) ? [] : [{ $project: stored as never }];
    const hydrate = (raw: object) => {
      dropMarks(raw);
      return model.hydrate(raw, stored) as Document;
    };
    return { stages, hydrate };
  }
  const { _id: _added, ...fields } = stored;
  const projection = { ...fields, ...Object.hasOwn(given, "_id") && { _id: given._id } };
  checkPaths(Object.keys(projection), [...slices.keys(), ...matches.keys()]);
  const stages = [
    ...projectStage(projection, { slices, matches }),
    ...[...slices].map(([path, slice]) => sliceStage(path, slice)),
    ...[...matches].flatMap(([path, condition]) => matchStages(path, { condition, model })),
  ];
  return { stages, hydrate: (raw) => foundDocument(model, { raw, projection }) };
}

/** The fields of which a part is shown. */
interface PartialFields {
  readonly slices: ReadonlyMap<string, Slice>;
  readonly matches: ReadonlyMap<string, object>;
}

/** The stage that projects whole fields, by the database's rules for a query. */
function projectStage(sent: Projection, { slices, matches }: PartialFields): PipelineStage[] {
  const partial = [...slices.keys(), ...matches.keys()];
  const others = Object.entries(sent).filter(([path]) => !partial.includes(path));
  const named = others.filter(([path]) => path !== "_id");
  const isInclusive = named.length > 0
    ? named.some(([, value]) => Boolean(value))
    : Boolean(sent._id) || slices.size === 0;
  if (isInclusive) {
    const whole = partial.map((path) => [path, 1]);
    return [{ $project: Object.fromEntries([...others, ...whole]) }];
  }
  const left = others.filter(([path, value]) => path !== "_id" || !value);
  return left.length === 0 ? [] : [{ $project: Object.fromEntries(left) as never }];
}

/** The stages that leave the first element of an array that matches, or nothing. The database alone can tell which. */
function matchStages(
  path: string,
  { condition, model }: { readonly condition: object; readonly model: Model<unknown> },
): PipelineStage[] {
  const list = { $map: { input: `$${path}`, as: "each", in: { each: ["$$each"] } } };
  return [{
    $lookup: {
      let: { list: { $cond: [{ $isArray: [`$${path}`] }, list, []] } },
      pipeline: [
        { $documents: "$$list" },
        { $match: { each: castMatch(path, { condition, model }) } },
        { $limit: 1 },
      ],
      as: path,
    },
  } as never, {
    $set: {
      [path]: { $cond: [{ $eq: [`$${path}`, []] }, "$$REMOVE", { $first: `$${path}.each` }] },
    },
  }];
}

function castMatch(
  path: string,
  { condition, model }: { readonly condition: object; readonly model: Model<unknown> },
): unknown {
  try {
    return castFilter(model, { [path]: { $elemMatch: condition } })[path];
  } catch (cause) {
    throw unusable(`$elemMatch of "${path}" cannot be cast`, cause);
  }
}

/** A dotted path is left to the database, which refuses it. */
function readMatch(value: unknown, path: string): object | undefined {
  if (path.includes(".") || !isJsonObject(value) || Object.keys(value).length !== 1) {
    return undefined;
  }
  return isJsonObject(value.$elemMatch) ? value.$elemMatch : undefined;
}

function pathsWith<T>(
  projection: Projection,
  read: (value: unknown, path: string) => T | undefined,
): Map<string, T> {
  const found = new Map<string, T>();
  for (const [path, value] of Object.entries(projection)) {
    const each = read(value, path);
    if (each !== undefined) found.set(path, each);
  }
  return found;
}

/** A query refuses to project a value and something in it. */
function checkPaths(paths: readonly string[], partial: readonly string[]): void {
  for (const path of partial) {
    const other = paths.find((each) => each.startsWith(`${path}.`) || path.startsWith(`${each}.`));
    if (other !== undefined) throw unusable(`"${path}" and "${other}" collide`);
  }
}

function unusable(problem: string, cause?: unknown): TypeError {
  return new TypeError(`Cannot use the projection: ${problem}`, { cause });
}
