import type { WriteOptions } from "../options.ts";
import type { Method } from "./methods.ts";
import type { OperationName } from "./operation.ts";

/**
 * The options of writes that belong to no feature, and the operations that accept them. The start fails if another
 * operation has such an option. `atomic` of `create()` is in the list so that the start does not fail, although the
 * feature for bodies with many entities reads this option.
 */
const TAKEN = {
  create: ["atomic"],
  updateAll: ["fields", "max", "atomic"],
  removeAll: ["max", "q"],
  replace: ["by"],
} as const satisfies { readonly [O in OperationName]?: readonly (keyof WriteOptions)[] };

export function takesOption(operation: string, name: string): boolean {
  const taken = Object.hasOwn(TAKEN, operation) ? TAKEN[operation as keyof typeof TAKEN] : [];
  return (taken as readonly string[]).includes(name);
}

/**
 * Whether a name is an option of a write that belongs to no feature, such as `max`, so that the check at start-up does
 * not refuse the name as an unknown hook.
 */
export function isWriteOption(name: string): boolean {
  return Object.keys(TAKEN).some((operation) => takesOption(operation, name));
}

/**
 * Returns the options of an operation that belong to writes and to no feature, such as `max`, for their check at
 * start-up. An option with the value `undefined` is left out.
 */
export function optionsGiven({ hooks }: Method): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(hooks).filter(([name, value]) => value !== undefined && isWriteOption(name)),
  );
}

/**
 * Returns the first write option in `given` that the operation does not take, for the error at start-up. Returns
 * `undefined` if the operation takes all of them.
 */
export function misplacedOption({ operation }: Method, given: WriteOptions): string | undefined {
  return Object.keys(given).find((name) => !takesOption(operation, name));
}
