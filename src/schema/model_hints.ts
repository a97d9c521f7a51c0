import type { Schema } from "mongoose";
import type { ModelClass } from "../declare/model/framework_model.ts";
import { logHint } from "../errors/log.ts";
import { buildSchema } from "./build_schema.ts";
import { checkMongoose } from "./mongoose/assumptions.ts";
import { declaredIndexes } from "./mongoose/schemas/change_indexes.ts";
import { idleMiddleware } from "./mongoose/schemas/schema_members.ts";

const hinted = new WeakSet<ModelClass>();

export function hintAtModel(target: ModelClass): void {
  if (hinted.has(target)) return;
  hinted.add(target);
  const { schema } = buildSchema(target);
  hintAtUnique(target, schema);
  const idle = unsentQueries(target);
  if (idle.length === 0) return;
  logHint(
    `"${target.name}" has middleware of ${
      idle.join("(), ")
    }(), which no request runs: use hooks, or middleware of documents`,
  );
}

export function unsentQueries(target: ModelClass): string[] {
  // In an unrecognised version, Mongoose's middleware looks like the application's, so there is no hint.
  return checkMongoose().length > 0 ? [] : idleMiddleware(buildSchema(target).schema);
}

function hintAtUnique(target: ModelClass, schema: Schema): void {
  for (const [keys, { unique, sparse, partialFilterExpression }] of declaredIndexes(schema)) {
    const [name = "", ...others] = Object.keys(keys);
    if (!unique || sparse || partialFilterExpression !== undefined || others.length > 0) continue;
    if (!isOptional(schema, name)) continue;
    logHint(
      `"${name}" of "${target.name}" is unique and may be missing, so that only one entity can be stored without it: ` +
        `add sparse: true, or required: true`,
    );
  }
}

function isOptional(schema: Schema, name: string): boolean {
  const type = schema.path(name);
  if (type === undefined || name === "_id") return false;
  const { required, default: value } = type.options;
  return (required ?? false) === false && (value ?? undefined) === undefined;
}
