import type { Feature, Plain } from "../../pipeline/feature.ts";
import { MEDIA_TYPES } from "../../pipeline/request/media_types.ts";
import type { LineFormat } from "./body_parser.ts";
import { takesColumns } from "./csv_columns.ts";
import { importLines } from "./import_lines.ts";

interface LinesConfig {
  /** The number of lines that are stored together, from the option `many`. */
  readonly batch: number;
  readonly formats: readonly LineFormat[];
}

interface LinesRequest {
  readonly batch: number;
  readonly format: LineFormat;
}

const TYPES: Readonly<Record<LineFormat, string>> = {
  ndjson: MEDIA_TYPES.ndjson,
  csv: MEDIA_TYPES.csv,
};

const TEXTS: Readonly<Record<LineFormat, string>> = {
  ndjson: "An entity on each line",
  csv: "A head with the names of fields, and an entity on each row (RFC 4180)",
};

export const lines: Feature<Plain<LinesConfig, LinesRequest>> = {
  name: "lines",
  options: ["formats"],
  operations: ["create"],
  word: "many",
  exclusive: {
    keeps: [],
    allowed: "no lines beside it",
    noun: "Lines",
    clash: (noun) => `${noun} are not lines`,
  },
  check(option, { shape }) {
    const formats = option.list("formats");
    if (formats.length === 0 || !formats.every(isFormat)) {
      throw option.fail(`needs "ndjson" or "csv" in "formats"`);
    }
    if (formats.includes("csv") && !takesColumns(shape)) {
      throw option.fail(`has "csv" in "formats", but no field that fits in a cell`);
    }
    const many = option.other("many");
    if (many.value === undefined) {
      throw option.fail(`needs "many" with "formats": the size of a batch`);
    }
    const { required } = Object(option.other("idempotency").value);
    if (required === true) {
      throw option.fail(`cannot have "formats" with "idempotency.required": lines have no key`);
    }
    return { batch: many.number(), formats: [...new Set(formats)] };
  },
  narrow: (declared) => declared,
  describe: ({ formats }) => ({
    route: { formats },
    body: {
      content: Object.fromEntries(formats.map((name) => {
        return [TYPES[name], { type: "string", description: TEXTS[name] }];
      })),
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
  parse({ batch, formats }, given) {
    const format = formats.find((name) => given.hasType(TYPES[name]));
    return format && { batch, format };
  },
  respond: (request, context) => Promise.resolve(importLines(context, request)),
};

function isFormat(name: string): name is LineFormat {
  return Object.hasOwn(TYPES, name);
}
