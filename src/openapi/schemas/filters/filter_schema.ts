import { below, embedsItself, type FilterNode, type FilterValue } from "./filter_node.ts";
import type { Components } from "../components.ts";
import type { JsonSchema } from "../json_schema.ts";
import { describeCondition } from "./condition_schema.ts";

const STEP = "(\\.[^.$\\u0000][^.\\u0000]*)";

export function filterSchema(node: FilterNode, components: Components): JsonSchema {
  const properties = new Map<string, JsonSchema>();
  const patterns = new Map<string, JsonSchema>();
  addPaths(node, {
    prefix: "",
    visited: new Set(),
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
  /** `visited` has all recursive classes found so far, `above` only the classes around the current path. */
  readonly visited: Set<FilterNode>;
  readonly above: readonly FilterNode[];
  /**
   * Paths end at the next recursive class if an earlier path has described this class, so that the list stays small.
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

/** The list of paths would never end, so a pattern allows all longer paths. */
function addRecursive(node: FilterNode, paths: Paths): void {
  const { prefix, visited, above, isLast, patterns } = paths;
  if (isLast || above.includes(node)) {
    patterns.set(`^${escaped(prefix)}.+$`, {});
    return;
  }
  const isKnown = visited.has(node);
  visited.add(node);
  addPaths(node, { ...paths, above: [...above, node], isLast: isKnown });
}

/** With the flag `u`, a pattern with any other escape is a syntax error. */
function escaped(path: string): string {
  return path.replaceAll(/[\^$\\.*+?()[\]{}|/]/g, "\\$&");
}
