import mongoose from "mongoose";

/** How many bytes one command may have, with room for the rest of it: the database takes 16 MB. */
const MOST_BYTES = 12 * 1024 * 1024;

/** Gives values in lists that fit a command each. */
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
