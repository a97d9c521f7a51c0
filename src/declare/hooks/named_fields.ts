import type { Document } from "mongoose";
import type { FrameworkRequest } from "./framework_request.ts";
import type { EntityHook, MaybePromise } from "./hooks.ts";
import type { IsRestricted } from "../model/field_names.ts";
import { andThen } from "./run_hook.ts";

/**
 * @internal The type `T` with read-only properties at all depths, for the fields that `onlyIf()` and `leaveOut()` pass
 * to their test function. Dates, bytes and values of the driver stay unchanged, because the function gets copies of
 * them.
 */
export type DeepReadonly<T> = T extends
  | ((...args: never[]) => unknown)
  | Date
  | Uint8Array
  | { readonly _bsontype: string } ? T
  : T extends ReadonlyMap<infer K, infer V> ? ReadonlyMap<K, DeepReadonly<V>>
  : T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
  : T;

/**
 * @internal The fields of the entity `E` that a hook such as `onlyIf()` can list. Methods and `_id` cannot be listed.
 */
export type ListedFields<E> = {
  [
    K in keyof E as K extends "_id" | Exclude<keyof Document, "__v"> ? never
      : NonNullable<E[K]> extends (...args: never[]) => unknown ? never
      : K & string
  ]: E[K];
};

/**
 * @internal The names of the fields of the entity `E` that a hook such as `onlyIf()` can list. Signatures have
 * `keyof ListedFields<E>` instead of this type, so that errors of the compiler print the names.
 */
export type NamedField<E> = keyof ListedFields<E> & string;

/**
 * @internal The names of the fields of the entity `E` that `leaveOut()` can remove from answers. Such a field is
 * optional in the class, so that clients know that answers may lack it.
 */
export type OptionalField<E> =
  & {
    [K in NamedField<E>]: undefined extends E[K & keyof E] ? K
      : IsRestricted<NonNullable<E[K & keyof E]>> extends true ? K
      : never;
  }[NamedField<E>]
  & string;

/**
 * @internal A text for a compile error if the list `L` of `leaveOut()` has a field that is not optional. If the test
 * function of the hook has a type annotation `F`, the entity is not known yet, and the list is checked at start-up.
 */
export type Omittable<E, F, L extends string> = unknown extends F
  ? [Exclude<L, OptionalField<E>>] extends [never] ? unknown
  : `leaveOut takes optional fields, ${Exclude<L, OptionalField<E>>} is required`
  : unknown;

/**
 * @internal The object that `onlyIf()` and `leaveOut()` pass to their test function. The object has the fields `K` of
 * the entity `E` that the hook names, and `_id`.
 */
export type NamedFields<E, K extends string> = DeepReadonly<Pick<E, (K | "_id") & keyof E>>;

/**
 * @internal The entity that a hook with a list of fields takes, such as `onlyIf(["owner"], test)`. If the parameter of
 * the function `test` has a type annotation `F`, the hook takes every entity with these fields. Otherwise the hook
 * takes the entity `E` of the operation.
 */
export type NamedEntity<E, F> = unknown extends F ? E : F;

/**
 * @internal A text for a compile error if the test function of a hook such as `onlyIf()` has an annotation `F` with a
 * field that the list `K` of the hook does not name. The function would find `undefined` in such a field.
 */
export type Covering<F, K extends string> = unknown extends F ? unknown
  : [Exclude<keyof F, K | "_id">] extends [never] ? unknown
  : `the test gets ${Exclude<keyof F, K | "_id"> & string}, which the list does not name`;

/**
 * @internal The test function of a hook such as `onlyIf()`. The function gets the fields `K` of the entity `E` that the
 * hook names, or the fields of its annotation `F`.
 */
export type NamedTest<E, F, K extends string, R> = (
  req: R,
  fields: F & NamedFields<E, K>,
  previous?: F & NamedFields<E, K>,
) => MaybePromise<boolean>;

/**
 * The result of a hook that names its fields, such as `onlyIf(["owner"], test)`, for an entity that the hook accepts.
 * `leftOut` has the fields that `leaveOut()` removes from the answer, and is empty for any other hook.
 */
export interface Effect {
  readonly leftOut: readonly string[];
}

/** The result of a hook that accepts an entity and removes no field from the answer, such as a hook of `onlyIf()`. */
export const UNCHANGED: Effect = { leftOut: [] };

/**
 * A function that returns the named fields of one entity. The object is frozen, because the application gets it in the
 * test function of a hook such as `onlyIf()`.
 */
export type ReadFields = (names: readonly string[]) => object;

