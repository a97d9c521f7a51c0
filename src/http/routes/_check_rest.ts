import { bindingRests, describeModel } from "../../declare/model/describe_model.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import type { RestRecord } from "../../declare/model/records.ts";
import { type ActionRecord, isAction, operationOf } from "../../declare/operations/action.ts";
import type { Method } from "../../declare/operations/methods.ts";
import {
  isHookName,
  isOperationName,
  isOperationWord,
  operationWords,
} from "../../declare/operations/operation.ts";
import type { OperationWords } from "../../declare/operations/operation.ts";
import { isWriteOption } from "../../declare/operations/write_options.ts";
import { topOf } from "../../filter/filters.ts";
import type { Level } from "../../pipeline/request/route.ts";
import { referredTarget, SAY_AT_FIELD } from "../../pipeline/references.ts";
import { isAsync, isModelClass } from "../../schema/build_field.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import type { PartDescription } from "../../schema/describe_parts.ts";
import { isJson, isJsonObject } from "../../schema/fields/json.ts";
import { type FieldShape, fieldsWithin, type Shape } from "../../schema/fields/shape.ts";
import { isRecursive, shapeWithin, whyUnseen } from "../../schema/fields/visibility.ts";
import { isSchema } from "../../schema/standard_schema.ts";
import { cannotMount, type Fail } from "../../pipeline/option_reader.ts";
import { type ClassFeatures, FIELD_OPTIONS } from "../../declare/options.ts";
import type { FeatureList } from "../../pipeline/feature_list.ts";
import { forAll } from "../../errors/for_all.ts";
import { isGroup } from "../../errors/option_kinds.ts";
import { unknownOption } from "../../errors/unknown_option.ts";

export const REST_OPTIONS: Readonly<Record<Exclude<keyof RestRecord, keyof ClassFeatures>, true>> =
  {
    route: true,
    methods: true,
    schemaOptions: true,
    getConnection: true,
    scope: true,
    ifMatch: true,
    main: true,
    open: true,
  };

const CLASS_OPTIONS = ["getConnection", "schemaOptions", "main"] as const;

export function checkRest(
  target: ModelClass,
  { rest, features }: { readonly rest: RestRecord; readonly features: FeatureList },
): string {
  const { route } = rest;
  const fail: Fail = (problem) => cannotMount(target, problem);
  checkNames(rest, { place: "", fail, known: { ...REST_OPTIONS, ...features.classOptions } });
  if (route === undefined) throw fail(`@rest of a class needs a route, such as "/movies"`);
  if (typeof route !== "string" || !route.startsWith("/")) {
    throw fail(`route "${route}" does not start with "/"`);
  }
  const taken = /:(id|subId\d*)\b/.exec(route)?.[1];
  if (taken !== undefined) {
    throw fail(`route "${route}" uses the parameter "${taken}", which names an entity`);
  }
  checkOptions(rest, { place: "", fail, features });
  if (![undefined, true, false].includes(rest.main)) {
    throw fail(`"main" is neither true nor false`);
  }
  if (rest.schemaOptions !== undefined && !isGroup(rest.schemaOptions)) {
    throw fail(`"schemaOptions" is not an object`);
  }
  if (rest.main && describeModel(target).rests.filter(({ main }) => main).length > 1) {
    throw fail(`two of its @rest are "main"`);
  }
  return route.replace(/\/+$/, "");
}

