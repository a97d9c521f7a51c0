import { badFormat, badParameter, refusal } from "../../errors/refusals.ts";
import { readProjection, shownBy } from "../../filter/projection.ts";
import { toJsonValue } from "../../json/to_json.ts";
import type { DeclaredField, Feature } from "../../pipeline/feature.ts";
import type { Reply } from "../../pipeline/request/reply.ts";
import type { OpenLevelContext } from "../../pipeline/request/request_context.ts";
import { showsOtherThanStored } from "../../schema/mongoose/documents/hide_in_json.ts";
import { findsByMiddleware } from "../../schema/mongoose/schemas/schema_members.ts";

/**
 * The maximum number of values in an answer. A list with more values is answered with a 409. A part of the values would
 * look like all of them.
 */
const MAX_VALUES = 1000;

interface DistinctTypes {
  readonly declared: readonly DeclaredField[];
  readonly rule: readonly string[];
  readonly params: string;
  readonly captured: undefined;
}

/**
 * The different values of one field in all entities of a list, such as the states of orders. A client gets them in the
 * place of entities by the parameter `distinct`.
 */
export const distinct: Feature<DistinctTypes> = {
  name: "distinct",
  operations: ["all"],
  requirements: [
    {
      withoutHooks: ["fetch", "postFetch", "preSend"],
      reason: (hook) => `the values would tell of what "${hook}" leaves out`,
    },
    { needs: "collection", reason: "it lists what others embed" },
  ],
  exclusive: {
    keeps: ["search"],
    allowed: "no distinct beside it",
    noun: "Distinct values",
    clash: (noun) => `${noun} are not distinct values`,
  },
  parameters: { distinct: "one" },
  check(option, { schema }) {
    if (findsByMiddleware(schema)) {
      throw option.fail(
        'cannot have "distinct": the model has middleware of find(), and none of aggregate()',
      );
    }
    return option.fields("scalar", {
      check: ({ type }) =>
        showsOtherThanStored(type, schema)
          ? "of which the model shows another value than is stored"
          : undefined,
    });
  },
  narrow(declared, reader) {
    const names = declared.flatMap((field) => field.seenBy(reader));
    return names.length === 0 ? undefined : names;
  },
  describe: (fields) => ({
    parameters: {
      distinct: {
        text: "The field whose different values the answer has in the place of entities",
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

async function readValues(name: string, context: OpenLevelContext): Promise<Reply> {
  const { source, level: { shape, target }, state } = context;
  const projection = readProjection(state.projection, shape);
  const field = shape.fields.get(name);
  // A hook may set a projection in which a text is an expression. The list then shows the value of the expression and
  // not the stored value, so the stored values must not be revealed.
  const isShown = field !== undefined && shownBy(projection, shape)(name, field) &&
    typeof projection[name] !== "string";
  if (!isShown) throw badFormat(`Field "${name}" is unknown`, { field: name });
  if (source.aggregate === undefined) {
    throw new TypeError(`Cannot list the values of "${target.name}": it has no collection`);
  }
  const stages = [
    { $group: { _id: `$${name}` } },
    { $match: { _id: { $not: { $type: ["array", "object", "null", "undefined"] } } } },
    { $sort: { _id: 1 } },
    { $limit: MAX_VALUES + 1 },
  ] as const;
  const found = await source.aggregate({ stages, fields: [name] });
  // JSON shows some different stored values by the same text, such as the number 5 and the decimal 5, so duplicates of
  // the text are removed. Values that JSON cannot show, such as NaN, are left out.
  const texts = new Set(
    found.map(({ _id }) => JSON.stringify(toJsonValue(_id) ?? null)).filter((text) =>
      text !== "null"
    ),
  );
  if (found.length > MAX_VALUES) {
    const message = `There are more than ${MAX_VALUES} values`;
    throw refusal("CONFLICT", { message, limit: MAX_VALUES });
  }
  return { status: 200, text: `[${[...texts].join(",")}]` };
}
