import type { Document } from "mongoose";
import type { FrameworkRequest } from "./framework_request.ts";
import type { EntityHook, MaybePromise } from "./hooks.ts";
import type { IsRestricted } from "../model/field_names.ts";
import { andThen } from "./run_hook.ts";

/**
 * @internal The type `T` without properties that can be set. Dates, bytes and values of the driver stay unchanged,
 * because the test of a hook gets copies of them.
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
 * @internal The names of the fields of the entity `E` that a hook can list. Signatures say `keyof ListedFields<E>`, so
 * that errors of the compiler print the names in the place of this type.
 */
export type NamedField<E> = keyof ListedFields<E> & string;

/**
 * @internal The names of the fields of the entity `E` that a hook can leave out. Such a field is optional in the class,
 * so that clients know that answers may lack it.
 */
export type OptionalField<E> =
  & {
    [K in NamedField<E>]: undefined extends E[K & keyof E] ? K
      : IsRestricted<NonNullable<E[K & keyof E]>> extends true ? K
      : never;
  }[NamedField<E>]
  & string;

/**
 * @internal A text for a compile error if the list `L` of `leaveOut()` has a field that is not optional. If the test of
 * the hook has a type annotation `F`, the entity is not known yet, and the list is checked at start-up.
 */
export type Omittable<E, F, L extends string> = unknown extends F
  ? [Exclude<L, OptionalField<E>>] extends [never] ? unknown
  : `leaveOut takes optional fields, ${Exclude<L, OptionalField<E>>} is required`
  : unknown;

/**
 * @internal The object that the test of a hook such as `onlyIf()` gets. The object has the named fields `K` of the
 * entity `E`, and `_id`.
 */
export type NamedFields<E, K extends string> = DeepReadonly<Pick<E, (K | "_id") & keyof E>>;

/**
 * @internal The entity that a hook with a list of fields takes. If the parameter of its test has a type annotation `F`,
 * the hook takes every entity with these fields. Otherwise the hook takes the entity `E` of the operation.
 */
export type NamedEntity<E, F> = unknown extends F ? E : F;

/**
 * @internal A text for a compile error if the test of a hook has an annotation `F` with a field that the list `K` does
 * not name. The test would find `undefined` in such a field.
 */
export type Covering<F, K extends string> = unknown extends F ? unknown
  : [Exclude<keyof F, K | "_id">] extends [never] ? unknown
  : `the test gets ${Exclude<keyof F, K | "_id"> & string}, which the list does not name`;

/**
 * @internal The test of a hook such as `onlyIf()`. The test gets the fields `K` of the entity `E` that the hook names,
 * or the fields of its annotation `F`.
 */
export type NamedTest<E, F, K extends string, R> = (
  req: R,
  fields: F & NamedFields<E, K>,
  previous?: F & NamedFields<E, K>,
) => MaybePromise<boolean>;

/** The result of a hook that names the fields which it reads, for an entity that passes the hook. */
export interface Effect {
  /** The fields that the answer must not show of the entity. */
  readonly leftOut: readonly string[];
}

/** The result of a hook that names its fields, for an entity that passes with all its fields. */
export const UNCHANGED: Effect = { leftOut: [] };

/** A function that returns the frozen values of some fields of an entity. */
export type ReadFields = (names: readonly string[]) => object;

/** The arguments with which a hook that names its fields is called for one entity. */
export interface NamedArguments {
  readonly req: unknown;
  readonly read: ReadFields;
  /** Reads the entity before the change. Missing in hooks of a read. */
  readonly readPrevious?: ReadFields | undefined;
}

/**
 * A hook in a form that reads only the fields which the hook names (rule), so that no entity has to be made for the
 * hook. `judge` returns `undefined` if the hook rejects the entity.
 */
export interface NamedRule {
  /** The fields that the hook reads. */
  readonly reads: readonly string[];
  /** The fields that the hook may leave out. */
  readonly leavesOut: readonly string[];
  judge(args: NamedArguments): MaybePromise<Effect | undefined>;
}

/**
 * The fields that a hook reads and leaves out. `rule` is missing for a hook that is composed with a hook that needs
 * whole entities.
 */
interface HookFields {
  readonly rule?: NamedRule;
  readonly reads: readonly string[];
  readonly leavesOut: readonly string[];
}

const known = new WeakMap<object, HookFields>();

/**
 * Returns the rule by which a hook runs on the fields that it names, without a whole entity. Returns `undefined` for a
 * hook that needs whole entities.
 */
export function namedRule(hook: object | undefined): NamedRule | undefined {
  return hook && known.get(hook)?.rule;
}

/** Returns the fields that a hook names because it reads them. */
export function readBy(hook: object | undefined): readonly string[] {
  return hook && known.get(hook)?.reads || [];
}

/** Returns the fields that a hook may leave out of answers. */
export function leftOutBy(hook: object | undefined): readonly string[] {
  return hook && known.get(hook)?.leavesOut || [];
}

/**
 * Records the fields that a hook reads and leaves out. The rule of the hook is recorded too, by which the hook runs
 * without a whole entity.
 */
export function recordFields(hook: object, fields: HookFields): void {
  known.set(hook, fields);
}

/** Reads fields of entities, and copies entities without some fields, for hooks that get a whole entity. */
export interface EntityFields {
  /** Whether all fields of an entity could be read. A hook that names its fields rejects any other entity. */
  isReadable(entity: object): boolean;
  /** Returns the frozen values of some fields of an entity, and its `_id`. */
  read(entity: object, names: readonly string[]): object;
  /** Returns a copy of an entity whose JSON lacks some fields. */
  without(entity: object, names: readonly string[]): object;
}

/**
 * The functions that read fields of whole entities. The module that knows Mongoose sets them when it is loaded, because
 * this folder imports nothing of Mongoose. Hooks may be called without the pipeline, such as in a unit test of an
 * application, and get plain objects in this case.
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

/** Sets the functions that read fields of whole entities, for hooks that name their fields. */
export function setEntityFields(reader: EntityFields): void {
  entityFields = reader;
}

/**
 * Returns a hook for a whole entity that decides by a rule, which reads only named fields. The hook runs if the entity
 * is made anyway, such as for another hook.
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

/** Checks the lists of fields and the test of a hook such as `onlyIf()`, when the hook is declared. */
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

/** Returns a function that calls the test of a hook with the fields that the hook names. */
function asker(test: AnyTest, names: readonly string[]) {
  return ({ req, read, readPrevious }: NamedArguments) =>
    readPrevious === undefined
      ? test(req, read(names))
      : test(req, read(names), readPrevious(names));
}

/** Returns the hook that `onlyIf()` makes from a list of names of fields and a test. */
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
 * fields by filters, so the operation needs the option `filter`, in which none of these fields stands. The fields are
 * optional in the class, so that the types of the client tell that answers may lack them.
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
 * @param test Returns `false` for an entity of which the answer shows all fields. Any other result leaves the fields
 * out.
 * @returns The hook.
 * @throws {TypeError} If a list is no list of names, or the test is not a function.
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
