import type { mongo } from "mongoose";

/** Gives the collection of a duplicate key; `undefined` where the server tells none. The server tells it in its text only. */
export function duplicateCollection({ message }: mongo.MongoServerError): string | undefined {
  const [, namespace] = /^E11000 duplicate key error collection: (.+?) index: /.exec(message) ?? [];
  return namespace?.slice(namespace.indexOf(".") + 1);
}
