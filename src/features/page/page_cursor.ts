import { isDeepStrictEqual } from "node:util";
import type { Schema } from "mongoose";
import { leftOutBy } from "../../declare/hooks/named_fields.ts";
import { badParameter } from "../../errors/refusals.ts";
import { topOf } from "../../filter/filters.ts";
import { type Order, sortValueAt, type SortValues, sortValues } from "../../filter/order.ts";
import { fieldAt, FREE } from "../../filter/q/resolve_path.ts";
import { readProjection } from "../../filter/projection.ts";
import { fieldToJson } from "../../json/to_json.ts";
import { fetchAnyway } from "../../pipeline/fetch.ts";
import { mayLeaveOut, mayShowOther } from "../../pipeline/lists/fill_window.ts";
import { windowOrder } from "../../pipeline/open_level.ts";
import { passReadHooks } from "../../pipeline/read.ts";
import type { OpenLevelContext } from "../../pipeline/request/request_context.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import { asVersion } from "../../schema/fields/system_fields.ts";
import { hasMiddleware } from "../../schema/mongoose/schemas/schema_members.ts";
import { castPathId } from "../../sources/entities.ts";
import type { EntityName, FoundPage } from "../../sources/source.ts";
import { type Cursor, type EntityCursor, orderMark, writeCursor } from "./cursor.ts";
import { isOrderOfValues, isScalar, isShownOrder } from "./seek.ts";

export async function cursorPaths(context: OpenLevelContext): Promise<readonly string[]> {
  const order = windowOrder(context);
  const { shape, versionKey, link } = context.level;
  const { _id: showsId = true } = readProjection(context.state.projection, shape);
  if (!showsId) return [];
  if (!isOrderOfValues(order, shape)) return ["_id"];
  const values = isOpen(context, order) ? Object.keys(order) : ["_id"];
  const hasVersion = versionKey !== undefined && !link?.embedded &&
    (values.length < Object.keys(order).length || await mayShowOther(context));
  return hasVersion ? [...values, versionKey] : values;
}

export function cursorBehind(
  context: OpenLevelContext,
  { end, shown }: FoundPage,
): string | undefined {
  const order = windowOrder(context);
  const { level: { shape, versionKey = "" } } = context;
  if (end === undefined || !isOrderOfValues(order, shape)) return undefined;
  const values = Object.fromEntries(Object.keys(order).map((path) => [path, end[path]]));
  const isShown = isOpen(context, order) &&
    (shown === undefined || hasValues(shown, { values, shape }));
  const version = versionKey in end ? asVersion(end[versionKey]) : undefined;
  return writeCursor(order, { values, isShown, version });
}

export async function valuesAt(
  context: OpenLevelContext,
  { order, cursor }: { readonly order: Order; readonly cursor: Cursor },
): Promise<SortValues> {
  const paths = Object.keys(order);
  if (cursor.order !== undefined && cursor.order !== orderMark(order)) throw ofAnotherOrder();
  if (!("values" in cursor)) return await valuesOf(context, { order, cursor });
  const { values } = cursor;
  // With invented sort values, a client could learn hidden values from the next page.
  if (values.length !== paths.length || !isOpen(context, order)) throw ofAnotherOrder();
  return Object.fromEntries(paths.map((path, index) => [path, values[index]]));
}

async function valuesOf(
  context: OpenLevelContext,
  { order, cursor }: { readonly order: Order; readonly cursor: EntityCursor },
): Promise<SortValues> {
  const { shape, versionKey = "_id" } = context.level;
  const { id, version } = cursor;
  const paths = Object.keys(order);
  const given = cursor.order === undefined ? castPathId(String(id), shape) : id;
  const isOfType = cursor.order === undefined ||
    shape.fields.get("_id")?.type?.instance === "ObjectId";
  if (paths.length === 1 && isOfType && given !== undefined) return { _id: given };
  const name = cursor.order === undefined ? String(id) : { _id: id };
  const stored = await isShown(context, name)
    ? await context.source.readStored(name, [...paths, versionKey])
    : undefined;
  if (stored === undefined) throw badParameter("after", "the identifier of an entity of the list");
  const values = sortValues(stored, paths);
  const hasMoved = version !== undefined && version !== asVersion(stored[versionKey]);
  if (hasMoved) throw badParameter("after", "the place of an entity that has not changed since");
  // JavaScript cannot represent some stored dates, so the next page would repeat entities.
  const isFar = Object.values(values).some((each) => each instanceof Date && !isScalar(each));
  if (isFar) throw badParameter("after", "the place of an entity with dates up to the year 275760");
  return values;
}

function ofAnotherOrder() {
  return badParameter("after", "what Link has in this order");
}

function isOpen(
  { level: { shape, hooks }, state, pieces: { fills } }: OpenLevelContext,
  order: Order,
): boolean {
  const projection = readProjection(state.projection, shape);
  const leftOut = leftOutBy(hooks.preSend);
  return isShownOrder(order, { shape, projection }) &&
    !Object.keys(order).some((path) => fills?.names.has(path) || leftOut.includes(topOf(path)));
}

/** A hook may have changed the JSON, and the cursor would reveal the stored values. */
function hasValues(
  json: unknown,
  { values, shape }: { readonly values: SortValues; readonly shape: Shape },
): boolean {
  return Object.entries(values).every(([path, value]) =>
    isDeepStrictEqual(sortValueAt(json, path), fieldToJson(value, fieldAt(path, shape) ?? FREE))
  );
}

/** A cursor at a hidden entity is refused, or else the next page would reveal its sort values. */
async function isShown(context: OpenLevelContext, name: EntityName): Promise<boolean> {
  const { schema } = await context.model();
  if (!mayLeaveOut(context) && !hasMiddleware(schema as Schema, ["findOne"])) return true;
  const entity = await fetchAnyway(context, name);
  return entity !== undefined && await passReadHooks(context, entity) !== undefined;
}
