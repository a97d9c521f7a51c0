import mongoose from "mongoose";

/** The most documents of one reply. It could have 16 MB, and the driver holds something of each document in it. */
export const BATCH_SIZE = 1024;

type DriverCursor = mongoose.mongo.FindCursor | mongoose.mongo.AggregationCursor;

interface CursorOptions {
  readonly cursorOptions?: { readonly batchSize?: number; readonly tailable?: boolean };
  readonly aggregateOptions?: { readonly cursor?: { readonly batchSize?: number } };
}

/** A cursor of Mongoose, which opens one of the driver later. */
interface MongooseCursor {
  readonly cursor: unknown;
  once(event: "cursor", opened: (cursor: unknown) => void): unknown;
}

/** Bounds the replies to a query, an aggregation or a cursor that a `fetch` hook gave, unless the hook has done so. */
export function boundReplies(given: unknown): void {
  if (given instanceof mongoose.Query) {
    const { op } = given as { readonly op?: unknown };
    const { batchSize = BATCH_SIZE } = given.getOptions();
    if (op === "find") given.setOptions({ batchSize });
  } else if (given instanceof mongoose.Aggregate) {
    given.options.batchSize ??= BATCH_SIZE;
  } else if (isDriverCursor(given)) {
    const { cursorOptions = {}, aggregateOptions = {} } = given as CursorOptions;
    const hasBegun = given.id !== undefined;
    if (cursorOptions.batchSize !== undefined || cursorOptions.tailable || hasBegun) return;
    given.batchSize(aggregateOptions.cursor?.batchSize ?? BATCH_SIZE);
  } else if (isMongooseCursor(given)) {
    if (given.cursor === null) given.once("cursor", boundReplies);
    else boundReplies(given.cursor);
  }
}

function isDriverCursor(given: unknown): given is DriverCursor {
  const { FindCursor, AggregationCursor } = mongoose.mongo;
  return given instanceof FindCursor || given instanceof AggregationCursor;
}

function isMongooseCursor(given: unknown): given is MongooseCursor {
  return typeof given === "object" && given !== null && Symbol.asyncIterator in given &&
    "cursor" in given && "once" in given;
}
