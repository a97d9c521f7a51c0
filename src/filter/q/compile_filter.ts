import { badFormat } from "../../errors/refusals.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import { checkDepth, checkList, countClause } from "./budget.ts";
import type { Budget, Filter } from "./budget.ts";
import { compileCondition } from "./compile_condition.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import type { QueryLimits } from "./limits.ts";
import { resolvePath } from "./resolve_path.ts";

export type { Filter } from "./budget.ts";

const CLAUSES = new Set(["$and", "$or", "$nor"]);

/**
 * Rebuilds a client's filter from what is allowed: declared paths that are no secrets, operators that run no code,
 * values that fit the declared types. Every condition of the result is in operators, which are marked as compiled.
 *
 * @throws {RestError} 400 that names the operator or the path.
 */
export function compileFilter(
  filter: unknown,
  shape: Shape,
  limits: Required<QueryLimits>,
): Filter {
  return compileClauses({ limits, clauses: 0 }, filter, shape, 1);
}

/** Compiles one object of paths and clauses, at a depth. */
function compileClauses(
  budget: Budget,
  filter: unknown,
  shape: Shape | undefined,
  depth: number,
): Filter {
  if (!isJsonObject(filter)) throw badFormat("A filter is a JSON object");
  checkDepth(budget, depth);
  const clauses = compileClauses.bind(undefined, budget);
  const result: Filter = {};
  for (const [key, value] of Object.entries(filter)) {
    countClause(budget);
    if (CLAUSES.has(key)) {
      const list = compileList(value, key, budget);
      result[key] = list.map((inner) => clauses(inner, shape, depth + 1));
    } else if (key.startsWith("$")) {
      throw badFormat(`Operator "${key}" is not allowed`, { operator: key });
    } else {
      const field = resolvePath(key, shape);
      result[key] = compileCondition(value, { field, path: key, budget, depth, clauses });
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
