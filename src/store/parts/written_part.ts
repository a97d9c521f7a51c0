import { asVersion, type Version } from "../../schema/fields/system_fields.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import type { StoredObject } from "../values.ts";
import type { PartSegment } from "./part_path.ts";

export interface WrittenPart {
  readonly version?: Version;
  readonly part?: StoredObject;
}

export function partProjection(
  key: string | undefined,
  steps: readonly PartSegment[],
): Record<string, unknown> {
  const part = steps.reduce<unknown>((holder, { property, id }) => {
    const value = { $let: { vars: { holder }, in: `$$holder.${property}` } };
    if (id === undefined) return value;
    const list = { $cond: [{ $isArray: "$$value" }, "$$value", []] };
    const named = { $filter: { input: list, cond: { $eq: ["$$this._id", id] } } };
    return { $let: { vars: { value }, in: { $arrayElemAt: [named, 0] } } };
  }, "$$ROOT");
  return { [key ?? "_id"]: 1, ...steps.length > 0 && { [PART]: part } };
}

const PART = "_part";

export function writtenPart(stored: StoredObject, key: string | undefined): WrittenPart {
  const { [PART]: part } = stored;
  return {
    ...key !== undefined && Object.hasOwn(stored, key) && { version: asVersion(stored[key]) },
    ...isJsonObject(part) && { part: part as StoredObject },
  };
}
