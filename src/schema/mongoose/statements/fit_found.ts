// Mongoose populates what the driver has found before it makes documents of it, or where it makes none.
import type { Cursor, Model, Query, Schema } from "mongoose";
import { isDocument } from "../bson.ts";
import { fitReferences } from "../documents/fit_stored.ts";
import { markOwn } from "../schemas/schema_members.ts";
import { BATCH_SIZE } from "./bound_replies.ts";

type Found = Record<string, unknown>;

interface DriverCursor {
  map(transform: (found: Found) => object): unknown;
}

type AnyQuery = Query<unknown, unknown>;

/** An option of the queries by which another one populates: they may make no documents either. */
const IS_POPULATING = "_isPopulating";

/** A query reaches the database by a method of the collection that it holds, without declaring it. */
interface CollectionHolder {
  mongooseCollection: {
    find(...args: unknown[]): DriverCursor | Promise<DriverCursor>;
    findOne(...args: unknown[]): Promise<Found | null>;
  };
}

/**
 * Has queries that populate take an object that is stored in the place of a reference for the identifier in it, or for
 * `null`. Mongoose would take it for an entity: one such document would turn a whole list with a `populate` of a hook into
 * a 404 or a 500.
 */
export function fitBeforePopulate(schema: Schema): void {
  schema.pre(["find", "findOne"], fitFound as never);
}

const fitFound = markOwn(function (this: AnyQuery): void {
  const options = this.getOptions() as { [IS_POPULATING]?: boolean };
  if (options[IS_POPULATING] !== true && !populates(this)) return;
  delete options[IS_POPULATING];
  const { populate = {} } = this.mongooseOptions();
  for (const each of Object.values(populate as Record<string, { options?: object }>)) {
    each.options = { batchSize: BATCH_SIZE, ...each.options, [IS_POPULATING]: true };
  }
  const holder = this as unknown as CollectionHolder;
  const { mongooseCollection: collection } = holder;
  const find = async (...args: unknown[]) => {
    const cursor = await collection.find(...args);
    cursor.map((found) => fit(found, this));
    return cursor;
  };
  const findOne = async (...args: unknown[]) => {
    const found = await collection.findOne(...args);
    return found && fit(found, this);
  };
  holder.mongooseCollection = Object.create(collection, {
    find: { value: find },
    findOne: { value: findOne },
  });
});

/** How many documents one query populates: without a number, Mongoose asks for each one. */
const POPULATED_AT_ONCE = 128;

/** Opens a cursor, for which the same is done: cursors take another way to the driver. */
export function openFitted<T>(
  query: Query<T[], T>,
  see: (found: object) => void = () => {},
): Cursor<T, unknown> {
  const isPopulated = populates(query);
  const cursor = query.cursor(isPopulated ? { batchSize: POPULATED_AT_ONCE } : {});
  cursor.once("cursor", (opened: DriverCursor | null) => {
    opened?.map((found) => {
      see(found);
      return isPopulated ? fit(found, query) : found;
    });
  });
  return cursor;
}

/** Populates what a query has not found; objects are those of the driver. */
export async function populateFound(
  model: Model<unknown>,
  { docs, populate }: { readonly docs: readonly object[]; readonly populate: unknown },
): Promise<void> {
  const schema = model.schema as Schema;
  for (const each of docs) if (!isDocument(each)) fitReferences(each, { schema });
  await model.populate(docs as never, populate as never);
}

function populates(query: AnyQuery): boolean {
  return query.mongooseOptions().populate !== undefined;
}

function fit(found: Found, { model }: AnyQuery): Found {
  fitReferences(found, { schema: schemaOf(found, model) });
  return found;
}

/** The schema of the kind that a discriminator makes of a stored document. */
function schemaOf(found: Found, { schema, discriminators = {} }: Model<unknown>): Schema {
  const kind = found[schema.get("discriminatorKey") as string];
  const named = Object.values(discriminators).find((each) => {
    const { discriminatorMapping } = each.schema as { discriminatorMapping?: { value: unknown } };
    return discriminatorMapping?.value === kind;
  });
  return (named?.schema ?? schema) as Schema;
}
