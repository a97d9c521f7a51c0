import type { ListFormat } from "./option.ts";
import { notAcceptable } from "../../errors/refusals.ts";
import type { Feature, Plain } from "../../pipeline/feature.ts";
import { chooseType } from "../../pipeline/request/accept.ts";
import type { Frame } from "../../pipeline/request/frame.ts";
import type { LevelContext } from "../../pipeline/request/request_context.ts";
import { MEDIA_TYPES } from "../../pipeline/request/media_types.ts";
import { columnsIn, columnsOf } from "./columns.ts";
import { csvFrame } from "./csv.ts";

const TYPES: Readonly<Record<ListFormat, string>> = {
  ndjson: MEDIA_TYPES.ndjson,
  csv: MEDIA_TYPES.csv,
};

const TEXTS: Readonly<Record<ListFormat, string>> = {
  ndjson: "The JSON text of an entity on each line",
  csv: "A header, and a row for each entity (RFC 4180)",
};

const FRAMES: Readonly<Record<ListFormat, (context: LevelContext) => Frame>> = {
  ndjson: () => LINES,
  csv: (context) => csvFrame(columnsOf(context)),
};

const LINES: Frame = {
  type: MEDIA_TYPES.ndjson,
  open: "",
  separator: "\n",
  close: "\n",
  empty: "",
};

type Formats = readonly ListFormat[];

interface Chosen {
  readonly format: ListFormat | undefined;
}

export const formats: Feature<Plain<Formats, Chosen>> = {
  name: "formats",
  operations: ["all"],
  check(option, { shape }) {
    const given = option.list("formats");
    if (given.length === 0) throw option.fail('needs a list of formats as "formats"');
    const unknown = given.find((name) => !Object.hasOwn(TYPES, name));
    if (unknown !== undefined) throw option.fail(`has an unknown format "${unknown}" in "formats"`);
    if (given.includes("csv") && columnsIn(shape).length === 0) {
      throw option.fail(`has "csv" in "formats", but no field that fits in a cell`);
    }
    return [...new Set(given as Formats)];
  },
  narrow: (declared) => declared,
  describe: (given) => ({
    errors: ["NOT_ACCEPTABLE"],
    route: { formats: given },
    answer: {
      content: Object.fromEntries(given.map((name) => {
        return [TYPES[name], { type: "string", description: TEXTS[name] }];
      })),
    },
  }),
  parse(given, { accept, offered }) {
    const type = chooseType(accept, offered);
    if (type !== undefined) return { format: given.find((name) => TYPES[name] === type) };
    throw notAcceptable(offered);
  },
  prepare: ({ format }, context) =>
    Promise.resolve(format === undefined ? {} : { frame: FRAMES[format](context) }),
};
