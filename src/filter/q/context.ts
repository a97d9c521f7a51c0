import { badFormat } from "../../errors/refusals.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import type { Filter } from "../filters.ts";
import type { FilterLimits } from "./limits.ts";

export interface Context {
  readonly field: FieldShape;
  readonly path: string;
  /** The path from the entity on: inside of `$elemMatch`, paths begin at the element. */
  readonly whole: string;
  /** The operator that it is an operand of; empty for a literal. */
  readonly operator: string;
  readonly depth: number;
  readonly limits: FilterLimits;
  readonly compiler: Compiler;
}

export interface ClausePlace {
  readonly shape: Shape | undefined;
  readonly depth: number;
  /** The path of the elements that it selects, with a dot at its end; empty for entities. */
  readonly prefix: string;
}

export interface Compiler {
  /** Compiles paths and clauses; inside a free-form field there is no shape. */
  clauses(filter: unknown, at: ClausePlace): Filter;
  operators(operators: Readonly<Filter>, context: Context): Filter;
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
