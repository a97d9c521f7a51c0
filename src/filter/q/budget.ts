import { badFormat } from "../../errors/refusals.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import type { QueryLimits } from "./limits.ts";

/** A filter for the database. */
export type Filter = Record<string, unknown>;

/** What one compilation may still cost. */
export interface Budget {
  /** The caps. */
  readonly limits: Required<QueryLimits>;
  /** The conditions so far. */
  clauses: number;
}

/** Compiles paths and clauses: a whole filter, or what `$elemMatch` says of an element. */
export type CompileClauses = (filter: unknown, shape: Shape | undefined, depth: number) => Filter;

/** Where a condition stands. */
export interface Place {
  /** The field that it is about. */
  readonly field: FieldShape;
  /** Its path, for messages. */
  readonly path: string;
  /** What the filter may still cost. */
  readonly budget: Budget;
  /** How deep it is nested. */
  readonly depth: number;
  /** Compiles the paths and clauses inside it. */
  readonly clauses: CompileClauses;
}

/** Checks that a value is a list within the cap. */
export function checkList(value: unknown, operator: string, { limits }: Budget): unknown[] {
  if (!Array.isArray(value)) throw badFormat(`Operator "${operator}" takes a list`, { operator });
  if (value.length > limits.maxList) {
    throw badFormat(`Operator "${operator}" takes at most ${limits.maxList} values`, { operator });
  }
  return value;
}

/** Counts one more condition. */
export function countClause(budget: Budget): void {
  if (++budget.clauses > budget.limits.maxClauses) {
    throw badFormat(`A filter has at most ${budget.limits.maxClauses} conditions`);
  }
}

/** Checks the depth of what is about to be compiled. */
export function checkDepth({ limits }: Budget, depth: number): void {
  if (depth > limits.maxDepth) {
    throw badFormat(`A filter is nested at most ${limits.maxDepth} deep`);
  }
}

/** Refuses the operand of an operator. */
export function wrong({ path }: Place, operator: string, expected: string): never {
  throw badFormat(`Operator "${operator}" at "${path}" takes ${expected}`, {
    operator,
    field: path,
  });
}
