import { type HostFunction, isPromise } from "../declare/hooks/run_hook.ts";
import { isHiddenPath } from "../schema/fields/visibility.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import { type FailedCast, failureText, findFailedCast } from "../write/failed_casts.ts";
import type { LevelContext } from "./request/request_context.ts";

export function checkHookValues(
  { level: { target, operation, shape } }: LevelContext,
  { hook, entity }: { readonly hook: HostFunction; readonly entity: object },
): void {
  const found = isDocument(entity) ? findFailedCast(entity) : unawaited(entity);
  if (found === undefined) return;
  const { path, problem } = found;
  throw new TypeError(
    `Cannot use the entity of the hook "${hook}" of ${operation}() of "${target.name}": ${
      failureText(found)
    }`,
    isHiddenPath(path, shape) ? {} : { cause: problem },
  );
}

/** A promise as a value shows a missing `await` in a hook. */
function unawaited(entity: object): FailedCast | undefined {
  for (const path in entity) {
    const value: unknown = entity[path as keyof object];
    if (isPromise(value)) return { path, value };
  }
  return undefined;
}
