import { describeModel } from "../../declare/model/describe_model.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import type { RestRecord } from "../../declare/model/records.ts";
import type { Method } from "../../declare/operations/methods.ts";
import {
  isHookName,
  isOperationWord,
  isReadOption,
  OPERATIONS,
} from "../../declare/operations/operation.ts";
import type { OperationName } from "../../declare/operations/operation.ts";
import type { Level } from "../../pipeline/request/route.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import type { PartDescription } from "../../schema/describe_parts.ts";
import { unknownOption } from "../check_options.ts";
import { wordProblem } from "./_check_words.ts";

/** The error of a declaration that no route can be made of. */
export function cannotMount({ name }: ModelClass, problem: string): TypeError {
  return new TypeError(`Cannot mount "${name}": ${problem}`);
}

/** The names of all options of `@rest`: a misspelled `scope` would limit nothing. */
const OPTIONS: Readonly<Record<keyof RestRecord, true>> = {
  ...{ route: true, methods: true, schemaOptions: true, getConnection: true },
  ...{ scope: true, concurrency: true },
};

/** Checks the `@rest` of a class; gives its path, without a slash at its end. */
export function checkRest(target: ModelClass, rest: RestRecord): string {
  const { route } = rest;
  if (typeof route !== "string" || !route.startsWith("/")) {
    throw cannotMount(target, `route "${route}" does not start with "/"`);
  }
  const taken = /:(id|subId\d*)\b/.exec(route)?.[1];
  if (taken !== undefined) {
    throw cannotMount(
      target,
      `route "${route}" uses the parameter "${taken}", which names an entity`,
    );
  }
  checkMethods(target, { methods: rest.methods, place: "" });
  checkOptions(target, { rest, place: "" });
  return route.replace(/\/+$/, "");
}

function checkOptions(target: ModelClass, { rest, place }: { rest: RestRecord; place: string }) {
  const unknown = unknownOption(rest, OPTIONS);
  if (unknown !== undefined) throw cannotMount(target, `@rest${place} has no option ${unknown}`);
  for (const name of ["getConnection", "scope"] as const) {
    if (rest[name] !== undefined && typeof rest[name] !== "function") {
      throw cannotMount(target, `"${name}"${place} is not a function`);
    }
  }
}

/** Checks the `@rest` of a property, as {@linkcode checkRest}: one object is no list, and an element needs a name. */
export function checkPartRest({ link, target, rest }: PartDescription): string {
  const { owner, property, array, embedded } = link;
  const { methods, route = `/${property}` } = rest;
  if (rest.getConnection ?? rest.schemaOptions) {
    throw cannotMount(owner, `the @rest of property "${property}" has options of a class`);
  }
  if (describeModel(owner).fields.get(property)?.options.hidden === true) {
    throw cannotMount(owner, `property "${property}" has @rest and is hidden`);
  }
  const place = ` of property "${property}"`;
  checkMethods(owner, { methods, place });
  checkOptions(owner, { rest, place });
  const identified = buildSchema(target).schema.path("_id") !== undefined;
  for (const { operation } of methods) {
    const impossible = !array && OPERATIONS[operation].many
      ? "holds one entity"
      : array && embedded && !identified && operation !== "all"
      ? "holds entities without _id"
      : undefined;
    if (impossible !== undefined) {
      throw cannotMount(
        owner,
        `property "${property}" ${impossible} and cannot have ${operation}()`,
      );
    }
  }
  if (typeof route !== "string" || !/^\/[^:*{]+$/.test(route)) {
    throw cannotMount(
      owner,
      `route "${route}" of property "${property}" is not a path without parameters that starts with "/"`,
    );
  }
  return route.replace(/\/+$/, "");
}

interface GivenMethods {
  readonly methods: readonly (Method | undefined)[];
  /** What names the property in messages; empty for a class. */
  readonly place: string;
}

function checkMethods(target: ModelClass, { methods, place }: GivenMethods): void {
  if (!Array.isArray(methods) || methods.length === 0) {
    throw cannotMount(target, `"methods"${place} is empty`);
  }
  for (const method of methods as GivenMethods["methods"]) {
    if (method === undefined || !Object.hasOwn(OPERATIONS, method.operation)) {
      throw cannotMount(target, `"methods"${place} contains something that is not an operation`);
    }
    const { lean, parameters, ...others } = method.hooks;
    checkParameters(target, { parameters, method: `${method.operation}()${place}` });
    if (lean === true && OPERATIONS[method.operation].verb !== "get") {
      throw cannotMount(target, `${method.operation}() writes documents and cannot be lean`);
    }
    const problem = wordProblem(others);
    if (problem !== undefined) {
      throw cannotMount(target, `${method.operation}()${place} has ${problem}`);
    }
    const hooks = Object.entries(others).filter(([name]) =>
      !isReadOption(name) && !isOperationWord(name)
    );
    checkHooks(target, { operation: method.operation, hooks, place });
  }
}

function checkParameters(
  target: ModelClass,
  { parameters, method }: { parameters: unknown; method: string },
): void {
  if (parameters === undefined) return;
  const isName = (name: unknown) => typeof name === "string" && name !== "" && name !== "q";
  if (Array.isArray(parameters) && parameters.every(isName)) return;
  throw cannotMount(target, `"parameters" of ${method} is not a list of names other than "q"`);
}

function checkHooks(
  target: ModelClass,
  { operation, hooks, place }: {
    operation: OperationName;
    hooks: readonly (readonly [string, unknown])[];
    place: string;
  },
): void {
  const method = `${operation}()${place}`;
  for (const [name, hook] of hooks) {
    if (!isHookName(name)) throw cannotMount(target, `${method} has no hook "${name}"`);
    if (hook === undefined) continue;
    if (typeof hook !== "function") {
      throw cannotMount(target, `hook "${name}" of ${method} is not a function`);
    }
    if (OPERATIONS[operation].hooks[name] !== true) {
      throw cannotMount(target, `${method} never runs its hook "${name}"`);
    }
  }
}

/**
 * Checks that clients can say which version they change, and that the framework can hold them to it.
 *
 * @throws {TypeError} If there are no versions, or hooks write.
 */
export function checkConcurrency(
  methods: RestRecord["methods"],
  { target, link, concurrency, versionKey }: Pick<
    Level,
    "target" | "link" | "concurrency" | "versionKey"
  >,
): void {
  if (concurrency === undefined) return;
  const name = `"concurrency"${link === undefined ? "" : ` of property "${link.property}"`}`;
  const fail = (problem: string) => cannotMount(link?.owner ?? target, `${name} ${problem}`);
  if (concurrency !== "required") throw fail(`is not "required"`);
  if (versionKey === undefined) throw fail(`needs versions, and "versionKey" is off`);
  const own = methods.find(({ operation, hooks }) =>
    (operation === "update" || operation === "remove") && hooks.persist !== undefined
  );
  if (own !== undefined) throw fail(`cannot bind the "persist" of ${own.operation}()`);
}
