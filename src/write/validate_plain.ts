import type { ModelClass } from "../declare/model/model_class.ts";
import { detachedModel } from "../schema/embedded_model.ts";
import type { Shape } from "../schema/fields/shape.ts";

/**
 * Runs the validators of a model on a plain entity, one of another database. Only declared fields are looked at, and
 * not the identifier, whose form is that database's own.
 *
 * @throws {Error} Mongoose's validation error.
 */
export async function validatePlain(
  entity: object,
  target: ModelClass,
  shape: Shape,
): Promise<void> {
  const values = entity as Record<string, unknown>;
  const paths = [...shape.fields].filter(([, { writable, type }]) =>
    writable || type?.options.readonly === true
  ).map(([name]) => name);
  const declared = paths.filter((name) => values[name] !== undefined)
    .map((name) => [name, values[name]]);
  const model = detachedModel(target);
  await new model(Object.fromEntries(declared)).validate(paths);
}
