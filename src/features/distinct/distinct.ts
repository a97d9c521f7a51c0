import { badParameter } from "../../errors/refusals.ts";
import { fieldToJson } from "../../json/to_json.ts";
import { aggregateList, whyUnstored } from "../../pipeline/aggregate_list.ts";
import { type DeclaredField, type Feature, narrowFields } from "../../pipeline/feature.ts";
import type { TextAnswer } from "../../pipeline/request/answer.ts";
import type { OpenLevelContext } from "../../pipeline/request/request_context.ts";
import type { FieldShape } from "../../schema/fields/shape.ts";

/** More values are refused, because a client could not see that some are missing. */
const MAX_VALUES = 1000;

interface DistinctTypes {
  readonly declared: readonly DeclaredField[];
  readonly config: readonly string[];
  readonly params: string;
  readonly captured: undefined;
}

export const distinct: Feature<DistinctTypes> = {
  name: "distinct",
  operations: ["all"],
  requirements: [
    { needs: "query" },
    {
      withoutHooks: ["postFetch", "preSend"],
      reason: (hook) => `the values would tell of what "${hook}" leaves out`,
    },
    { needs: "collection", reason: "it lists what others embed" },
    { needs: "aggregation" },
  ],
  exclusive: {
    keeps: ["search"],
    allowed: "no distinct beside it",
    noun: "Distinct values",
    clash: (noun) => `${noun} are not distinct values`,
  },
  parameters: { distinct: "one" },
  check: (option, place) =>
    option.fields("scalar", { check: (field) => whyUnstored(field, place) }),
  narrow: narrowFields,
  describe: (fields) => ({
    parameters: {
      distinct: {
        text: "The field whose distinct values are returned instead of entities.",
        fields,
        schema: { type: "string", enum: fields },
      },
    },
    errors: ["CONFLICT"],
    answer: {
      alternative: {
        name: "Value",
        maxItems: MAX_VALUES,
        items: { anyOf: fields.map((shows) => ({ shows })) },
      },
    },
  }),
  parse(fields, given) {
    const name = given.parameter("distinct");
    if (name === undefined || fields.includes(name)) return name;
    throw badParameter("distinct", `one field out of ${fields.join(", ")}`);
  },
  respond: readValues,
};

async function readValues(name: string, context: OpenLevelContext): Promise<TextAnswer> {
  const found = await aggregateList(context, {
    parameter: "distinct",
    fields: [name],
    stages: [
      { $group: { _id: `$${name}` } },
      { $match: { _id: { $not: { $type: ["array", "object", "null", "undefined"] } } } },
      { $sort: { _id: 1 } },
      { $limit: MAX_VALUES + 1 },
    ],
    max: MAX_VALUES,
    excess: `There are more than ${MAX_VALUES} values`,
  });
  const field = context.level.shape.fields.get(name) as FieldShape;
  // Several values may have the same JSON, such as the decimal 5 and the string "5".
  const texts = new Set(
    found.map(({ _id }) => JSON.stringify(fieldToJson(_id, field) ?? null)).filter((text) =>
      text !== "null"
    ),
  );
  return { kind: "text", status: 200, text: `[${[...texts].join(",")}]` };
}
