import mongoose from "mongoose";
import type { Connection, Document, mongo } from "mongoose";
import type { Update } from "./query_casts.ts";
import type { StatementOptions } from "./save_by.ts";
import { traceStatement } from "./trace_statements.ts";

export interface UpdateStatement {
  readonly q: Record<string, unknown>;
  readonly u: Update;
}

export interface UpsertStatement {
  readonly q: Record<string, unknown>;
  readonly u: readonly object[];
  readonly upsert: true;
}

/** Sends a command, because errors of the driver's bulk write lose their class and the index that refused a value. */
export async function sendUpdates(
  { db, collection: { name } }: Pick<Document, "db"> & { readonly collection: { name: string } },
  updates: readonly (UpdateStatement | UpsertStatement)[],
  { maxTimeMS, ...options }: Partial<StatementOptions>,
): Promise<number> {
  const database = db.getClient().db(db.name);
  let met = 0;
  for (const some of inCommands(updates)) {
    const command = { update: name, updates: some, ...maxTimeMS && { maxTimeMS } };
    const { n, writeErrors } = await traceStatement(
      { connection: db, operation: "update", collection: name },
      () => database.command(command, options),
    );
    if (writeErrors !== undefined) throw new mongoose.mongo.MongoServerError(writeErrors[0]);
    met += Number(n);
  }
  return met;
}

/** MongoDB accepts commands of 16 MB, and the rest of the command needs room. */
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
