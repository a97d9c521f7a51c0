import type { PropertyFacts } from "../../pipeline/description.ts";
import type { AnswerNode, RouteNode } from "../route_node.ts";
import { answerValue } from "./answer_value.ts";
import type { Components } from "./components.ts";
import { populatedValue } from "./entity_schema.ts";
import { type JsonSchema, orNull } from "./json_schema.ts";

export function alternativesOf(
  { facts, answer, model }: RouteNode,
  components: Components,
): JsonSchema[] {
  if (answer === undefined) return [];
  const { object: { fields }, populated } = answer;
  return facts.answer.alternatives.map((alternative) => {
    const { name, maxItems, items } = alternative;
    const schema = components.add(alternative, {
      name: `${model}${name}`,
      describe: () => schemaOf(items, { fields, populated, components }),
    });
    return { type: "array", items: schema, maxItems };
  });
}

interface AlternativeContext extends Pick<AnswerNode, "populated"> {
  readonly fields: AnswerNode["object"]["fields"];
  readonly components: Components;
}

function schemaOf(value: PropertyFacts, context: AlternativeContext): JsonSchema {
  const { fields, populated, components } = context;
  if ("schema" in value) return value.schema;
  if ("anyOf" in value) return { anyOf: value.anyOf.map((each) => schemaOf(each, context)) };
  if ("properties" in value) {
    const properties = Object.entries(value.properties)
      .map(([key, inner]) => [key, schemaOf(inner, context)] as const);
    return {
      type: "object",
      properties: Object.fromEntries(properties),
      additionalProperties: false,
    };
  }
  if ("shows" in value) {
    const field = fields.find((each) => each.name === value.shows);
    if (field === undefined) return {};
    const target = populated.get(field.name);
    if (target !== undefined) return populatedValue(field, { target, components });
    return orNull(answerValue(field, components));
  }
  const { type } = fields.find((each) => each.name === value.computes) ?? {};
  return type === "BigInt"
    ? orNull({ anyOf: [{ type: "number" }, { type: "string" }] })
    : orNull({ type: type === "Decimal128" ? "string" : "number" });
}
