import { below, embedsItself, type FilterNode, type FilterValue } from "./filter_node.ts";
import type { Components } from "../components.ts";
import type { JsonSchema } from "../json_schema.ts";
import { describeCondition } from "./condition_schema.ts";

/**
 * The pattern of one name in a path, with the dot before it. The schema uses the pattern for names that no class
 * declares, such as the keys of a Map.
 */
const STEP = "(\\.[^.$\\u0000][^.\\u0000]*)";

/** Describes the filters of an object, with the paths that they may name and the conditions on each path. */
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
   * The classes that embed themselves and whose paths the schema has already, in any place. If such a class occurs
   * again, fewer of its paths are listed. `above` has only the classes of this kind on the way to `prefix`. Below a
   * class in `above`, one pattern allows every path, because a list of the paths would never end.
   */
  readonly seen: Set<FilterNode>;
  readonly above: readonly FilterNode[];
  /**
   * Whether the list of paths ends at the next class that embeds itself, because the list would never end. A pattern
   * then allows every path below this class.
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
 * Adds the paths of a class that embeds itself, whose list would never end. If the prefix leads through the class
 * already, one pattern allows every path below the prefix. If the class has occurred in another place, its paths end at
 * the next class that embeds itself.
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
 * Escapes the characters that have a meaning in patterns. JSON Schema refuses a pattern that escapes other characters.
 */
function escaped(path: string): string {
  return path.replaceAll(/[\^$\\.*+?()[\]{}|/]/g, "\\$&");
}
