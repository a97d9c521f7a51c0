import { completeLimits } from "../../errors/complete_limits.ts";
import { badFormat } from "../../errors/refusals.ts";
import type { FieldShape } from "../../schema/fields/shape.ts";
import type { FilterCompiler } from "./compile_filter.ts";

/** @internal Limits on the URL parameter `q`. A larger filter answers 400. */
export interface QueryLimits {
  /** The maximum depth of nested objects and lists in a filter. The default is `20`. */
  readonly maxDepth?: number;
  /** The maximum number of conditions and operators in a filter. The default is `200`. */
  readonly maxClauses?: number;
  /** The maximum number of values in one list of a filter. The default is `1000`. */
  readonly maxList?: number;
  /** The maximum number of characters in a regular expression. The default is `200`. */
  readonly maxRegex?: number;
  /** The maximum number of entities that a condition through a reference may select. The default is `1000`. */
  readonly maxReferred?: number;
}

export type FilterLimits = Required<QueryLimits>;

export const DEFAULT_LIMITS: FilterLimits = {
  maxDepth: 20,
  maxClauses: 200,
  maxList: 1000,
  maxRegex: 200,
  maxReferred: 1000,
};

export function completeQueryLimits(given: QueryLimits = {}): FilterLimits {
  if (Object.hasOwn(given, "paths")) {
    throw new TypeError(`Cannot limit queries: "paths" is now the option "filters"`);
  }
  return completeLimits(given, { defaults: DEFAULT_LIMITS, what: "queries" });
}

export interface Context {
  readonly field: FieldShape;
  readonly path: string;
  /** The path from the root of the entity. Inside of `$elemMatch`, `path` begins at the element. */
  readonly whole: string;
  /** Empty for a plain value, which is compared for equality. */
  readonly operator: string;
  readonly depth: number;
  readonly limits: FilterLimits;
  readonly compiler: FilterCompiler;
}

export function deeper(context: Context): Context {
  const depth = context.depth + 1;
  checkDepth(depth, context.limits);
  return { ...context, depth };
}

export function checkDepth(depth: number, { maxDepth }: FilterLimits): void {
  if (depth > maxDepth) throw badFormat(`A filter is nested at most ${maxDepth} deep`);
}

export function checkList(
  value: unknown,
  { operator, limits: { maxList } }: Pick<Context, "operator" | "limits">,
): unknown[] {
  if (!Array.isArray(value)) throw badFormat(`Operator "${operator}" takes a list`, { operator });
  if (value.length > maxList) {
    throw badFormat(`Operator "${operator}" takes at most ${maxList} values`, { operator });
  }
  return value;
}

export function refuse({ path, operator }: Context, expected: string): never {
  throw badFormat(`Operator "${operator}" at "${path}" takes ${expected}`, {
    operator,
    field: path,
  });
}
