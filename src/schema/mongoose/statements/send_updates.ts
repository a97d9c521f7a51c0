import mongoose from "mongoose";
import type { Document } from "mongoose";
import { inCommands } from "./in_commands.ts";
import type { Update } from "./query_casts.ts";
import type { WriteOptions } from "./save_by.ts";
import { traceStatement } from "./trace_statements.ts";

/** An update of one document, as the database takes it. */
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
