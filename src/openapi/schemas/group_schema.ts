import type { RouteNode } from "../route_node.ts";
import { answerValue } from "./answer_value.ts";
import type { Components } from "./components.ts";
import { type JsonSchema, orNull } from "./json_schema.ts";

const UNITS = { year: "", month: "-[0-9]{2}", day: "-[0-9]{2}-[0-9]{2}" } as const;

/** Refers to a group of a list: what it has in common, and what is told of its entities. */
export function groupOf(
  { groups, answer, model }: RouteNode,
  components: Components,
): JsonSchema | undefined {
  if (groups === undefined || answer === undefined) return undefined;
  const { by, sum, avg, count } = groups;
  const valueOf = (name: string) => {
    const field = answer.object.fields.find((each) => each.name === name);
    return field === undefined ? {} : orNull(answerValue(field, components));
  };
  const keys = by.flatMap((key): [string, JsonSchema][] => {
    if (typeof key === "string") return [[key, valueOf(key)]];
    return Object.entries(key).map(([name, unit = "day"]) => {
      return [name, orNull({ type: "string", pattern: `^[0-9]{4}${UNITS[unit]}$` })];
    });
  });
  const numbers = (names: readonly string[]) =>
    names.length > 0 && objectOf(names.map((name) => {
      const { type } = answer.object.fields.find((each) => each.name === name) ?? {};
      if (type === "BigInt") {
        return [name, orNull({ anyOf: [{ type: "number" }, { type: "string" }] })];
      }
      return [name, orNull({ type: type === "Decimal128" ? "string" : "number" })];
    }));
  const totals = Object.entries({ sum: numbers(sum), avg: numbers(avg) })
    .filter((entry): entry is [string, JsonSchema] => entry[1] !== false);
  const counted: [string, JsonSchema][] = count ? [["count", { type: "integer", minimum: 1 }]] : [];
  const describe = () => objectOf([...keys, ...counted, ...totals]);
  return components.add(groups, { name: `${model}Group`, describe });
}

/** A request asks for some of the keys. */
function objectOf(properties: readonly (readonly [string, JsonSchema])[]): JsonSchema {
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    additionalProperties: false,
  };
}
