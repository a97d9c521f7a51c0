import type { Feature, Plain } from "../../pipeline/feature.ts";
import { namesType } from "../../pipeline/request/accept.ts";
import { completeLiveLimits, type LiveLimits } from "./live_limits.ts";
import { EVENT_STREAM, sendEvents } from "./send_events.ts";

/** The most entities of a live list whose declaration has no option `max`. A longer list is answered with a 409. */
const MAX_LIVE = 10_000;

interface LiveRule {
  readonly max: number;
}

/** The live list, which a request gets by the header `Accept: text/event-stream`. */
export const live: Feature<Plain<LiveRule, LiveRule>> = {
  name: "live",
  operations: ["all"],
  requirements: [
    { withoutHooks: ["fetch"], reason: () => "" },
    { needs: "_id", reason: "what it lists has no _id, by which clients tell entities apart" },
  ],
  exclusive: {
    keeps: ["page", "sort", "select", "search", "populate"],
    allowed: "no live list",
    noun: "Live lists",
    clash: (noun) => `${noun} are not live`,
  },
  varies: ["Accept"],
  settings: (given) => completeLiveLimits(given as LiveLimits | undefined),
  check: (option) => ({ max: option.parts("max").max.number(MAX_LIVE) }),
  narrow: (declared) => declared,
  describe: (rule) => ({
    headers: {
      "Last-Event-ID": {
        text: "The `id` of the last event, for a list as `text/event-stream` that continues",
        required: false,
        schema: { type: "string" },
      },
    },
    errors: ["CONFLICT"],
    route: { live: rule },
    answer: { content: { [EVENT_STREAM]: { type: "string", description: EVENTS } } },
  }),
  // Any other request for the list gets an ordinary answer.
  parse: (rule, { method, accept }) =>
    method === "GET" && namesType(accept, EVENT_STREAM) ? rule : undefined,
  takeOver: ({ max }, call) => (res) => sendEvents(res, { call, max }),
};

/** OpenAPI 3.1 cannot describe single events, so a text describes them. */
const EVENTS = "The list as events `put`, then `ready`, then what changes: " +
  '`put` with `{"entity": …}`, and `after`, the `_id` that it follows in an order; `drop` with `{"_id": …}`. ' +
  "`resync` says that the whole list follows again, up to the next `ready`";
