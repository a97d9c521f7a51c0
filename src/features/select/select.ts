import { type DeclaredField, type Feature, narrowFields } from "../../pipeline/feature.ts";

interface SelectTypes {
  readonly declared: readonly DeclaredField[];
  readonly config: readonly string[];
  readonly params: readonly string[];
  readonly captured: undefined;
}

export const select: Feature<SelectTypes> = {
  name: "select",
  operations: ["all", "one"],
  parameters: { select: "list" },
  check: (option) => option.fields("any"),
  narrow: narrowFields,
  describe: (names) => ({
    parameters: {
      select: { text: "The fields to show. `_id` is always shown.", fields: ["_id", ...names] },
    },
    answer: { isPartial: true },
  }),
  parse: (names, given) =>
    given.parameter("select") === undefined ? undefined : given.names("select", ["_id", ...names]),
  select: (shown) => ({ shown }),
};
