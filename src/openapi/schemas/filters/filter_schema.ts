import { below, embedsItself, type FilterNode, type FilterValue } from "./filter_node.ts";
import type { Components } from "../components.ts";
import type { JsonSchema } from "../json_schema.ts";
import { describeCondition } from "./condition_schema.ts";

/**
 * The pattern of one name in a path, with the dot before it. The schema uses the pattern for names that no class
 * declares, such as the keys of a Map.
 */
const STEP = "(\\.[^.$\\u0000][^.\\u0000]*)";

/**
 * Returns the JSON Schema of a filter on entities of a class, for the parameter `q` in the OpenAPI document. The schema
 * lists the paths that a filter may name, with the conditions on each path.
 */
export function describeFilter(node: FilterNode, components: Components): JsonSchema {
  const properties = new Map<string, JsonSchema>();
  const patterns = new Map<string, JsonSchema>();
  addPaths(node, {
    prefix: "",
    seen: new Set(),
    above: [],
    isLast: false,
    properties,
    patterns,
    components,
  });
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
  /**
   * The classes that embed themselves and whose paths the schema lists already, below any field. Below a further field
   * with such a class, the list ends at the next class that embeds itself, so that the schema stays small. `above` has
   * only the classes that contain the current path. If one of them occurs again, a pattern allows every longer path,
   * because a list of the paths would never end.
   */
  readonly seen: Set<FilterNode>;
  readonly above: readonly FilterNode[];
  /**
   * Whether the list of filter paths ends at the next class that embeds itself. A pattern allows every path below this
   * class, because a list of the paths would never end.
   */
  readonly isLast: boolean;
  readonly properties: Map<string, JsonSchema>;
  readonly patterns: Map<string, JsonSchema>;
  readonly components: Components;
}

function addPaths({ fields, referred = new Map() }: FilterNode, paths: Paths): void {
  const { prefix, properties, components } = paths;
  for (const [name, value] of fields) {
    const path = `${prefix}${name}`;
    properties.set(path, describeCondition(value, components));
    addBelow(value, { ...paths, prefix: path });
  }
  for (const [path, value] of referred) {
    properties.set(`${prefix}${path}`, describeCondition(value, components));
  }
}

function addBelow(value: FilterValue, paths: Paths): void {
  const { object, open } = below(value);
  const { prefix, patterns, components } = paths;
  if (open !== undefined) {
    const { element = open, kind } = open;
    const steps = kind === "map" ? STEP : `${STEP}+`;
    patterns.set(`^${escaped(prefix)}${steps}$`, describeCondition(element, components));
    if (kind === "map" && below(element).isLeaf !== true) {
      patterns.set(`^${escaped(prefix)}${STEP}{2,}$`, {});
    }
  }
  if (object === undefined) return;
  const inner = { ...paths, prefix: `${prefix}.` };
  if (embedsItself(object)) addRecursive(object, inner);
  else addPaths(object, inner);
}

/**
 * Adds the filter paths of a class that embeds itself, such as a comment with answers, whose list would never end. If
 * the current path is inside of this class already, one pattern allows every longer path. If the schema has listed the
 * class below another field, the list ends at the next class that embeds itself.
 */
function addRecursive(node: FilterNode, paths: Paths): void {
  const { prefix, seen, above, isLast, patterns } = paths;
  if (isLast || above.includes(node)) {
    patterns.set(`^${escaped(prefix)}.+$`, {});
    return;
  }
  const isKnown = seen.has(node);
  seen.add(node);
  addPaths(node, { ...paths, above: [...above, node], isLast: isKnown });
}

/**
 * Escapes a field path for a regular expression in `patternProperties` of JSON Schema, such as `\.` for a dot. Only
 * characters with a meaning are escaped, because JSON Schema refuses other escapes.
 */
function escaped(path: string): string {
  return path.replaceAll(/[\^$\\.*+?()[\]{}|/]/g, "\\$&");
}
