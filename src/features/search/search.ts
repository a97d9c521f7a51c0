import { type Filter, topOf } from "../../filter/filters.ts";
import { type DeclaredField, DeclaredPath, type Feature } from "../../pipeline/feature.ts";
import type { OptionPlace } from "../../pipeline/option_reader.ts";
import { isHiddenPath } from "../../schema/fields/visibility.ts";
import { compileSearch, MAX_CHARACTERS, MAX_WORDS, type SearchConfig } from "./compile_search.ts";

interface SearchTypes {
  readonly declared:
    | { readonly fields: readonly DeclaredField[] }
    | { readonly index: readonly DeclaredPath[] };
  readonly config: SearchConfig;
  readonly params: Filter;
  readonly captured: undefined;
}

const WORD = "[^\\s\\u0000]+";

export const search: Feature<SearchTypes> = {
  name: "search",
  operations: ["all"],
  requirements: [{ needs: "query" }],
  parameters: { search: "one" },
  check(option, place) {
    if (Array.isArray(option.value)) return { fields: option.fields("text") };
    const { index } = option.parts("index");
    if (index.value !== true) {
      throw option.fail('needs a list of fields or { index: true } as "search"');
    }
    if (place.link?.embedded) {
      throw option.fail("cannot search in a text index: it lists what others embed");
    }
    return { index: textIndexPaths(place) };
  },
  /** A result reveals that a field contains the word, so the reader must see every indexed field. */
  narrow(declared, reader) {
    if ("index" in declared) {
      return declared.index.every((path) => path.isVisibleTo(reader))
        ? { fields: undefined }
        : undefined;
    }
    const fields = declared.fields.flatMap((field) => field.visibleTo(reader));
    return fields.length > 0 ? { fields } : undefined;
  },
  describe: () => ({
    parameters: {
      search: {
        text: `The words to search for, at most ${MAX_WORDS}.`,
        schema: {
          type: "string",
          maxLength: MAX_CHARACTERS,
          pattern: `^\\s*${WORD}(\\s+${WORD}){0,${MAX_WORDS - 1}}\\s*$`,
        },
      },
    },
  }),
  parse(config, given) {
    const text = given.parameter("search");
    return text === undefined ? undefined : compileSearch(text, config);
  },
  select: (filter) => ({ filter }),
};

function textIndexPaths({ schema, shape, leftOut, fail }: OptionPlace): readonly DeclaredPath[] {
  const keys = schema.indexes().flatMap(([index]) => Object.entries(index));
  const texts = keys.filter(([, kind]) => kind === "text").map(([path]) => path);
  if (texts.length === 0) {
    throw fail(`needs a text index for "search": declare it in configure(), by schema.index()`);
  }
  const guessed = leftOut.find((name) =>
    texts.some((path) => path === "$**" || topOf(path) === name)
  );
  if (guessed !== undefined) {
    throw fail(`cannot search in a text index of "${guessed}", which a hook leaves out`);
  }
  const hidden = texts.find((path) => path === "$**" ? shape.secretive : isHiddenPath(path, shape));
  if (hidden === undefined) return texts.map((path) => new DeclaredPath(path));
  throw fail(`cannot search in a text index of "${hidden}": clients do not see all that it holds`);
}
