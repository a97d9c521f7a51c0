import type { Hooks } from "../declare/hooks/hooks.ts";
import { type FieldHook, fieldHookOf } from "../declare/hooks/named_fields.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import { sharedSession } from "../schema/mongoose/statements/transaction_around.ts";
import { entityHook } from "../sources/collection/plan_read.ts";
import { storedText, valueAt } from "../store/values.ts";
import { readSnapshot } from "../write/stored_values.ts";
import { isLost } from "./failures.ts";
import { type Fetched, fetchOne } from "./fetch.ts";
import { idParam, type OpenLevelContext } from "./request/request_context.ts";

/**
 * A `postFetch` hook that names its fields needs no document, so one statement can write, unless another hook needs
 * one.
 */
export function askedHookOf({ postFetch, ...others }: Hooks<object>): FieldHook | undefined {
  return entityHook(others) === undefined ? fieldHookOf(postFetch) : undefined;
}

/** If other requests change the fields that a hook reads during so many runs of it, the answer is a 409. */
export const MAX_ASKED = 3;

/** If another request changes the fields that a hook has read before the write, the hook runs again. */
export async function writeFetched<T>(
  context: OpenLevelContext,
  write: (fetched: Fetched) => Promise<T>,
): Promise<T> {
  const { match, level: { hooks } } = context;
  // In a transaction, a second read would return the same values.
  const hook = match === undefined && sharedSession() === undefined
    ? askedHookOf(hooks)
    : undefined;
  for (let asked = 1;; asked++) {
    const fetched = await fetchOne(context);
    try {
      return await write(fetched);
    } catch (error) {
      if (hook === undefined || asked === MAX_ASKED || !isLost(error)) throw error;
      if (!await hasChanged(context, { ...fetched, names: hook.reads })) throw error;
    }
  }
}

async function hasChanged(
  context: OpenLevelContext,
  { entity, names }: { readonly entity: object; readonly names: readonly string[] },
): Promise<boolean> {
  if (!isDocument(entity)) return false;
  const { values } = readSnapshot(entity);
  const stored = await context.source.readStored(idParam(context), names);
  return stored === undefined ||
    names.some((name) => storedText(valueAt(values, name)) !== storedText(valueAt(stored, name)));
}
