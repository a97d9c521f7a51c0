import { type TracingChannel, tracingChannel } from "node:diagnostics_channel";
import type { Connection } from "mongoose";

/**
 * A message of the tracing channel `mongrove:statement`: a statement of the framework, of a hook or of Mongoose, from its
 * first command to its result, or to the end of its cursor.
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
  /** Named by the semantic conventions of OpenTelemetry. No value of a statement is among them. */
  readonly attributes: {
    readonly "db.system.name": "mongodb";
    readonly "db.namespace": string;
    readonly "db.operation.name": string;
    readonly "db.collection.name"?: string;
    /** The name of the error's class; missing where there is none. */
    "error.type"?: string;
  };
  /** The seconds that it took, once it has ended. */
  duration?: number;
}

interface Trace {
  readonly attributes: { "error.type"?: string };
  duration?: number;
}

/** Ends a trace, with the kind of its error if there is one. */
export type EndTrace = (errorType?: string) => void;

/** Begins a trace, and runs work inside of it: what subscribers bind to it are the contexts of the work. */
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

/** Traces the statements of a connection, from the first request on for which there are subscribers. */
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
      // A cursor without an identifier never got an answer.
      result.once("close", () => end(result.id === undefined ? "MongoError" : undefined));
    } else end(error === undefined ? undefined : errorType(error));
  });
}

/** Traces a statement that is sent past the collections of Mongoose. */
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
