import type { ClassProblem, DefineInput, DefineOptions } from "./define_input.ts";
import { checkCopy } from "./model/copies.ts";
import { isDescribed } from "./model/describe_model.ts";
import { FrameworkModel, type ModelClass } from "./model/framework_model.ts";
import { createRecords, isRegistryClosed, ownRecords, registerModel } from "./model/records.ts";
import type { RestRecord } from "./model/records.ts";

interface Declaration {
  readonly fields: Readonly<Record<string, Entry>>;
  readonly rest?: RestRecord | readonly RestRecord[];
}

interface Entry extends Readonly<Record<string, unknown>> {
  readonly rest?: RestRecord | readonly RestRecord[];
}

/**
 * Declares a model without decorators, which Node, Vite 8, vitest 4 and plain JavaScript do not have.
 *
 * The options are as in {@linkcode prop}, {@linkcode arrayProp} and {@linkcode rest}. The base class may have
 * decorators instead, or vice versa. Call it directly after the class, because it throws once the class is in use.
 *
 * @throws {TypeError} If the class is declared or used already or does not extend `FrameworkModel`, or if the
 * declaration does not fit it.
 *
 * @example Declare a model with a route
 * ```ts
 * import { all, create, define, FrameworkModel, one } from "@mongrove/mongrove";
 *
 * class Movie extends FrameworkModel {
 *   name!: string;
 *   year?: number;
 *   tags!: string[];
 * }
 * define(Movie, {
 *   fields: {
 *     name: { required: true },
 *     year: { type: Number, min: 1888 },
 *     tags: { items: String },
 *   },
 *   rest: { route: "/movies", methods: [all(), one(), create()] },
 * });
 * ```
 */
export function define<M, const I extends DefineInput<M, I> = never>(
  target: (abstract new () => M) & ClassProblem<M>,
  options: [I] extends [never] ? DefineOptions<M> : I,
): void {
  writeRecords(target, options);
}

function writeRecords(target: unknown, options: unknown): void {
  checkClass(target);
  const problem = declarationProblem(target, options);
  if (problem !== undefined) throw new TypeError(`Cannot define "${target.name}": ${problem}`);
  const { fields, rest } = options as Declaration;
  const records = createRecords(target);
  for (const [name, { rest, ...options }] of Object.entries(fields)) {
    records.fields.set(name, { name, array: "items" in options, options });
    if (rest !== undefined) records.parts.set(name, restsOf(rest));
  }
  if (rest === undefined) return;
  records.rests.push(...restsOf(rest));
  registerModel(target);
}

function checkClass(target: unknown): asserts target is ModelClass {
  if (typeof target !== "function" || !(target.prototype instanceof FrameworkModel)) {
    const name = typeof target === "function" ? `"${target.name}"` : `${target}`;
    if (typeof target === "function") checkCopy(target, name);
    const cause = target === undefined
      ? ": modules that import each other load classes late, so call define() in the module of the class"
      : "";
    throw new TypeError(`Cannot define ${name}: it does not extend FrameworkModel${cause}`);
  }
  if (target.name === "") {
    throw new TypeError(
      "Cannot define a class without a name: the collection is named after the class",
    );
  }
}

function declarationProblem(target: ModelClass, options: unknown): string | undefined {
  if (ownRecords(target) !== undefined) {
    return "it is declared already, by decorators or by another define()";
  }
  if (isDescribed(target)) {
    return "it is in use already, by a router, by getModel() or by another model: " +
      "call define() directly after the class";
  }
  if (!isObject(options)) return "its options are no object";
  const other = Object.keys(options).find((name) => !["extends", "fields", "rest"].includes(name));
  if (other !== undefined) return `define() has no option "${other}"`;
  const { fields, rest } = options;
  if (!isObject(fields)) return `"fields" is no object`;
  if (rest !== undefined && isRegistryClosed()) {
    return "Framework.initialize() has mounted the models already: import the model before";
  }
  return restProblem(rest) ?? baseProblem(target, options) ?? fieldsProblem(target, fields);
}

function fieldsProblem(target: ModelClass, fields: object): string | undefined {
  for (const [name, entry] of Object.entries(fields)) {
    const problem = entryProblem(target, [name, entry]);
    if (problem !== undefined) return `property "${name}" ${problem}`;
  }
  return undefined;
}

/**
 * The option `extends` must name the direct base class, because TypeScript reads from it which properties are inherited
 * and need no entry.
 */
function baseProblem(target: ModelClass, options: object): string | undefined {
  const parent = Object.getPrototypeOf(target) as ModelClass;
  if (!("extends" in options)) {
    const isDeclared = ancestorsOf(target).some((each) => ownRecords(each) !== undefined);
    return isDeclared ? `it extends "${parent.name}": add extends: ${parent.name}` : undefined;
  }
  const { extends: base } = options;
  if (base !== parent) {
    const given = typeof base === "function" ? `"${(base as ModelClass).name}"` : `${base}`;
    return `"extends" is ${given}, and the class extends "${parent.name}"`;
  }
  const isDeclared = parent === FrameworkModel || ownRecords(parent) !== undefined;
  if (isDeclared) return undefined;
  return `its base "${parent.name}" is not declared: call define(${parent.name}, …) before`;
}

function ancestorsOf(target: ModelClass): ModelClass[] {
  const parent = Object.getPrototypeOf(target) as ModelClass;
  return parent === FrameworkModel ? [] : [parent, ...ancestorsOf(parent)];
}

function entryProblem(
  target: ModelClass,
  [name, entry]: [string, unknown],
): string | undefined {
  if (!isObject(entry)) return "has an entry that is no object: write {} for a string";
  const { get, set, value } = memberOf(target.prototype, name) ?? {};
  if (typeof value === "function") return "is a method, and methods are not stored: leave it out";
  if (set !== undefined) {
    return "is an accessor with a setter, and accessors are not stored: replace the setter by a method";
  }
  if (get !== undefined) return "is a getter, and getters are not stored: leave it out";
  return restProblem(entry.rest);
}

function memberOf(prototype: object, name: string): PropertyDescriptor | undefined {
  if (prototype === FrameworkModel.prototype) return undefined;
  return Object.getOwnPropertyDescriptor(prototype, name) ??
    memberOf(Object.getPrototypeOf(prototype), name);
}

function restProblem(rest: unknown): string | undefined {
  if (rest === undefined) return undefined;
  const list = Array.isArray(rest) ? rest : [rest];
  if (list.length === 0) return `has an empty "rest": leave it out, or list a route`;
  return list.every(isObject) ? undefined : `has a "rest" that is no object`;
}

function restsOf(rest: RestRecord | readonly RestRecord[]): RestRecord[] {
  return [rest].flat().map((each) => ({ ...each }));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
