import type { WriteOptions } from "../options.ts";
import type { Method } from "./methods.ts";
import type { OperationName } from "./operation.ts";

/**
 * The options that no feature reads, for each write. The exception is `atomic` of `create()`: if it were missing here,
 * `misplacedOption()` would refuse it in `create()`, because `updateAll()` has an option of this name.
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

export function isWriteOption(name: string): boolean {
  return Object.keys(TAKEN).some((operation) => takesOption(operation, name));
}

export function optionsGiven({ hooks }: Method): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(hooks).filter(([name, value]) => value !== undefined && isWriteOption(name)),
  );
}

export function misplacedOption({ operation }: Method, given: WriteOptions): string | undefined {
  return Object.keys(given).find((name) => !takesOption(operation, name));
}
