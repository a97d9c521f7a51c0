import { isDeepStrictEqual } from "node:util";
import type { Schema } from "mongoose";
import { badParameter } from "../../errors/refusals.ts";
import { orderMark, writeCursor } from "../../filter/parameters/cursor.ts";
import type { Cursor, EntityCursor } from "../../filter/parameters/cursor.ts";
import type { Order } from "../../filter/parameters/read_rules.ts";
import {
  isOrderOfValues,
  isScalar,
  isShownOrder,
  sortValues,
  valueAt,
} from "../../filter/parameters/order.ts";
import type { SortValues } from "../../filter/parameters/order.ts";
import { readProjection } from "../../filter/projection.ts";
import { toJsonValue } from "../../json/to_json.ts";
import { showsStoredValues } from "../../schema/mongoose/documents/hide_in_json.ts";
import { asVersion } from "../../schema/fields/system_fields.ts";
import { fetchAnyway } from "../fetch.ts";
import type { EntityName, FoundPage } from "../../sources/source.ts";
import { passReadHooks } from "../read.ts";
import type { OpenLevel } from "../request/call.ts";
import { pageOrder } from "../open_level.ts";

export async function cursorPaths(at: OpenLevel): Promise<readonly string[]> {
  const order = pageOrder(at);
  const { shape, versionKey, link } = at.level;
  const { _id: showsId = true } = readProjection(at.state.projection, shape);
  if (!showsId) return [];
  if (!isOrderOfValues(order, shape)) return ["_id"];
  const values = isOpen(at, order) ? Object.keys(order) : ["_id"];
  // Embedded entities have no version of their own.
  const hasVersion = versionKey !== undefined && !link?.embedded &&
    (values.length < Object.keys(order).length || await mayShowOther(at));
  return hasVersion ? [...values, versionKey] : values;
}

export function cursorBehind(at: OpenLevel, { end, shown }: FoundPage): string | undefined {
  const order = pageOrder(at);
  const { level: { shape, versionKey = "" } } = at;
  if (end === undefined || !isOrderOfValues(order, shape)) return undefined;
  const values = Object.fromEntries(Object.keys(order).map((path) => [path, end[path]]));
  const isShown = isOpen(at, order) && (shown === undefined || hasValues(shown, values));
  const version = versionKey in end ? asVersion(end[versionKey]) : undefined;
  return writeCursor(order, { values, isShown, version });
}

export async function valuesAt(
  at: OpenLevel,
  { order, cursor }: { readonly order: Order; readonly cursor: Cursor },
): Promise<SortValues> {
  const paths = Object.keys(order);
  if (cursor.order !== undefined && cursor.order !== orderMark(order)) throw ofAnotherOrder();
  if (!("values" in cursor)) return await valuesOf(at, { order, cursor });
  const { values } = cursor;
  // A client could find out hidden values by comparing with values that it makes up.
  if (values.length !== paths.length || !isOpen(at, order)) throw ofAnotherOrder();
  return Object.fromEntries(paths.map((path, index) => [path, values[index]]));
}

async function valuesOf(
  at: OpenLevel,
  { order, cursor }: { readonly order: Order; readonly cursor: EntityCursor },
): Promise<SortValues> {
  const { shape, versionKey = "_id" } = at.level;
  const { id, version } = cursor;
  const paths = Object.keys(order);
  const isUsual = shape.fields.get("_id")?.type?.instance === "ObjectId";
  if (paths.length === 1 && isUsual) return { _id: id };
  // A text is cast to the type of the field.
  const name = cursor.order === undefined ? String(id) : { _id: id };
  const stored = await isShown(at, name)
    ? await at.source.readStored(name, [...paths, versionKey])
    : undefined;
  if (stored === undefined) throw badParameter("after", "the identifier of an entity of the list");
  const values = sortValues(stored, paths);
  const hasMoved = version !== undefined && version !== asVersion(stored[versionKey]);
  if (hasMoved) throw badParameter("after", "the place of an entity that has not changed since");
  // JavaScript cannot hold some dates of other languages: a page behind another one would repeat.
  const isFar = Object.values(values).some((each) => each instanceof Date && !isScalar(each));
  if (isFar) throw badParameter("after", "the place of an entity with dates up to the year 275760");
  return values;
}

function ofAnotherOrder() {
  return badParameter("after", "what Link has in this order");
}

/** Whether a reader who is shown whole entities sees all that an order compares. */
function isOpen({ level: { shape }, state, finder }: OpenLevel, order: Order): boolean {
  const projection = readProjection(state.projection, shape);
  return isShownOrder(order, { shape, projection }) &&
    !Object.keys(order).some((path) => finder?.names.has(path));
}

/** Whether the JSON of an entity shows values as they are stored. */
function hasValues(json: unknown, values: SortValues): boolean {
  return Object.entries(values).every(([path, value]) =>
    isDeepStrictEqual(valueAt(json, path), toJsonValue(value))
  );
}

async function isShown(at: OpenLevel, name: EntityName): Promise<boolean> {
  if (!mayLeaveOut(at)) return true;
  const entity = await fetchAnyway(at, name);
  return entity !== undefined && await passReadHooks(at, entity) !== undefined;
}

/** Whether what is shown of an entity may be other values than it is sorted by. */
export async function mayShowOther(at: OpenLevel): Promise<boolean> {
  return mayLeaveOut(at) || !showsStoredValues((await at.model()).schema as Schema);
}

export function mayLeaveOut({ level: { hooks } }: OpenLevel): boolean {
  return hooks.postFetch !== undefined || hooks.preSend !== undefined;
}
