import type { PropertyFacts } from "../../pipeline/description.ts";
import type { RouteNode } from "../route_node.ts";
import { answerValue } from "./answer_value.ts";
import type { Components } from "./components.ts";
import { type JsonSchema, orNull } from "./json_schema.ts";

/**
 * Returns the schema of the list that a request can get in the place of entities, such as groups. Returns `undefined`
 * if no feature of the operation has such a list.
 */
export function alternativeOf(
  { facts, answer, model }: RouteNode,
  components: Components,
): JsonSchema | undefined {
  const { alternative } = facts.answer;
  if (alternative === undefined || answer === undefined) return undefined;
  const { name, maxItems, items } = alternative;
  const { fields } = answer.object;
  const schemaOf = (property: PropertyFacts): JsonSchema => {
    if ("schema" in property) return property.schema;
    if ("properties" in property) {
      return {
        type: "object",
        properties: Object.fromEntries(
          Object.entries(property.properties).map(([key, inner]) => [key, schemaOf(inner)]),
        ),
        additionalProperties: false,
      };
    }
    if ("shows" in property) {
      const field = fields.find((each) => each.name === property.shows);
      return field === undefined ? {} : orNull(answerValue(field, components));
    }
    const { type } = fields.find((each) => each.name === property.computes) ?? {};
    return type === "BigInt"
      ? orNull({ anyOf: [{ type: "number" }, { type: "string" }] })
      : orNull({ type: type === "Decimal128" ? "string" : "number" });
  };
  const schema = components.add(alternative, {
    name: `${model}${name}`,
    describe: () => schemaOf(items),
  });
  return { type: "array", items: schema, maxItems };
}
