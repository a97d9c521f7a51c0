import mongoose from "mongoose";

const { AbstractCursor } = mongoose.mongo;

/** Without a batch size, a reply of 16 MB may hold many more documents, each an object in the driver. */
export const BATCH_SIZE = 1024;

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

/** The `cursor` of a Mongoose cursor is `null` until the first read, so only its name is tested. */
function isMongooseCursor(given: unknown): given is MongooseCursor {
  return Symbol.asyncIterator in Object(given) && "cursor" in Object(given) &&
    "once" in Object(given);
}

interface MongooseCursor {
  readonly cursor: unknown;
  once(event: "cursor", opened: (cursor: unknown) => void): unknown;
}
