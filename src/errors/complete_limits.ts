import { isCount, isGroup } from "./option_kinds.ts";

/** In milliseconds. A timer with a longer delay would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** `Infinity` is no integer, so a limit cannot be switched off. */
export function completeLimits<L extends object>(
  given: { readonly [N in keyof L]?: number | undefined },
  { defaults, what }: { readonly defaults: L; readonly what: string },
): L {
  if (!isGroup(given)) throw new TypeError(`Cannot limit ${what}: the limits are not an object`);
  const limits = { ...defaults };
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(defaults, name)) {
      throw new TypeError(`Cannot limit ${what}: there is no limit "${name}"`);
    }
    if (value === undefined) continue;
    if (!isCount(value)) {
      throw new RangeError(
        `Cannot limit ${what}: "${name}" is ${String(value)}, not a positive integer`,
      );
    }
    if (name.endsWith("MS") && value > MAX_TIMER_MS) {
      throw new RangeError(
        `Cannot limit ${what}: "${name}" is ${value}, which is more than ${MAX_TIMER_MS}`,
      );
    }
    limits[name as keyof L] = value as L[keyof L];
  }
  return limits;
}
