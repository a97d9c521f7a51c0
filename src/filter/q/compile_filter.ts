import { badFormat } from "../../errors/refusals.ts";
import { type Filter, isClause, markCompiled } from "../filters.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import { isSecret } from "../../schema/fields/visibility.ts";
import { findRounded } from "../../schema/fields/json_numbers.ts";
import { loneSurrogateAt } from "../../schema/fields/texts.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import { queryOf } from "../query_string.ts";
import { checkDepth, checkList, deeper, refuse } from "./limits.ts";
import type { Context, FilterLimits } from "./limits.ts";
import type { ListedPaths } from "./listed_paths.ts";
import { isOnElement, isOperators, negatedOperators, OPERATORS } from "./operators.ts";
import { ReferenceCondition } from "./reference_condition.ts";
import { findReferred, type ReferredPath } from "./referred_path.ts";
import { resolvePath } from "./resolve_path.ts";
import { castValue } from "./cast_value.ts";

/** Express's parser may drop or split `q`, and `removeAll()` without its filter would remove every entity. */
export function parseQ(url: string, options: CompileFilterOptions): Filter {
  const text = readParameter(url);
  if (text === undefined) return {};
  if (options.paths?.names.length === 0) {
    throw badFormat(`Parameter "q" is not allowed`, { parameter: "q" });
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw badFormat(`Parameter "q" is not JSON`);
  }
  const field = loneSurrogateAt(parsed);
  if (field !== undefined) {
    throw badFormat(`Text in parameter "q" holds half of a surrogate pair`, { field });
  }
  const { lost, values } = findRounded(text);
  if (lost !== undefined) throw badFormat(lostNumber(lost));
  return compileFilter(parsed, { ...options, rounded: values });
}

function lostNumber(token: string): string {
  const digits = token.slice(0, 40);
  const form = /^-?\d{1,19}$/.test(token) ? "$numberLong" : "$numberDecimal";
  return `Parameter "q" has a number that JavaScript does not hold exactly: write ${digits} as ` +
    `text, in the form {"${form}":"${digits}"}`;
}

function readParameter(url: string): string | undefined {
  const query = queryOf(url);
  if (query === "") return undefined;
  const parameters = new URLSearchParams(query);
  for (const name of parameters.keys()) {
    if (name.startsWith("q[") || name.startsWith("[q]")) {
      throw badFormat(`Parameter "${name}" is not allowed: "q" is one JSON object`);
    }
  }
  const [first, ...others] = parameters.getAll("q");
  if (others.length > 0) throw badFormat(`Parameter "q" is given more than once`);
  try {
    // `URLSearchParams` replaces malformed bytes and would change the filter.
    if (first !== undefined) decodeURIComponent(query);
    return first;
  } catch {
    throw badFormat(`Parameter "q" is not percent-encoded UTF-8`);
  }
}

export interface CompileFilterOptions {
  readonly shape: Shape;
  readonly limits: FilterLimits;
  /** Without the option `filter`, a client may name every visible path. */
  readonly paths?: ListedPaths | undefined;
  readonly rounded?: ReadonlySet<number>;
}

/** The result has only declared, visible paths, operators that run no code, and cast values. */
export function compileFilter(
  filter: unknown,
  { shape, limits, paths, rounded }: CompileFilterOptions,
): Filter {
  return new FilterCompiler(limits, { listed: paths, rounded }).clauses(filter, {
    shape,
    depth: 1,
    prefix: "",
  });
}

interface ClausePlace {
  readonly shape: Shape | undefined;
  readonly depth: number;
  /** The path of the array around `$elemMatch`, because the option `filter` has full paths. */
  readonly prefix: string;
}

interface ReferringPlace {
  readonly context: Context;
  readonly referred: ReferredPath;
}

interface CompilerOptions {
  readonly listed: ListedPaths | undefined;
  readonly rounded: ReadonlySet<number> | undefined;
}

export class FilterCompiler {
  readonly #limits: FilterLimits;
  readonly #listed: ListedPaths | undefined;
  readonly #rounded: ReadonlySet<number> | undefined;
  #conditions = 0;

  constructor(limits: FilterLimits, { listed, rounded }: CompilerOptions) {
    this.#limits = limits;
    this.#listed = listed;
    this.#rounded = rounded;
  }

  isRounded(value: unknown): boolean {
    return typeof value === "number" && this.#rounded?.has(value) === true;
  }

