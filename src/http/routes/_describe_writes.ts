import { actingLevel } from "../../pipeline/request/route.ts";
import type { Route, WriteRules } from "../../pipeline/request/route.ts";
import type { ObjectNode } from "../../schema/describe_object.ts";
import type { HeaderDescription, WriteDescription } from "./describe_route.ts";

/** The body of a write that takes other fields than a creation or an update. */
export function narrowBody(
  body: ObjectNode,
  { fields: names, by = "_id" }: Partial<WriteRules>,
): ObjectNode {
  const { model, strict, ignored, fields } = body;
  if (names !== undefined) {
    const taken = fields.filter(({ name }) => names.has(name));
    return { model, view: "changes", strict: true, ignored: [], fields: taken };
  }
  if (!fields.some(({ name, required }) => name === by && required)) return body;
  // The path has the key
  const own = fields.map((each) => each.name === by ? { ...each, required: false } : each);
  return { model, view: "replacement", strict, ignored, fields: own };
}

const COUNT = { type: "integer", minimum: 0 };

export const COUNTS = {
  type: "object",
  properties: {
    matched: { ...COUNT, description: "How many entities were selected" },
    modified: { ...COUNT, description: "How many of them were written" },
  },
  required: ["matched", "modified"],
};

type Preference = NonNullable<HeaderDescription["preferences"]>[number];

export function describePreferences(route: Route): Preference[] {
  const { operation, reads } = actingLevel(route);
  const { change, many } = route.operation;
  const names: readonly (false | Preference)[] = [
    reads?.count?.always === false && "count=exact",
    (change === "merge" || change === "replace") && !many && "return=minimal",
    (operation === "updateAll" || operation === "removeAll") && "max-affected",
  ];
  return names.filter((name) => name !== false);
}

export function describeWrites(
  operation: string,
  { many, atomic, max = Infinity, by, idempotency }: WriteRules,
): WriteDescription {
  return {
    ...many !== undefined && { many },
    ...(many !== undefined || operation === "updateAll") && { atomic },
    ...max !== Infinity && { max },
    ...by !== undefined && { by },
    ...idempotency && { keepMS: idempotency.keepMS },
  };
}
