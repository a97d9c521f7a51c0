import mongoose from "mongoose";
import type { Model, mongo } from "mongoose";
import { BulkError } from "../../errors/bulk_error.ts";
import { runOutside } from "../../schema/mongoose/statements/transaction_around.ts";
import type { StoredObject } from "../values.ts";
import { transact, type WriteContext } from "./transact.ts";

export async function insertOne(context: WriteContext, values: StoredObject): Promise<void> {
  const { model, addedStatements } = context;
  await transact({ ...context, change: "create", id: values._id }, async (statement) => {
    await model.collection.insertOne(values, statement);
    return addedStatements === undefined ? {} : { written: [{ id: values._id, created: values }] };
  });
}

export async function insertMany(
  context: WriteContext,
  all: readonly StoredObject[],
  { isAtomic = true }: { readonly isAtomic?: boolean } = {},
): Promise<void> {
  const { model, addedStatements } = context;
  const [first] = all;
  if (first === undefined) return;
  const bound = !isAtomic ? {} : all.length === 1 ? { id: first._id } : { isAtomic };
  await transact({ ...context, change: "create", ...bound }, async (statement) => {
    try {
      await model.collection.insertMany([...all], { ...statement, ordered: isAtomic });
    } catch (error) {
      if (!(error instanceof mongoose.mongo.MongoBulkWriteError)) throw error;
      throw await causeOf(model, error);
    }
    return addedStatements === undefined
      ? {}
      : { written: all.map((created) => ({ id: created._id, created })) };
  });
}

/** Each error gets the form of a single statement's error, which callers expect. */
async function causeOf(
  { collection }: Model<unknown>,
  error: mongo.MongoBulkWriteError,
): Promise<unknown> {
  const refused = [error.writeErrors].flat();
  const { errorResponse } = error;
  if (refused.length === 0) return errorResponse instanceof Error ? errorResponse : error;
  // The error has undone the transaction, so the read must not join it.
  const indexes = await runOutside(() => collection.indexes());
  return new BulkError(
    new Map(refused.map(({ index, code, errmsg = "" }) => {
      // The answer names the fields of the index, but errors of a bulk contain only its name.
      const [, name] = /^E11000 .*? index: (.+?) dup key/.exec(errmsg) ?? [];
      const keyPattern = indexes.find((each) => each.name === name)?.key;
      const response = { message: errmsg, code, ...keyPattern && { keyPattern } };
      return [index, new mongoose.mongo.MongoServerError(response)];
    })),
  );
}
