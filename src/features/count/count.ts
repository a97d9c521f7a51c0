import type { Feature, Plain } from "../../pipeline/feature.ts";
import type { Found } from "../../pipeline/pieces.ts";

interface CountConfig {
  readonly upTo: number;
  readonly always: boolean;
}

interface CountQuery extends CountConfig {
  readonly isPreferred: boolean;
}

const EXACT = "count=exact";

export const count: Feature<Plain<CountConfig, CountQuery>> = {
  name: "count",
  operations: ["all"],
  requirements: [
    { needs: "query" },
    {
      withoutHooks: ["postFetch", "preSend"],
      reason: (hook) => `the total would count what "${hook}" leaves out`,
    },
  ],
  check(option) {
    const { upTo, always } = option.parts("upTo", "always");
    return { upTo: upTo.number(Infinity), always: always.flag() };
  },
  narrow: (declared) => declared,
  describe: ({ always }) => ({
    preferences: { [EXACT]: always ? undefined : "`count=exact` requests the total." },
    answer: {
      headers: {
        "X-Total-Count": {
          description: "How many entities the list has, if that is counted",
          schema: { type: "integer", minimum: 0 },
        },
        "Content-Range": {
          description: "The place of the page, such as `items 0-19/319`",
          schema: { type: "string", pattern: "^items (\\*|[0-9]+-[0-9]+)/(\\*|[0-9]+)$" },
        },
      },
    },
  }),
  parse: ({ upTo, always }, given) => {
    return { upTo, always, isPreferred: given.prefers(EXACT) };
  },
  // The count includes one more, to recognize a total above `upTo`.
  select: ({ upTo, always, isPreferred }) =>
    always || isPreferred ? { total: upTo === Infinity ? {} : { limit: upTo + 1 } } : {},
  headers: ({ upTo, always, isPreferred }, found) => ({
    ...!always && { Vary: "Prefer" },
    ...found.total !== undefined && {
      ...isPreferred && { "Preference-Applied": EXACT },
      ...totalHeaders(found.total <= upTo ? found.total : undefined, found),
    },
  }),
};

/** After a cursor, the position of the page is unknown, so `Content-Range` has `*`. */
function totalHeaders(total: number | undefined, { part }: Found): Record<string, string> {
  const { skip = 0, afterCursor } = part?.read ?? {};
  const size = part?.found.size ?? 0;
  const range = size > 0 && afterCursor === undefined ? `${skip}-${skip + size - 1}` : "*";
  return {
    ...(total !== undefined || range !== "*") &&
      { "Content-Range": `items ${range}/${total ?? "*"}` },
    ...total !== undefined && { "X-Total-Count": String(total) },
  };
}
