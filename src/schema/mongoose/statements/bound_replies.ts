import mongoose from "mongoose";

const { AbstractCursor } = mongoose.mongo;

/** The most documents of one reply. It could have 16 MB, and the driver holds something of each document in it. */
export const BATCH_SIZE = 1024;

/** Bounds the replies to a query, an aggregation or a cursor that a `fetch` hook gave, unless the hook has done so. */
export function boundReplies(given: unknown): void {
  if (given instanceof mongoose.Query) {
    const { op } = given as { readonly op?: unknown };
    const { batchSize = BATCH_SIZE } = given.getOptions();
    if (op === "find") given.setOptions({ batchSize });
  } else if (given instanceof mongoose.Aggregate) given.options.batchSize ??= BATCH_SIZE;
  else if (given instanceof AbstractCursor) {
    const { cursorOptions } = given as {
      cursorOptions?: { batchSize?: number; tailable?: boolean };
    };
    const isOpen = given.id !== undefined;
    if (cursorOptions?.batchSize === undefined && !cursorOptions?.tailable && !isOpen) {
      given.batchSize(BATCH_SIZE);
    }
  } else if (isMongooseCursor(given)) {
    if (given.cursor === null) given.once("cursor", boundReplies);
    else boundReplies(given.cursor);
  }
}

/** Whether it is a cursor of Mongoose, which opens one of the driver later. */
function isMongooseCursor(given: unknown): given is MongooseCursor {
  return Symbol.asyncIterator in Object(given) && "cursor" in Object(given) &&
    "once" in Object(given);
}

interface MongooseCursor {
  readonly cursor: unknown;
  once(event: "cursor", opened: (cursor: unknown) => void): unknown;
}
