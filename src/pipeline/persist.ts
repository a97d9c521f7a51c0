import { runHook } from "../declare/hooks/run_hook.ts";
import { eachInTurn } from "../errors/bulk_error.ts";
import { detachedModel } from "../schema/get_model.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import { castFailure } from "../write/attribute_problems.ts";
import { findFailedCast } from "../write/failed_casts.ts";
import type { SavedEntity } from "../sources/saved_entity.ts";
import { checkChangedIndexes } from "./request/check_request.ts";
import type { OpenLevelContext } from "./request/request_context.ts";
import type { Level } from "./request/route.ts";
import { type HookArguments, passHookAfterWrite } from "./pass_hooks.ts";
import { validateDocument } from "../schema/mongoose/documents/validate_document.ts";

export async function persistOne(
  context: OpenLevelContext,
  given: HookArguments,
): Promise<SavedEntity | undefined> {
  const { level, source, timeBudget } = context;
  const { entity } = given;
  if (level.hooks.persist === undefined) {
    await checkChangedIndexes(context, [entity]);
    return await source.save(entity);
  }
  source.stamp(entity);
  await timeBudget.wait(validateEntity(entity, level));
  const written = await timeBudget.wait(
    Promise.resolve(passHookAfterWrite(context, "persist", given)),
  );
  return written && { entity: written };
}

/**
 * An invalid entity prevents all writes. A failed hook prevents only later ones, because writes of hooks cannot be
 * undone.
 */
export async function persistEach(
  context: OpenLevelContext,
  ready: readonly HookArguments[],
): Promise<object[]> {
  const { level, timeBudget, source } = context;
  for (const { entity } of ready) source.stamp(entity);
  await timeBudget.wait(eachInTurn(ready, ({ entity }) => validateEntity(entity, level)));
  const saved: object[] = [];
  for (const given of ready) {
    const work = passHookAfterWrite(context, "persist", given);
    const result = await timeBudget.wait(Promise.resolve(work));
    if (result !== undefined) saved.push(result);
  }
  return saved;
}

export async function persistRemoval(
  context: OpenLevelContext,
  entity: object,
): Promise<undefined> {
  const { level: { hooks: { persist } }, req, timeBudget, source } = context;
  if (persist === undefined) return void await source.remove(entity);
  const work = runHook("persist", () => persist(req, entity, entity));
  await timeBudget.wait(Promise.resolve(work));
}

/** A hook may have returned a plain object. Mongoose then validates a document with its declared fields. */
async function validateEntity(
  entity: object,
  { target, shape }: Pick<Level, "target" | "shape">,
): Promise<void> {
  if (isDocument(entity)) return await validateDocument(entity);
  const values = entity as Record<string, unknown>;
  const paths = [...shape.fields].filter(([, { writable, readonly }]) => writable || readonly)
    .map(([name]) => name);
  const declared = paths.filter((name) => values[name] !== undefined)
    .map((name) => [name, values[name]]);
  const doc = new (detachedModel(target))(Object.fromEntries(declared));
  // The body was cast already, so a hook is the cause.
  const failed = findFailedCast(doc);
  if (failed !== undefined) throw castFailure(failed, { shape, target });
  await doc.validate(paths);
}
