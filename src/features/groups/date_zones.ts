import { badParameter } from "../../errors/refusals.ts";
import type { GivenRequest } from "../../pipeline/given_request.ts";
import type { OptionReader } from "../../pipeline/option_reader.ts";

/**
 * The name of a time zone that `Intl` knows. The checked option of a feature must not contain plain strings, which
 * could be names of hidden fields, so a time zone has a separate type.
 */
export type TimeZone = string & { readonly isTimeZone: true };

/** The time zones in which groups show the year, month or day of dates, from the option `groups.timeZone`. */
export interface DateZones {
  /**
   * The names of the time zones in which groups can show dates. The first one applies to requests without the parameter
   * `tz`. The list is empty for UTC.
   */
  readonly names: readonly TimeZone[];
  /** Whether clients choose a time zone by the parameter `tz`. */
  readonly isChosen: boolean;
}

/**
 * Checks the option `groups.timeZone`. Throws an error if the value is no time zone, or if clients can group by no
 * year, month or day, because the option would have no effect.
 */
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
    // `Intl` accepts a time zone in any case of letters, such as `europe/paris`, and MongoDB does not. A time zone with
    // a letter in the wrong case is therefore refused at start-up.
    return timeZone === name || timeZone.toLowerCase() !== name.toLowerCase();
  } catch {
    return false;
  }
}

/**
 * Returns the time zone in which the groups of a request show dates, or `undefined` for UTC. Throws a 400 if the option
 * does not list the time zone.
 */
export function zoneOf({ names }: DateZones, given: GivenRequest): TimeZone | undefined {
  const asked = given.parameter("tz");
  const zone = asked === undefined ? names[0] : names.find((name) => name === asked);
  if (zone !== undefined || asked === undefined) return zone;
  throw badParameter("tz", `one time zone out of ${names.join(", ")}`);
}
