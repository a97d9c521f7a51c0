import { MAX_TIME_MS } from "../store/time_budget.ts";
import { isGroup } from "../errors/option_kinds.ts";
import { completeLimits } from "../errors/complete_limits.ts";
import { unknownOption } from "../errors/unknown_option.ts";
import type { LiveLimits } from "../features/live/live_limits.ts";
import type { QueryLimits } from "../filter/q/limits.ts";
import type { BodyLimits } from "../write/body/read_body.ts";

/** The limits of a router. */
export interface Limits {
  /**
   * The time that a request may wait for the database, in milliseconds. Each batch of a list or an import has it again.
   * The default is `10000`.
   */
  readonly timeMS?: number;
  /**
   * The time that a client has to read each 64 KB of an answer before its connection is reset, in milliseconds. The
   * default is `60000`.
   */
  readonly sendMS?: number;
  /**
   * The maximum number of entities that a removal also removes by `onDelete: "cascade"`. With more, it answers 409, and
   * its transaction removes nothing. The default is `1000`.
   */
  readonly cascade?: number;
  /** Limits on filters in `q`. Larger filters answer 400. */
  readonly query?: QueryLimits;
  /**
   * Limits on the keys, elements and objects in request bodies. Larger bodies answer 400. The body parser limits the
   * bytes.
   */
  readonly body?: BodyLimits;
  /** Limits on live lists. */
  readonly live?: LiveLimits;
}

const NAMES: Readonly<Record<keyof Limits, true>> = {
  timeMS: true,
  sendMS: true,
  cascade: true,
  query: true,
  body: true,
  live: true,
};

const TIMES = { timeMS: MAX_TIME_MS, sendMS: 60_000 };

export function readLimits(
  limits: Limits = {},
): Required<Pick<Limits, "timeMS" | "sendMS">> {
  if (!isGroup(limits)) throw new TypeError(`Cannot initialize: "limits" is not an object`);
  const unknown = unknownOption(limits, NAMES);
  if (unknown !== undefined) {
    throw new TypeError(`Cannot initialize: "limits" has no option ${unknown}`);
  }
  for (const name of ["query", "body", "live"] as const) {
    if (limits[name] === undefined || isGroup(limits[name])) continue;
    throw new TypeError(`Cannot initialize: "limits.${name}" is not an object`);
  }
  const { timeMS, sendMS } = limits;
  return completeLimits({ timeMS, sendMS }, { defaults: TIMES, what: "requests" });
}
