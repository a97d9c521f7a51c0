// Mongoose populates what the driver has found before documents are made of it, or where none are made at all.
import type { Cursor, Model, Query, Schema } from "mongoose";
import { isDocument } from "../bson.ts";
import { fitReferences, hasReferences } from "../documents/stray_references.ts";
import { BATCH_SIZE } from "./bound_replies.ts";
import { markOwnMiddleware } from "../schemas/schema_members.ts";

type Found = Record<string, unknown> | null;

/** A cursor of the driver, which may not have begun. */
interface DriverCursor {
  map(transform: (found: object) => object): unknown;
}

type AnyQuery = Query<unknown, unknown>;

/** Queries hold the driver's collection, without declaring it. */
interface Inside {
  mongooseCollection?: {
    find?(...args: unknown[]): DriverCursor | Promise<DriverCursor>;
    findOne?(...args: unknown[]): Promise<Found>;
  };
}

const guarded = new WeakSet<Schema>();

/**
 * Has queries that populate take an object that is stored in the place of a reference for the identifier in it, or for
 * `null`. Mongoose would take it for an entity: one such document, stored by another program, would turn a whole list with
 * a `populate` of a hook into a 404 or a 500.
 */
export function fitBeforePopulate(schema: Schema): void {
  if (!guarded.has(schema) && hasReferences(schema)) {
    schema.pre(["find", "findOne"], fitFound as never);
  }
  guarded.add(schema);
}

/** An option that queries give to those that find what they populate: these may make no documents either. */
const WITHIN = "_populatesWithin";

/** What Mongoose knows of a path that it populates. */
interface Populated {
  options?: object;
}

function fitFound(this: AnyQuery): void {
  const inside = this as unknown as Inside;
  const { mongooseCollection: collection } = inside;
  if (typeof collection?.find !== "function" || typeof collection.findOne !== "function") return;
  const isWithin = passOn(this);
  const find = async (...args: unknown[]) => {
    const cursor = await collection.find?.(...args);
    if (cursor !== undefined && (isWithin || populates(this))) fitEach(cursor, this);
    return cursor;
  };
  const findOne = async (...args: unknown[]) => {
    const found = await collection.findOne?.(...args) ?? null;
    return found !== null && populates(this) ? fitReferences(found, schemaOf(found, this)) : found;
  };
  inside.mongooseCollection = Object.create(collection, {
    find: { value: find },
    findOne: { value: findOne },
  });
}
markOwnMiddleware(fitFound);

/** How many documents one query populates: without a number, Mongoose asks for each one. */
const POPULATED_AT_ONCE = 128;

/**
 * Opens a cursor, for which the same is done: cursors take another way to the driver.
 *
 * @param see Gets what the driver has found, before Mongoose does.
 */
export function openFitted<T>(
  query: Query<T[], T>,
  see: (found: object) => void = () => {},
): Cursor<T, unknown> {
  const cursor = query.cursor(populates(query) ? { batchSize: POPULATED_AT_ONCE } : {});
  cursor.once("cursor", (opened: DriverCursor | null) => {
    opened?.map((found) => {
      see(found);
      return found;
    });
    if (opened !== null && populates(query)) fitEach(opened, query);
  });
  return cursor;
}

/** Populates what a query has not found; objects are those of the driver. */
export async function populateFound(
  model: Model<unknown>,
  { docs, populate }: { readonly docs: readonly object[]; readonly populate: unknown },
): Promise<void> {
  for (const each of docs) if (!isDocument(each)) fitReferences(each, model.schema as Schema);
  await model.populate(docs as never, populate as never);
}

/** Tells whether a query finds what another one populates, and passes that on with a bound of the replies. */
function passOn(query: AnyQuery): boolean {
  const options = query.getOptions() as { [WITHIN]?: boolean };
  const isWithin = options[WITHIN] === true;
  delete options[WITHIN];
  const { populate = {} } = query.mongooseOptions();
  for (const each of Object.values(populate as Record<string, Populated>)) {
    each.options = { batchSize: BATCH_SIZE, ...each.options, [WITHIN]: true };
  }
  return isWithin;
}

function fitEach(cursor: DriverCursor, query: AnyQuery): void {
  cursor.map((found) => fitReferences(found, schemaOf(found as Record<string, unknown>, query)));
}

function populates(query: AnyQuery): boolean {
  return query.mongooseOptions().populate !== undefined;
}

/** Schemas of kinds hold what names them, without declaring it. */
interface Kind {
  readonly discriminatorMapping?: { readonly value: unknown };
}

/** The schema of the kind that a discriminator makes of a stored document. */
function schemaOf(found: Record<string, unknown>, { model }: AnyQuery): Schema {
  const { schema, discriminators = {} } = model as Model<unknown>;
  const kind = found[schema.get("discriminatorKey") as string];
  const named = Object.values(discriminators).find((each) =>
    (each.schema as Kind).discriminatorMapping?.value === kind
  );
  return (named?.schema ?? schema) as Schema;
}