/**
 * The arguments for one entity to a hook that names its fields, such as `onlyIf(["owner"], test)`. The hook reads the
 * named fields by `read`, so that no document has to be made for the hook.
 */
export interface NamedArguments {
  readonly req: unknown;
  readonly read: ReadFields;
  /** Reads fields of the entity before the change. Missing in hooks of a read. */
  readonly readPrevious?: ReadFields | undefined;
}

/**
 * A hook such as `onlyIf(["owner"], test)` in a form that needs only the fields which the hook names (rule). A read
 * whose hooks all have this form makes no documents. `judge` returns `undefined` if the hook rejects the entity.
 */
export interface NamedRule {
  readonly reads: readonly string[];
  /**
   * The fields that the hook removes from some answers, as the first list of `leaveOut()` names them. Empty for any
   * other hook.
   */
  readonly leavesOut: readonly string[];
  judge(args: NamedArguments): MaybePromise<Effect | undefined>;
}

/**
 * The fields that a hook such as `onlyIf()` or `leaveOut()` names. `rule` runs the hook on these fields alone. `rule`
 * is missing if `and()` or `or()` has combined the hook with a hook that needs whole entities.
 */
interface HookFields {
  readonly rule?: NamedRule;
  readonly reads: readonly string[];
  readonly leavesOut: readonly string[];
}

const known = new WeakMap<object, HookFields>();

/**
 * Returns the form of a hook that needs only the fields which the hook names, so that a read can run the hook without
 * documents. Returns `undefined` for a hook that needs whole entities.
 */
export function namedRule(hook: object | undefined): NamedRule | undefined {
  return hook && known.get(hook)?.rule;
}

/**
 * Returns the fields that a hook such as `onlyIf()` names for its test function, so that a read loads them for the
 * hook. The list is empty for any other hook.
 */
export function readBy(hook: object | undefined): readonly string[] {
  return hook && known.get(hook)?.reads || [];
}

/**
 * Returns the fields that a hook of `leaveOut()` removes from some answers. The OpenAPI document describes these fields
 * as optional, and cursors do not contain their values.
 */
export function leftOutBy(hook: object | undefined): readonly string[] {
  return hook && known.get(hook)?.leavesOut || [];
}

/**
 * Records the fields that a hook such as `onlyIf()` names, so that reads load these fields or run the hook without
 * documents.
 */
export function recordFields(hook: object, fields: HookFields): void {
  known.set(hook, fields);
}

/**
 * The functions by which hooks such as `onlyIf(["owner"], test)` use an entity that is a whole object, such as a
 * Mongoose document, and not stored bytes.
 */
export interface EntityFields {
  /**
   * Whether the fields that hooks name could be read. The fields are missing if the entity was removed during the
   * request or has left the scope, and the hooks reject such an entity.
   */
  isReadable(entity: object): boolean;
  /**
   * Returns the object that the test function of a hook gets, with the named fields of an entity and `_id`. The object
   * is frozen, so that the function cannot change the entity.
   */
  read(entity: object, names: readonly string[]): object;
  /** Returns a copy of an entity for the answer, whose JSON does not have the fields that `leaveOut()` names. */
  without(entity: object, names: readonly string[]): object;
}

/**
 * The functions that read fields of entities for hooks such as `onlyIf(["owner"], test)`. A module that imports
 * Mongoose replaces these functions when it is loaded, because the folder `declare/` does not import Mongoose. The
 * first functions serve plain objects, such as in a unit test that calls a hook.
 */
let entityFields: EntityFields = {
  isReadable: () => true,
  read: (entity, names) =>
    Object.freeze(
      Object.fromEntries(["_id", ...names].map((name) => [name, Reflect.get(entity, name)])),
    ),
  without: (entity, names) =>
    Object.fromEntries(Object.entries(entity).filter(([name]) => !names.includes(name))),
};

/**
 * Sets the functions that read fields of Mongoose documents for hooks such as `onlyIf()`. The module that knows
 * Mongoose calls this function when it is loaded.
 */
export function setEntityFields(reader: EntityFields): void {
  entityFields = reader;
}

/**
 * Returns the hook that runs a rule, which is the form of a hook such as `onlyIf(["owner"], test)`, on a whole entity.
 * The framework calls the hook if it has made a document of the entity, such as for another hook, and calls the rule
 * alone otherwise.
 */
