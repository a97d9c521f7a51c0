import {
  type FieldNode,
  isAnswer,
  type ObjectNode,
  repeatsStored,
} from "../../describe/describe_object.ts";
import { answerValue } from "./answer_value.ts";
import { bodyValue } from "./bodies/body_value.ts";
import type { Components } from "./components.ts";
import type { JsonSchema } from "./json_schema.ts";

export function objectSchema(node: ObjectNode, components: Components): JsonSchema {
  const { fields, view, strict, ignored } = node;
  const value = isAnswer(view) ? answerValue : bodyValue;
  const schema = objectOf(fields, (field) => value(field, components));
  if (isAnswer(view)) return schema;
  if (components.isStrict) return closed(schema, { node, components });
  if (!strict) return schema;
  // Clients may send an entity back with fields that the server ignores.
  const unread = Object.fromEntries(ignored.map((name) => [name, { description: "Ignored" }]));
  const properties = { ...schema.properties as object, ...unread };
  return { ...schema, properties, additionalProperties: false };
}

const REPEATED = { readOnly: true, description: "Only the stored value is accepted" } as const;

/** Forbids undeclared fields, but accepts the stored values of fields that a body cannot set. */
function closed(
  schema: JsonSchema,
  { node, components }: { readonly node: ObjectNode; readonly components: Components },
): JsonSchema {
  const { view, isOpen, repeated } = node;
  const repeats = repeatsStored(view) ? repeated : [];
  const properties = {
    ...schema.properties as object,
    ...Object.fromEntries(
      repeats.map((field) => [field.name, { ...answerValue(field, components), ...REPEATED }]),
    ),
  };
  return { ...schema, properties, ...!isOpen && { additionalProperties: false } };
}

export function objectOf(
  fields: readonly FieldNode[],
  describe: (field: FieldNode) => JsonSchema,
): JsonSchema {
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return {
    type: "object",
    properties: Object.fromEntries(
      fields.map((field) => [field.name, { ...describe(field), ...describeWords(field) }]),
    ),
    ...required.length > 0 && { required },
  };
}

function describeWords(field: FieldNode): JsonSchema {
  const { summary, description, deprecated, example } = field.words;
  // Code generators treat a field with `default` as always present, so the description names the default.
  const left = "default" in field && `If it is left out: \`${JSON.stringify(field.default)}\``;
  const texts = [description, left].filter((text) => typeof text === "string");
  return {
    ...summary !== undefined && { title: summary },
    ...texts.length > 0 && { description: texts.join("\n\n") },
    ...deprecated && { deprecated },
    ...example !== undefined && { examples: [example] },
  };
}
