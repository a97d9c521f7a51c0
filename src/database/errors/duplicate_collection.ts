import type { mongo } from "mongoose";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { collectionName } from "../../schema/model_name.ts";

/** Whether a duplicate key is in the collection of some classes; `undefined` where the server's message does not tell. */
export function isDuplicateIn(
  { message }: mongo.MongoServerError,
  targets: readonly ModelClass[],
): boolean | undefined {
  const [, namespace] = /^E11000 duplicate key error collection: (.+?) index: /.exec(message) ?? [];
  if (namespace === undefined) return undefined;
  const collection = namespace.slice(namespace.indexOf(".") + 1);
  return targets.some((each) => collectionName(each, buildSchema(each).schema) === collection);
}
