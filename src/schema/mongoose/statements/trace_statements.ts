import { type TracingChannel, tracingChannel } from "node:diagnostics_channel";
import type { Connection } from "mongoose";

/**
 * A message of the tracing channel `mongrove:statement`, about a statement of the framework, of a hook or of Mongoose.
 * The trace begins with the statement's first command, and ends with its result or the end of its cursor.
 *
 * @example Print how long statements take
 * ```ts
 * import { tracingChannel } from "node:diagnostics_channel";
 * import type { StatementTrace } from "@mongrove/mongrove";
 *
 * tracingChannel("mongrove:statement").asyncEnd.subscribe((message) => {
 *   const { attributes, duration } = message as StatementTrace;
 *   console.log(attributes["db.operation.name"], attributes["db.collection.name"], duration);
 * });
 * ```
 */
export interface StatementTrace {
  /** The attributes, named by OpenTelemetry's semantic conventions. No attribute contains a value of the statement. */
  readonly attributes: {
    readonly "db.system.name": "mongodb";
    readonly "db.namespace": string;
    readonly "db.operation.name": string;
    readonly "db.collection.name"?: string;
    /** The class name of the error, if the statement has failed. */
    "error.type"?: string;
  };
  /** The duration in seconds, set at the end. */
  duration?: number;
}

interface Trace {
  readonly attributes: { "error.type"?: string };
  duration?: number;
}

export type EndTrace = (errorType?: string) => void;

/** The trace stays open until `work` calls `end`. Subscribers can bind a context, such as a span. */
export function openTrace<T extends Trace, R>(
  { channel, trace }: { readonly channel: TracingChannel<object, T>; readonly trace: T },
  work: (end: EndTrace) => R,
): R {
  const begin = performance.now();
  return channel.start.runStores(trace, () => {
    try {
      return work((errorType) => {
        trace.duration = (performance.now() - begin) / 1000;
        if (errorType !== undefined) {
          trace.attributes["error.type"] = errorType;
          channel.error.publish(trace);
        }
        channel.asyncStart.publish(trace);
        channel.asyncEnd.publish(trace);
      });
    } finally {
      channel.end.publish(trace);
    }
  });
}

const channel = tracingChannel<object, StatementTrace>("mongrove:statement");

const traced = new WeakSet<Connection>();

interface Operation {
  readonly _id: object;
  readonly collectionName: string;
  readonly method: string;
  readonly error?: unknown;
  readonly result?: unknown;
}

export function traceStatements(connection: Connection): void {
  if (!channel.hasSubscribers || traced.has(connection)) return;
  traced.add(connection);
  const open = new WeakMap<object, EndTrace>();
  connection.on("operation-start", ({ _id, collectionName, method }: Operation) => {
    // A change stream stays open for as long as lists are live.
    if (!channel.hasSubscribers || method === "watch") return;
    const trace = traceOf({ connection, operation: method, collection: collectionName });
    openTrace({ channel, trace }, (end) => void open.set(_id, end));
  });
  connection.on("operation-end", ({ _id, error, result }: Operation) => {
    const end = open.get(_id);
    if (end === undefined) return;
    if (isCursor(result)) {
      // The identifier of a cursor is missing if the server never replied.
      result.once("close", () => end(result.id === undefined ? "MongoError" : undefined));
    } else end(error === undefined ? undefined : errorType(error));
  });
}

/** Mongoose reports only statements of its collections by events, so other statements are traced here. */
export async function traceStatement<T>(
  statement: Statement,
  send: () => Promise<T>,
): Promise<T> {
  if (!channel.hasSubscribers) return await send();
  return await openTrace({ channel, trace: traceOf(statement) }, async (end) => {
    try {
      const result = await send();
      end();
      return result;
    } catch (error) {
      end(errorType(error));
      throw error;
    }
  });
}

interface Statement {
  readonly connection: Connection;
  readonly operation: string;
  readonly collection?: string;
}

function traceOf({ connection: { name }, operation, collection }: Statement): StatementTrace {
  return {
    attributes: {
      "db.system.name": "mongodb",
      "db.namespace": name,
      "db.operation.name": operation,
      ...collection !== undefined && { "db.collection.name": collection },
    },
  };
}

interface OpenedCursor {
  readonly id: unknown;
  once(event: "close", listener: () => void): void;
}

function isCursor(result: unknown): result is OpenedCursor {
  return typeof Object(result).readBufferedDocuments === "function";
}

function errorType(error: unknown): string {
  return error instanceof Error ? error.name : "_OTHER";
}
