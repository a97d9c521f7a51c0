import mongoose from "mongoose";
import type { Connection, Document, mongo } from "mongoose";
import type { Update } from "./query_casts.ts";
import type { WriteOptions } from "./save_by.ts";
import { traceStatement } from "./trace_statements.ts";

export interface UpdateStatement {
  readonly q: Record<string, unknown>;
  readonly u: Update;
}

/**
 * Sends updates of a collection in as few commands as possible, in their order; gives how many documents they have met. The
 * driver's own bulk loses the class of errors, and which index a value was refused by.
 */
export async function sendUpdates(
  { db, collection: { name } }: Document,
  updates: readonly UpdateStatement[],
  { maxTimeMS, ...options }: WriteOptions,
): Promise<number> {
  const database = db.getClient().db(db.name);
  let met = 0;
  for (const some of inCommands(updates)) {
    const command = { update: name, updates: some, maxTimeMS };
    const { n, writeErrors } = await traceStatement(
      { connection: db, operation: "update", collection: name },
      () => database.command(command, options),
    );
    if (writeErrors !== undefined) throw new mongoose.mongo.MongoServerError(writeErrors[0]);
    met += Number(n);
  }
  return met;
}

/** How many bytes one command may have, with room for the rest of it: the database takes 16 MB. */
const MOST_BYTES = 12 * 1024 * 1024;

export function* inCommands<T extends object>(all: readonly T[]): Generator<T[]> {
  let list: T[] = [];
  let size = 0;
  for (const values of all) {
    const own = mongoose.mongo.BSON.calculateObjectSize(values);
    if (list.length > 0 && size + own > MOST_BYTES) {
      yield list;
      list = [];
      size = 0;
    }
    list.push(values);
    size += own;
  }
  if (list.length > 0) yield list;
}

export interface GivenValues {
  readonly connection: Connection;
  readonly values: readonly object[];
  readonly stages: readonly object[];
}

/** Runs stages on given values, in place of stored documents. */
export async function aggregateValues(
  { connection, values, stages }: GivenValues,
  options?: mongo.AggregateOptions,
): Promise<mongo.Document[]> {
  const given = { $documents: values.map((each) => ({ $literal: each })) };
  return await traceStatement(
    { connection, operation: "aggregate" },
    async () => await connection.db?.aggregate([given, ...stages], options).toArray() ?? [],
  );
}
