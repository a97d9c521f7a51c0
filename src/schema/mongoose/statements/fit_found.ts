// Mongoose populates what the driver has found before documents are made of it, or where none are made at all.
import type { Cursor, Model, Query, Schema } from "mongoose";
import { isDocument } from "../bson.ts";
import { fitReferences, hasReferences } from "../fields/stray_references.ts";
import { markOwnMiddleware } from "../schemas/middleware.ts";

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
 * `null`: Mongoose would take it for an entity, and fail on some.
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
const POPULATED_AT_ONCE = 100;

/** Opens a cursor, for which the same is done: cursors take another way to the driver. */
export function openFitted<T>(query: Query<T[], T>): Cursor<T, unknown> {
  const cursor = query.cursor(populates(query) ? { batchSize: POPULATED_AT_ONCE } : {});
  cursor.once("cursor", (found: DriverCursor | null) => {
    if (found !== null && populates(query)) fitEach(found, query);
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

/** Tells whether a query finds what another one populates, and passes that on. */
function passOn(query: AnyQuery): boolean {
  const options = query.getOptions() as { [WITHIN]?: boolean };
  const isWithin = options[WITHIN] === true;
  delete options[WITHIN];
  const { populate = {} } = query.mongooseOptions();
  for (const each of Object.values(populate as Record<string, Populated>)) {
    each.options = { ...each.options, [WITHIN]: true };
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
