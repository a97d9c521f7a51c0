import type { Connection, mongo } from "mongoose";
import { traceStatement } from "./trace_statements.ts";

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
