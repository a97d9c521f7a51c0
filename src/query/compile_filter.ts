import { badFormat } from "../errors/refusals.ts";
import type { Shape } from "../shape/shape.ts";
import { compileCondition } from "./compile_condition.ts";
import { isJsonObject } from "./json.ts";
import type { QueryLimits } from "./limits.ts";
import { resolvePath } from "./resolve_path.ts";

/** A filter for the database. */
export type Filter = Record<string, unknown>;

/** What one compilation may still cost, and where its top-level paths are looked up. */
export interface Budget {
  /** The caps. */
  readonly limits: Required<QueryLimits>;
  /** The conditions so far. */
  clauses: number;
}

const CLAUSES = new Set(["$and", "$or", "$nor"]);

/**
 * Rebuilds a client's filter from what is allowed: declared paths that are no secrets, operators that run no code,
 * values that fit the declared types.
 *
 * @throws {RestError} 400 that names the operator or the path.
 */
export function compileFilter(
  filter: unknown,
  shape: Shape,
  limits: Required<QueryLimits>,
): Filter {
  return compileClauses(filter, shape, { limits, clauses: 0 }, 1);
}

/** Compiles one object of paths and clauses, at a depth. */
export function compileClauses(
  filter: unknown,
  shape: Shape | undefined,
  budget: Budget,
  depth: number,
): Filter {
  if (!isJsonObject(filter)) throw badFormat("A filter is a JSON object");
  checkDepth(budget, depth);
  const result: Filter = {};
  for (const [key, value] of Object.entries(filter)) {
    countClause(budget);
    if (CLAUSES.has(key)) {
      const list = compileList(value, key, budget);
      result[key] = list.map((inner) => compileClauses(inner, shape, budget, depth + 1));
    } else if (key.startsWith("$")) {
      throw badFormat(`Operator "${key}" is not allowed`, { operator: key });
    } else {
      result[key] = compileCondition(value, resolvePath(key, shape), key, budget, depth);
    }
  }
  return result;
}

function compileList(value: unknown, operator: string, budget: Budget): unknown[] {
  const list = checkList(value, operator, budget);
  if (list.length === 0) {
    throw badFormat(`Operator "${operator}" takes a list that is not empty`, { operator });
  }
  return list;
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