export function hookOf(rule: NamedRule): EntityHook<object, unknown> {
  const hook: EntityHook<object, unknown> = (req, entity, previous) => {
    if (!entityFields.isReadable(entity)) return null;
    const effect = rule.judge({
      req,
      read: (names) => entityFields.read(entity, names),
      ...previous && {
        readPrevious: (names: readonly string[]) => entityFields.read(previous, names),
      },
    });
    return andThen(effect, (told) => {
      if (told === undefined) return null;
      return told.leftOut.length === 0 ? entity : entityFields.without(entity, told.leftOut);
    });
  };
  recordFields(hook, { rule, reads: rule.reads, leavesOut: rule.leavesOut });
  return hook;
}

/**
 * Throws a `TypeError` if `onlyIf()` or `leaveOut()` gets a list that is not a list of names, or a test that is not
 * a function. Programs in JavaScript have no compiler that refuses such arguments.
 */
function checkNamed(
  called: string,
  { lists, test }: { readonly lists: readonly unknown[]; readonly test: unknown },
): void {
  const isNames = (given: unknown) =>
    Array.isArray(given) && given.length > 0 &&
    given.every((name) => typeof name === "string" && name !== "");
  if (!lists.every(isNames)) {
    throw new TypeError(`Cannot make a hook of ${called}(): it needs a list of names of fields`);
  }
  if (typeof test !== "function") {
    throw new TypeError(`Cannot make a hook of ${called}(): the test is not a function`);
  }
}

type AnyTest = (req: unknown, fields: object, previous?: object) => MaybePromise<unknown>;

/**
 * Returns a function that passes the named fields of an entity to the test function of a hook. In hooks of a write, the
 * test function also gets these fields before the change.
 */
function asker(test: AnyTest, names: readonly string[]) {
  return ({ req, read, readPrevious }: NamedArguments) =>
    readPrevious === undefined
      ? test(req, read(names))
      : test(req, read(names), readPrevious(names));
}

/**
 * Returns a hook that accepts an entity if the test function returns `true` for the named fields of the entity, and
 * rejects the entity otherwise.
 */
export function onlyIfNamed(names: readonly string[], test: AnyTest): EntityHook<object, unknown> {
  checkNamed("onlyIf", { lists: [names], test });
  const reads = [...new Set(names)];
  const ask = asker(test, reads);
  return hookOf({
    reads,
    leavesOut: [],
    judge: (args) => andThen(ask(args), (passes) => passes === true ? UNCHANGED : undefined),
  });
}

/**
 * Returns a `preSend` hook that leaves the fields in the first list out of the answer, unless the test returns `false`.
 * The test gets a frozen object with the fields in the second list and `_id`. Clients could guess the values of the
 * fields by filters, so the operation needs the option `filter`, without these fields. Declare the fields as optional,
 * so that the types of the client have them as optional.
 *
 * @example Show an address to its owner only
 * ```ts
 * import { all, FrameworkModel, leaveOut, prop, rest } from "@mongrove/mongrove";
 *
 * @rest({
 *   route: "/users",
 *   methods: [
 *     all<User>({
 *       filter: ["owner"],
 *       preSend: leaveOut(["email"], ["owner"], (req, user) => user.owner !== req.headers["x-user"]),
 *     }),
 *   ],
 * })
 * class User extends FrameworkModel {
 *   @prop()
 *   owner?: string;
 *   @prop()
 *   email?: string;
 * }
 * ```
 *
 * @param fields The fields that the answer lacks.
 * @param names The fields that the test reads.
 * @param test Returns `false` for an entity whose fields the answer shows. Any other result leaves them out.
 * @returns The hook.
 * @throws {TypeError} If a list is not a list of names, or the test is not a function.
 */
// deno-lint-ignore mongrove/positional-arguments -- the public signature has the hidden fields, the read fields and the test
export function leaveOut<
  E extends object,
  const L extends unknown extends F ? keyof ListedFields<E> & string : string,
  const K extends keyof ListedFields<NamedEntity<E, F>> & string,
  R = FrameworkRequest,
  F = unknown,
>(
  fields: readonly L[] & Omittable<NoInfer<E>, NoInfer<F>, NoInfer<L>>,
  names: readonly K[] & Covering<NoInfer<F>, NoInfer<K>>,
  test: NamedTest<E, F, K, R>,
): EntityHook<NamedEntity<E, NoInfer<F>>, R> {
  checkNamed("leaveOut", { lists: [fields, names], test });
  const reads: readonly string[] = [...new Set(names)];
  const leavesOut: readonly string[] = [...new Set(fields)];
  const ask = asker(test as AnyTest, reads);
  const hidden: Effect = { leftOut: leavesOut };
  const hook = hookOf({
    reads,
    leavesOut,
    judge: (args) => andThen(ask(args), (hides) => hides === false ? UNCHANGED : hidden),
  });
  return hook as EntityHook<NamedEntity<E, F>, R>;
}
