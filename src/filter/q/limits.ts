import { completeLimits } from "../../errors/complete_limits.ts";
import { badFormat } from "../../errors/refusals.ts";
import type { FieldShape } from "../../schema/fields/shape.ts";
import type { FilterCompiler } from "./compile_filter.ts";

/** Limits on the URL parameter `q`. Larger filters answer 400. */
export interface QueryLimits {
  /** The maximum depth of nested objects. The default is `20`. */
  readonly maxDepth?: number;
  /** The maximum number of conditions in total. The default is `200`. */
  readonly maxClauses?: number;
  /** The maximum length of a list. The default is `1000`. */
  readonly maxList?: number;
  /** The maximum length of a regular expression. The default is `200`. */
  readonly maxRegex?: number;
  /**
   * With `"listed"`, filters name only the paths in the option `filter` of their operation. Operations without it take no
   * `q`.
   */
  readonly paths?: "listed" | undefined;
}

export type FilterLimits = Required<Omit<QueryLimits, "paths">>;

export const DEFAULT_LIMITS: FilterLimits = {
  maxDepth: 20,
  maxClauses: 200,
  maxList: 1000,
  maxRegex: 200,
};

export function completeQueryLimits({ paths, ...given }: QueryLimits = {}): FilterLimits {
  if (paths !== undefined && paths !== "listed") {
    throw new TypeError(`Cannot limit queries: "paths" is not "listed"`);
  }
  return completeLimits(given, { defaults: DEFAULT_LIMITS, what: "queries" });
}

/** The place in a filter at which a value is compiled. */
export interface Context {
  readonly field: FieldShape;
  readonly path: string;
  /** The path from the entity on: inside of `$elemMatch`, paths begin at the element. */
  readonly whole: string;
  /** The operator that it is an operand of; empty for a literal. */
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
