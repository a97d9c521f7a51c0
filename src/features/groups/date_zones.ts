import { badParameter } from "../../errors/refusals.ts";
import type { GivenRequest } from "../../pipeline/given_request.ts";
import type { OptionReader } from "../../pipeline/option_reader.ts";

/** MongoDB reads a string such as `"$secret"` as a field, so only checked time zones have this type. */
export type TimeZone = string & { readonly isTimeZone: true };

export interface DateZones {
  /** Empty for UTC. The first time zone is the default. */
  readonly names: readonly TimeZone[];
  readonly isChosen: boolean;
}

/** Without a date in `by`, a time zone has no effect, so the start fails. */
export function checkZones(option: OptionReader, isDated: boolean): DateZones {
  const { value } = option;
  if (value === undefined) return { names: [], isChosen: false };
  if (!isDated) {
    throw option.fail(`has "groups.timeZone", but no year, month or day in "groups.by"`);
  }
  const isChosen = Array.isArray(value);
  const given: readonly unknown[] = isChosen ? value : [value];
  if (given.length === 0) throw option.fail(`needs a time zone in "groups.timeZone"`);
  const wrong = given.find((name) => !isTimeZone(name));
  if (wrong !== undefined) {
    throw option.fail(
      `has ${
        JSON.stringify(wrong)
      } in "groups.timeZone", which is no time zone such as "Europe/Paris"`,
    );
  }
  return { names: [...new Set(given.filter(isTimeZone))], isChosen };
}

function isTimeZone(name: unknown): name is TimeZone {
  if (typeof name !== "string") return false;
  try {
    const { timeZone } = new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions();
    // `Intl` ignores the case of names, but MongoDB refuses a wrong case.
    return timeZone === name || timeZone.toLowerCase() !== name.toLowerCase();
  } catch {
    return false;
  }
}

export function zoneOf({ names }: DateZones, given: GivenRequest): TimeZone | undefined {
  const asked = given.parameter("tz");
  const zone = asked === undefined ? names[0] : names.find((name) => name === asked);
  if (zone !== undefined || asked === undefined) return zone;
  throw badParameter("tz", `one time zone out of ${names.join(", ")}`);
}
