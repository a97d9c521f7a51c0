import type { RouteNode } from "../route_node.ts";
import { answerValue } from "./answer_value.ts";
import type { Components } from "./components.ts";
import { type JsonSchema, orNull } from "./json_schema.ts";

const UNITS = { year: "", month: "-[0-9]{2}", day: "-[0-9]{2}-[0-9]{2}" } as const;

/**
 * Returns a reference to the schema of a group in a list. A group has the values that its entities share, and the
 * aggregates of these entities. Returns `undefined` if the list has no groups.
 */
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

/** Describes an object whose properties are all optional, because each request selects some of the keys. */
function objectOf(properties: readonly (readonly [string, JsonSchema])[]): JsonSchema {
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    additionalProperties: false,
  };
}