export function checkPartRest(part: PartDescription, features: FeatureList): string {
  const { link, target, rest } = part;
  const { owner, property } = link;
  const { methods, route = `/${property}` } = rest;
  const fail: Fail = (problem) => cannotMount(owner, problem);
  const ofClass = CLASS_OPTIONS.find((name) => rest[name] !== undefined);
  if (ofClass !== undefined) {
    const rule = "which only the @rest of a class can have";
    throw fail(`the @rest of property "${property}" has "${ofClass}", ${rule}`);
  }
  if (describeModel(owner).fields.get(property)?.options.hidden === true) {
    throw fail(`property "${property}" has @rest and is hidden`);
  }
  const place = ` of property "${property}"`;
  checkNames(rest, { place, fail, known: REST_OPTIONS });
  checkOptions(rest, { place, fail, features });
  const isOfOption = features.partMethodsOf(part) !== undefined;
  checkApart(link);
  const type = buildSchema(target).schema.path("_id")?.instance;
  forAll(isOfOption ? [] : methods, (method) => {
    const problem = partProblem(method, { ...link, type });
    if (problem !== undefined) throw fail(`property "${property}" ${problem}`);
  });
  if (typeof route !== "string" || !/^\/[^:*{]+$/.test(route)) {
    const rule = `is not a path without parameters that starts with "/"`;
    throw fail(`route "${route}"${place} ${rule}`);
  }
  return route.replace(/\/+$/, "");
}

function partProblem(
  method: Method,
  { array, embedded, type }: PartDescription["link"] & { readonly type: string | undefined },
): string | undefined {
  const { many, change } = operationOf(method);
  const replaces = change === "replace";
  const cannot = `cannot have ${method.operation}()`;
  if (!array && (many || replaces)) return `holds one entity and ${cannot}`;
  if (array && embedded && type !== "ObjectId" && method.operation !== "all") {
    const kind = type === undefined ? "without _id" : `whose _id is no ObjectId but ${type}`;
    return `holds entities ${kind} and ${cannot}`;
  }
  if (embedded && replaces) return `embeds what it holds and ${cannot}`;
  return isAction(method) && method.on === "all" && embedded
    ? `${cannot}: it holds entities without a collection of their own: declare the action on its parent`
    : undefined;
}

/**
 * The option `exists` applies the `scope` of the referenced class, so `bindingRests()` throws if several scopes could
 * be meant.
 */
export function checkReferences(shape: Shape, fail: Fail): void {
  for (const field of fieldsWithin(shape)) {
    const referred = referredTarget(field);
    if (referred === undefined) continue;
    if (field.exists) bindingRests(referred);
    const { instance = "" } = buildSchema(referred).schema.path("_id") ?? {};
    const { type } = field;
    if (type?.instance !== "ObjectId" || instance === "ObjectId") continue;
    throw fail(
      `reference "${type.path}" is an ObjectId, and the "_id" of "${referred.name}" is no ObjectId but ${instance}: ` +
        `say its "type", or declare "_id" by define() or @prop`,
    );
  }
}

/**
 * Mongoose ignores `select: false` in a class that embeds itself, and often in a discriminator. The start fails then,
 * because answers would show the field.
 */
export function checkUnselected(shape: Shape, fail: Fail): void {
  const objectsIn = (each: Shape) =>
    [...each.fields.values()].flatMap((field) => shapeWithin(field) ?? []);
  const embedded = fieldsWithin(shape).flatMap(({ shape }) => shape ?? []);
  for (const each of new Set([shape, ...embedded])) {
    for (const [kind, { allUnselected, schema }] of each.kinds) {
      // Mongoose applies `select: false` to the direct fields of a discriminator, but not inside its embedded objects.
      const name = allUnselected.find((path) =>
        !each.fields.has(topOf(path)) && (each !== shape || schema?.paths[path] === undefined)
      );
      if (name !== undefined) {
        throw fail(
          `field "${name}" of the kind "${kind}" has "select: false", which does not bind there: use "hidden"`,
        );
      }
    }
  }
  for (const each of new Set([shape, ...embedded])) {
    const [name] = [...each.fields].find(([, { selected, apart }]) => !selected && !apart) ?? [];
    if (name === undefined || !isRecursive(each, objectsIn)) continue;
    throw fail(`field "${name}" has "select: false" in a class that holds itself: use "hidden"`);
  }
}

/** Features read the options of declared fields only, so a rule of a kind would never apply. */
export function checkKindOptions(shape: Shape, fail: Fail): void {
  const embedded = fieldsWithin(shape).flatMap(({ shape }) => shape ?? []);
  for (const each of new Set([shape, ...embedded])) {
    for (const [kind, { fields }] of each.kinds) {
      for (const [name, { type, element }] of fields) {
        const options = { ...type?.options, ...element?.type?.options };
        const option = Object.keys(FIELD_OPTIONS).find((word) => options[word] !== undefined);
        if (option === undefined || each.fields.has(name)) continue;
        throw fail(
          `field "${name}" of the kind "${kind}" has "${option}": declare the field in the class`,
        );
      }
    }
  }
}

/** These hooks may hide entities or fields, but do not run for embedded entities in answers of the parent. */
const GUARDS = ["fetch", "postFetch", "preSend"] as const;

/** If every route of an embedded property may hide it, the parent's answer would reveal it, so `apart` is required. */
function checkApart({ owner, property, embedded }: PartDescription["link"]): void {
  const { parts, fields } = describeModel(owner);
  if (!embedded || fields.get(property)?.options.apart !== undefined) return;
  const reading = (parts.get(property) ?? []).flatMap(({ methods, scope }) =>
    methods.filter((method) => !isAction(method) && operationOf(method).verb === "get")
      .map(({ hooks }) => scope !== undefined || GUARDS.some((name) => hooks[name] !== undefined))
  );
  if (reading.length === 0 || !reading.every(Boolean)) return;
  throw cannotMount(
    owner,
    `the routes of property "${property}" have a scope or hooks that do not bind what its parent shows of it: ` +
      `set apart: true to leave it out of the parent, or apart: false to show all of it there`,
  );
}

interface CheckedOption {
  readonly place: string;
  readonly fail: Fail;
}

/** A misspelled `scope` would limit nothing. */
function checkNames(
  rest: RestRecord,
  { place, fail, known }: CheckedOption & { readonly known: object },
): void {
  const unknown = unknownOption(rest, known);
  if (unknown !== undefined) throw fail(`@rest${place} has no option ${unknown}`);
}

interface CheckedOperations extends CheckedOption {
  readonly features: FeatureList;
}

function checkOptions(rest: RestRecord, { place, fail, features }: CheckedOperations): void {
  const methods: unknown = rest.methods;
  if (!Array.isArray(methods) || methods.length === 0) throw fail(`"methods"${place} is empty`);
  forAll(methods, (method) => checkMethod(method, { place, fail, features }));
  if (![undefined, true, false].includes(rest.open)) throw fail(`"open"${place} is no boolean`);
  for (const name of ["getConnection", "scope"] as const) {
    if (rest[name] !== undefined && typeof rest[name] !== "function") {
      throw fail(`"${name}"${place} is not a function`);
    }
  }
}

function checkMethod(
  given: Method | undefined,
  { place, fail, features }: CheckedOperations,
): void {
  const isOperation = typeof given === "object" && given !== null &&
    (isAction(given) || isOperationName(given.operation));
  if (!isOperation) throw fail(`"methods"${place} contains something that is not an operation`);
  const method = `${given.operation}()${place}`;
  const wrong = isAction(given) ? actionProblem(given) : undefined;
  if (wrong !== undefined) throw fail(`the action ${method} ${wrong}`);
  const operation = operationOf(given);
  const { lean, open, parameters = [], filter: _filter, ...others } = given.hooks;
  const isName = (name: unknown) => typeof name === "string" && name !== "" && name !== "q";
  if (!Array.isArray(parameters) || !parameters.every(isName)) {
    throw fail(`"parameters" of ${method} is not a list of names other than "q"`);
  }
  for (const [name, value] of Object.entries({ lean, open })) {
    if (value === undefined || typeof value === "boolean") continue;
    throw fail(`"${name}" of ${method} is not a boolean`);
  }
  if (lean === true && operation.change !== undefined) {
    throw fail(`${given.operation}() writes documents and cannot be lean`);
  }
  for (const [name, value] of Object.entries(operationWords(others))) {
    const [rule, isValid] = WORDS[name as keyof OperationWords];
    if (!isValid(value)) throw fail(`${method} has "${name}", which is not ${rule}`);
  }
  for (const [name, hook] of Object.entries(others)) {
    if (features.hasOption(name) || isWriteOption(name) || isOperationWord(name)) continue;
    if (name === "unguarded") throw fail(`${method} has "unguarded", ${SAY_AT_FIELD}`);
    if (!isHookName(name)) throw fail(`${method} has no hook "${name}"`);
    if (hook === undefined) continue;
    if (typeof hook !== "function") throw fail(`hook "${name}" of ${method} is not a function`);
    if (operation.hooks[name] !== true) throw fail(`${method} never runs its hook "${name}"`);
  }
}

function actionProblem(action: Method & ActionRecord): string | undefined {
  const { operation: name, on, method, body, answer, saves = true, available, run } = action;
  // The name is a segment of the URL, where it must need no encoding.
  if (typeof name !== "string" || !/^[A-Za-z][\w-]*$/.test(name)) {
    const rule = "a name has letters, digits, - and _, and begins with a letter";
    return `is called ${JSON.stringify(name)}: ${rule}`;
  }
  if (isOperationName(name)) return `has the name of an operation`;
  if (on !== "one" && on !== "all") return `needs "one" or "all" as "on"`;
  if (method !== "POST" && method !== "GET") return `needs "POST" or "GET" as "method"`;
  if (typeof run !== "function") return `needs a function as "run"`;
  if (typeof saves !== "boolean") return `needs true or false as "saves"`;
  if (available !== undefined) {
    if (typeof available !== "function") return `needs a function as "available"`;
    if (isAsync(available)) return `has "available", which is asynchronous`;
    if (on === "all") return `is on all, and cannot have "available"`;
  }
  for (const [option, type] of Object.entries({ body, answer })) {
    if (type === undefined || isModelClass(type) || isSchema(type)) continue;
    return `needs a model class or a Standard Schema as "${option}"`;
  }
  return body !== undefined && method === "GET" ? `is a GET, and cannot have "body"` : undefined;
}

/** The framework cannot add a condition on the version to the write of a `persist` hook. */
export function checkIfMatch(
  methods: RestRecord["methods"],
  { target, link, ifMatch, versionKey }: Pick<
    Level,
    "target" | "link" | "ifMatch" | "versionKey"
  >,
): void {
  if (ifMatch === undefined || ifMatch === false) return;
  const own = methods.find(({ operation, hooks }) =>
    ["update", "replace", "remove"].includes(operation) && hooks.persist !== undefined
  );
  const problem = typeof ifMatch !== "boolean"
    ? "is not a boolean"
    : versionKey === undefined
    ? `needs versions, and "versionKey" is off`
    : own && `cannot bind the "persist" of ${own.operation}()`;
  if (problem === undefined) return;
  const place = link === undefined ? "" : ` of property "${link.property}"`;
  throw cannotMount(link?.owner ?? target, `"ifMatch"${place} ${problem}`);
}

const isString = (value: unknown) => typeof value === "string";

const WORDS: Readonly<
  Record<keyof OperationWords, readonly [rule: string, isValid: (value: unknown) => boolean]>
> = {
  summary: ["a text", isString],
  description: ["a text", isString],
  tags: ["a list of texts", (value) => Array.isArray(value) && value.every(isString)],
  deprecated: ["true or false", (value) => typeof value === "boolean"],
  example: ["an object of JSON", (value) => isJsonObject(value) && isJson(value)],
  operationId: [
    "a name of letters, digits and _",
    (value) => isString(value) && /^[A-Za-z_][\w.-]*$/.test(String(value)),
  ],
};

/** The OpenAPI document shows the example, which must not reveal a hidden field. */
export function checkExample(
  method: Method,
  { shape, fail }: { readonly shape: Shape; readonly fail: Fail },
): void {
  if (operationOf(method).change !== undefined) return;
  const path = secretIn(method.hooks.example, { shape });
  if (path !== undefined) throw fail(`has "example" with "${path}", which no answer shows`);
}

function secretIn(
  value: unknown,
  { element, shape, populated = shape }: Pick<FieldShape, "element" | "shape" | "populated">,
): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const field = populated?.fields.get(key);
    if (field !== undefined && whyUnseen(field) !== undefined) return key;
    const referred = populated?.virtualShapes.get(key);
    const below = secretIn(inner, element ?? field ?? { ...referred && { shape: referred } });
    if (below !== undefined) return `${key}.${below}`;
  }
  return undefined;
}
