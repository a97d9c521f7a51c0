import type { ModelClass } from "../declare/model/framework_model.ts";
import { detachedModel } from "../schema/get_model.ts";
import type { Shape } from "../schema/fields/shape.ts";
import { isDocument } from "../schema/mongoose/bson.ts";

interface EntityModel {
  readonly target: ModelClass;
  readonly shape: Shape;
}

/** Runs the validators of an entity. In one of another database only declared fields count, without the identifier. */
export async function validateEntity(
  entity: object,
  { target, shape }: EntityModel,
): Promise<void> {
  if (isDocument(entity)) return await entity.validate();
  const values = entity as Record<string, unknown>;
  const paths = [...shape.fields].filter(([, { writable, type }]) =>
    writable || type?.options.readonly === true
  ).map(([name]) => name);
  const declared = paths.filter((name) => values[name] !== undefined)
    .map((name) => [name, values[name]]);
  const model = detachedModel(target);
  await new model(Object.fromEntries(declared)).validate(paths);
}
