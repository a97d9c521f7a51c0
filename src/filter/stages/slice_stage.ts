import type { PipelineStage } from "mongoose";
import { isJsonObject } from "../../schema/fields/json.ts";

/** The numbers of a `$slice`: how many elements, or where they start and how many. */
export type Slice = readonly number[];

const MOST = 2 ** 31 - 1;

/** Reads what a query takes for a `$slice`; `undefined` where it would be an expression, or refused. */
export function readSlice(value: unknown): Slice | undefined {
  if (!isJsonObject(value) || Object.keys(value).length !== 1) return undefined;
  const { $slice: given } = value;
  const numbers = Array.isArray(given) && given.length === 2 ? given : [given];
  if (!numbers.every((each) => typeof each === "number")) return undefined;
  const slice = numbers.map(toCount);
  return slice.length === 2 && Number(slice[1]) <= 0 ? undefined : slice;
}

/** A query cuts what is no whole number. */
function toCount(value: number): number {
  return Number.isNaN(value) ? 0 : Math.trunc(Math.min(Math.max(value, -MOST), MOST));
}

/** The stage that slices the arrays at a path; what is no array stays. */
export function sliceStage(path: string, slice: Slice): PipelineStage {
  const [first = "", ...names] = path.split(".");
  return { $set: { [first]: sliced(`$${first}`, { names, slice }) } };
}

interface Way {
  /** The names on the way to the array. */
  readonly names: readonly string[];
  readonly slice: Slice;
}

/** The expression of a value that has been sliced. */
function sliced(value: string, { names, slice }: Way): object {
  const [name, ...rest] = names;
  const isList = { $isArray: [value] };
  if (name === undefined) return { $cond: [isList, { $slice: [value, ...slice] }, value] };
  const inner = { [name]: sliced(`$$each.${name}`, { names: rest, slice }) };
  const one = { $cond: [isOf("$$each", "object"), { $mergeObjects: ["$$each", inner] }, "$$each"] };
  const all = (input: unknown) => ({ $map: { input, as: "each", in: one } });
  const list = { $cond: [isList, value, [value]] };
  const result = {
    $let: { vars: { all: all(list) }, in: { $cond: [isList, "$$all", { $first: "$$all" }] } },
  };
  return { $cond: [{ $or: [isList, isOf(value, "object")] }, result, value] };
}

function isOf(value: string, type: string): object {
  return { $eq: [{ $type: value }, type] };
}
