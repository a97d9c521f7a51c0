import { findReferred } from "../../filter/q/referred_path.ts";
import type { Feature, Plain } from "../../pipeline/feature.ts";
import { namesType } from "../../pipeline/request/accept.ts";
import { completeLiveLimits, type LiveLimits } from "./live_limits.ts";
import { EVENT_STREAM, sendEvents } from "./send_events.ts";

/** The server keeps the state of each entity in memory. */
const MAX_LIVE = 10_000;

interface LiveConfig {
  readonly max: number;
}

export const live: Feature<Plain<LiveConfig, LiveConfig>> = {
  name: "live",
  operations: ["all"],
  requirements: [
    { needs: "query" },
    { needs: "_id", reason: "what it lists has no _id, by which clients tell entities apart" },
  ],
  exclusive: {
    keeps: ["page", "sort", "select", "search", "populate"],
    allowed: "no live list",
    noun: "Live lists",
    clash: (noun) => `${noun} are not live`,
  },
  settings: ({ live }) => completeLiveLimits(live as LiveLimits | undefined),
  check(option, { shape }) {
    const max = option.parts("max").max.number(MAX_LIVE);
    const paths = [option.other("filter").value].flat().map(String);
    const path = paths.find((each) => findReferred(each, shape) !== undefined);
    if (path === undefined) return { max };
    throw option.fail(
      `cannot be live with "${path}" in "filter", as a change of an entity behind the reference is no event of the ` +
        `list: name the path only in another @rest, whose all() is not live`,
    );
  },
  narrow: (declared) => declared,
  describe: (config) => ({
    headers: {
      "Last-Event-ID": {
        text: "The `id` of the last event, after which a list as `text/event-stream` continues.",
        required: false,
        schema: { type: "string" },
      },
    },
    errors: ["CONFLICT"],
    route: { live: config },
    answer: { content: { [EVENT_STREAM]: { type: "string", description: EVENTS } } },
  }),
  // Browsers accept every type by a wildcard, but would wait for ever, so a client must name the type.
  parse: (config, { method, accept }) =>
    method === "GET" && namesType(accept, EVENT_STREAM) ? config : undefined,
  takeOver: ({ max }, call) => (res) => sendEvents(res, { call, max }),
};

/** OpenAPI 3.1 cannot describe these events by a schema. */
const EVENTS = "The list as events `put`, then `ready`, then what changes: " +
  '`put` with `{"entity": …}`, and `after`, the `_id` that it follows in an order; `drop` with `{"_id": …}`. ' +
  "`resync` says that the whole list follows again, up to the next `ready`";
