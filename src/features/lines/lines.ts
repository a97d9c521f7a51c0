import type { Feature, Plain } from "../../pipeline/feature.ts";
import { MEDIA_TYPES } from "../../pipeline/request/media_types.ts";
import { importLines } from "./import_lines.ts";

interface LinesRule {
  /** The maximum number of lines that are stored together. */
  readonly batch: number;
}

/**
 * The import of entities from a body with a JSON object on each line (NDJSON), for more entities than fit into one JSON
 * array. A client chooses this format by the header `Content-Type`.
 */
export const lines: Feature<Plain<LinesRule, LinesRule>> = {
  name: "lines",
  option: "formats",
  operations: ["create"],
  exclusive: {
    keeps: [],
    allowed: "no lines beside it",
    noun: "Lines",
    clash: (noun) => `${noun} are not lines`,
  },
  check(option) {
    const { value } = option;
    if (!Array.isArray(value) || value.join() !== "ndjson") {
      throw option.fail(`needs ["ndjson"] as "formats"`);
    }
    const many = option.other("many");
    if (many.value === undefined) {
      throw option.fail(`needs "many" with "formats": the size of a batch`);
    }
    const { key } = Object(option.other("idempotency").value) as { readonly key?: unknown };
    if (key === "required") {
      throw option.fail(`cannot have "formats" with "idempotency.key": lines have no key`);
    }
    return { batch: many.number() };
  },
  narrow: (declared) => declared,
  describe: () => ({
    route: { formats: ["ndjson"] },
    body: {
      content: { [MEDIA_TYPES.ndjson]: { type: "string", description: "An entity on each line" } },
    },
    answer: {
      results: {
        [MEDIA_TYPES.ndjson]: {
          type: "string",
          description: "The same on each line, with its number as `line`",
        },
      },
    },
  }),
  parse: (rule, given) => given.hasType(MEDIA_TYPES.ndjson) ? rule : undefined,
  respond: ({ batch }, context) => Promise.resolve(importLines(context, batch)),
};
