import { beginsAgain, below } from "../../../filter/q/describe_filter.ts";
import type { FilterNode, FilterValue } from "../../../filter/q/describe_filter.ts";
import type { Components } from "../components.ts";
import type { JsonSchema } from "../json_schema.ts";
import { describeCondition } from "./condition_schema.ts";

/** A step of a path into data. */
const STEP = "(\\.[^.$\\u0000][^.\\u0000]*)";

/** Describes what a filter may name, and with what. */
export function describeFilter(node: FilterNode, components: Components): JsonSchema {
  const properties = new Map<string, JsonSchema>();
  const patterns = new Map<string, JsonSchema>();
  addPaths(node, { prefix: "", seen: new Set(), properties, patterns, components });
  const clauses = { type: "array", minItems: 1, items: components.filter(node) };
  return {
    description: "Elements of arrays can be named by their index too, such as `tags.0`",
    type: "object",
    properties: {
      ...Object.fromEntries(["$and", "$or", "$nor"].map((name) => [name, clauses])),
      ...Object.fromEntries(properties),
    },
    ...patterns.size > 0 && { patternProperties: Object.fromEntries(patterns) },
    additionalProperties: false,
  };
}

interface Paths {
  readonly prefix: string;
  readonly seen: Set<FilterNode>;
  readonly properties: Map<string, JsonSchema>;
  readonly patterns: Map<string, JsonSchema>;
  readonly components: Components;
}

function addPaths({ fields }: FilterNode, paths: Paths): void {
  for (const [name, value] of fields) {
    const path = `${paths.prefix}${name}`;
    paths.properties.set(path, describeCondition(value, paths.components));
    addBelow(value, { ...paths, prefix: path });
  }
}

function addBelow(value: FilterValue, paths: Paths): void {
  const { object, open } = below(value);
  const { prefix, seen, patterns, components } = paths;
  if (open !== undefined) {
    const { element = open, kind } = open;
    const steps = kind === "map" ? STEP : `${STEP}+`;
    patterns.set(`^${escaped(prefix)}${steps}$`, describeCondition(element, components));
    if (kind === "map" && below(element).isLeaf !== true) {
      patterns.set(`^${escaped(prefix)}${STEP}{2,}$`, {});
    }
  }
  if (object === undefined) return;
  // The paths of a class that embeds itself never end
  if (beginsAgain(object, seen)) patterns.set(`^${escaped(prefix)}\\..+$`, {});
  else addPaths(object, { ...paths, prefix: `${prefix}.` });
}

/** Escapes what has a meaning in patterns, and nothing else: patterns of JSON Schema refuse that. */
function escaped(path: string): string {
  return path.replaceAll(/[\^$\\.*+?()[\]{}|/]/g, "\\$&");
}
