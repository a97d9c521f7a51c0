import type { WriteOptions } from "../options.ts";
import type { Method } from "./methods.ts";
import type { OperationName } from "./operation.ts";

/** The write options of each operation. A write option of another operation is an error at start-up. */
const TAKEN = {
  create: ["many", "atomic", "formats", "idempotency"],
  updateAll: ["fields", "max", "atomic"],
  removeAll: ["max", "q"],
  replace: ["by"],
} as const satisfies { readonly [O in OperationName]?: readonly (keyof WriteOptions)[] };

export function takesOption(operation: string, name: string): boolean {
  const taken = Object.hasOwn(TAKEN, operation) ? TAKEN[operation as keyof typeof TAKEN] : [];
  return (taken as readonly string[]).includes(name);
}

/** Whether an operation has a write option by a name. */
export function isWriteOption(name: string): boolean {
  return Object.keys(TAKEN).some((operation) => takesOption(operation, name));
}

/**
 * Returns the write options of an operation. An option with the value `undefined` counts as absent. The option
 * `formats` of `all()` is no write option.
 */
export function optionsGiven({ operation, hooks }: Method): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(hooks).filter(([name, value]) => {
      const isOfRead = name === "formats" && !takesOption(operation, name);
      return value !== undefined && isWriteOption(name) && !isOfRead;
    }),
  );
}

/**
 * Returns the first write option in `given` that the operation does not take, for the error at start-up. Returns
 * `undefined` if the operation takes all of them.
 */
export function misplacedOption({ operation }: Method, given: WriteOptions): string | undefined {
  return Object.keys(given).find((name) => !takesOption(operation, name));
}