  clauses(filter: unknown, { shape, depth, prefix }: ClausePlace): Filter {
    if (!isJsonObject(filter)) throw badFormat("A filter is a JSON object");
    const limits = this.#limits;
    checkDepth(depth, limits);
    const result: Filter = {};
    const referring: Filter[] = [];
    for (const [key, value] of Object.entries(filter)) {
      this.#count();
      if (isClause(key)) {
        const list = checkList(value, { operator: key, limits });
        if (list.length === 0) {
          throw badFormat(`Operator "${key}" takes a list that is not empty`, { operator: key });
        }
        result[key] = list.map((each) => this.clauses(each, { shape, depth: depth + 1, prefix }));
      } else if (key.startsWith("$")) {
        throw badFormat(`Operator "${key}" is not allowed`, { operator: key });
      } else {
        const whole = `${prefix}${key}`;
        this.#checkListed(whole, value);
        const referred = this.#listed?.isReferred(whole) ? findReferred(key, shape) : undefined;
        const field = referred?.field ?? resolvePath(key, shape);
        const context = { field, path: key, whole, operator: "", depth, limits, compiler: this };
        if (referred === undefined) result[key] = this.#condition(value, context);
        else referring.push(this.#referring(value, { context, referred }));
      }
    }
    // Several conditions through one reference would overwrite each other as keys of one object.
    if (referring.length > 0) result.$and = [...(result.$and as Filter[] ?? []), ...referring];
    return result;
  }

  operators(operators: Readonly<Filter>, context: Context): Filter {
    const inner = deeper(context);
    const result: Filter = {};
    for (const [name, operand] of Object.entries(operators)) {
      this.#count();
      const operator = OPERATORS.get(name);
      if (operator === undefined) {
        const message = `Operator "${name}" is not allowed at "${context.path}"`;
        throw badFormat(message, { operator: name, field: context.path });
      }
      const { reads } = operator;
      if (reads === "whole" || reads === "own" && isNested(context)) refuseSecretive(context);
      result[name] = operator.compile(operand, { ...inner, operator: name });
    }
    for (const name of Object.keys(result)) {
      const { beside } = OPERATORS.get(name) ?? {};
      if (beside === undefined || beside.some((each) => each in result)) continue;
      const names = beside.map((each) => `"${each}"`).join(" or ");
      refuse({ ...context, operator: name }, `${names} beside it`);
    }
    return markCompiled(result);
  }

  /**
   * A condition on an array that the option `filter` does not list may only name fields of the elements, which are
   * checked in turn.
   */
  #checkListed(path: string, condition: unknown): void {
    const listed = this.#listed;
    if (listed === undefined || listed.has(path)) return;
    if (!listed.isBelow(path) || !isOnFields(condition)) listed.refuse(path);
  }

  #condition(value: unknown, context: Context): Filter {
    if (isOperators(value)) return this.operators(value, context);
    refuseSecretive(context);
    return markCompiled({ $eq: castValue(value, context) });
  }

  /**
   * `$not` negates the whole condition, so it becomes `$nor` around the condition on the reference.
   */
  #referring(value: unknown, { context, referred }: ReferringPlace): Filter {
    const { path, reference, name } = referred;
    const refer = (condition: Filter): Filter => {
      const conditions = { [name]: condition };
      const $in = new ReferenceCondition({ path: context.path, reference, conditions });
      return { [path]: markCompiled({ $in }) };
    };
    if (!isOperators(value) || value.$not === undefined) {
      return refer(this.#condition(value, context));
    }
    this.#count();
    const { $not, ...others } = value;
    const inner = { ...deeper(context), operator: "$not" };
    const negated = this.#referring(negatedOperators($not, inner), { context: inner, referred });
    const without = { $nor: [negated] };
    if (Object.keys(others).length === 0) return without;
    return { $and: [refer(this.operators(others, context)), without] };
  }

  #count(): void {
    const { maxClauses } = this.#limits;
    if (++this.#conditions > maxClauses) {
      throw badFormat(`A filter has at most ${maxClauses} conditions`);
    }
  }
}

/** A comparison of a whole element could reveal fields that are not in the option `filter`. */
function isOnFields(condition: unknown): boolean {
  if (!isJsonObject(condition)) return false;
  const entries = Object.entries(condition);
  return entries.length > 0 && entries.every(([name, operand]) => {
    if (name === "$not") return isOnFields(operand);
    return name === "$elemMatch" && (!isOnElement(operand) || isOnFields(operand));
  });
}

/** Whether MongoDB stores a nested path may depend on a hidden field inside, which `$exists` would reveal. */
function isNested({ field }: Context): boolean {
  return field.kind === "object" && field.type === undefined;
}

/** By comparing the whole object, a client could guess a hidden field in it. */
function refuseSecretive({ field, path }: Context): void {
  if (isSecret(field)) {
    throw badFormat(`Field "${path}" can be filtered by its parts only`, { field: path });
  }
}
