import { forAll } from "./for_all.ts";
import { unknownOption } from "./unknown_option.ts";
import { isCount, isGroup } from "./option_kinds.ts";

/** A timer with a longer delay would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** `Infinity` is refused, so that no limit can be switched off. */
export function completeLimits<L extends object>(
  given: { readonly [N in keyof L]?: number | undefined },
  { defaults, what }: { readonly defaults: L; readonly what: string },
): L {
  if (!isGroup(given)) throw new TypeError(`Cannot limit ${what}: the limits are not an object`);
  const limits = { ...defaults };
  forAll(Object.entries(given), ([name, value]) => {
    if (!Object.hasOwn(defaults, name)) {
      const unknown = unknownOption({ [name]: value }, defaults);
      throw new TypeError(`Cannot limit ${what}: there is no limit ${unknown}`);
    }
    if (value === undefined) return;
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
  });
  return limits;
}
