import type { Document } from "mongoose";
import type { FrameworkRequest } from "./framework_request.ts";
import type { EntityHook, MaybePromise } from "./hooks.ts";
import type { IsRestricted } from "../model/field_names.ts";
import { andThen } from "./run_hook.ts";

/**
 * @internal The type `T` with read-only properties at all depths. Dates, bytes and values of the driver keep their
 * types, because a test function gets copies of them, which it may change.
 */
export type DeepReadonly<T> = T extends
  | ((...args: never[]) => unknown)
  | Date
  | Uint8Array
  | { readonly _bsontype: string } ? T
  : T extends ReadonlyMap<infer K, infer V> ? ReadonlyMap<K, DeepReadonly<V>>
  : T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
  : T;

/** @internal */
export type ListedFields<E> = {
  [
    K in keyof E as K extends "_id" | Exclude<keyof Document, "__v"> ? never
      : NonNullable<E[K]> extends (...args: never[]) => unknown ? never
      : K & string
  ]: E[K];
};

/**
 * @internal The names of the fields that a hook can list. Signatures repeat this definition, because with its name
 * alone, errors of the compiler would not print the fields.
 */
export type NamedField<E> = keyof ListedFields<E> & string;

/** @internal The fields that `leaveOut()` can remove. They must be optional, because answers may lack them. */
export type OptionalField<E> =
  & {
    [K in NamedField<E>]: undefined extends E[K & keyof E] ? K
      : IsRestricted<NonNullable<E[K & keyof E]>> extends true ? K
      : never;
  }[NamedField<E>]
  & string;

/**
 * @internal An error text if the list `L` of `leaveOut()` has a field that is not optional. If the test has a type
 * annotation `F`, TypeScript does not know the entity yet, so only the start checks the list.
 */
export type Omittable<E, F, L extends string> = unknown extends F
  ? [Exclude<L, OptionalField<E>>] extends [never] ? unknown
  : `leaveOut takes optional fields, ${Exclude<L, OptionalField<E>>} is required`
  : unknown;

/** @internal */
export type NamedFields<E, K extends string> = DeepReadonly<Pick<E, (K | "_id") & keyof E>>;

/** @internal The entity that a test takes: its annotation `F`, or else the entity `E` of the operation. */
export type NamedEntity<E, F> = unknown extends F ? E : F;

/**
 * @internal An error text if the annotation `F` of a test function has a field that is not in the list `K`, because it
 * would be `undefined` in the test.
 */
export type Covering<F, K extends string> = unknown extends F ? unknown
  : [Exclude<keyof F, K | "_id">] extends [never] ? unknown
  : `the test gets ${Exclude<keyof F, K | "_id"> & string}, which the list does not name`;

/** @internal */
export type NamedTest<E, F, K extends string, R> = (
  req: R,
  fields: F & NamedFields<E, K>,
  previous?: F & NamedFields<E, K>,
) => MaybePromise<boolean>;

/**
 * The effect of a hook with a list of fields on an entity that it accepts. The answer lacks the fields in `leftOut`,
 * which only a hook of `leaveOut()` fills.
 */
export interface Effect {
  readonly leftOut: readonly string[];
}

export const UNCHANGED: Effect = { leftOut: [] };

export type ReadFields = (names: readonly string[]) => object;

/** The arguments of a hook with a list of fields. It reads them by `read`, without a document. */
export interface FieldHookArguments {
  readonly req: unknown;
  readonly read: ReadFields;
  /** Reads fields of the entity before the change. Missing in hooks of a read. */
  readonly readPrevious?: ReadFields | undefined;
}

/**
 * A hook with a list of fields, `reads`. A read whose hooks are all of this form makes no documents. `decide` returns
 * `undefined` to reject the entity.
 */
export interface FieldHook {
  readonly reads: readonly string[];
  readonly leavesOut: readonly string[];
  decide(args: FieldHookArguments): MaybePromise<Effect | undefined>;
}

/** `fieldHook` is missing if `and()` or `or()` has combined the hook with a hook that needs whole entities. */
interface HookFields {
  readonly fieldHook?: FieldHook;
  readonly reads: readonly string[];
  readonly leavesOut: readonly string[];
}

const hookFields = new WeakMap<object, HookFields>();

export function fieldHookOf(hook: object | undefined): FieldHook | undefined {
  return hook && hookFields.get(hook)?.fieldHook;
}

export function readBy(hook: object | undefined): readonly string[] {
  return hook && hookFields.get(hook)?.reads || [];
}

/**
 * The fields that a hook may leave out of answers. OpenAPI describes them as optional, and cursors must not reveal
 * their values.
 */
export function leftOutBy(hook: object | undefined): readonly string[] {
  return hook && hookFields.get(hook)?.leavesOut || [];
}

export function recordFields(hook: object, fields: HookFields): void {
  hookFields.set(hook, fields);
}

/** How a hook with a list of fields reads a whole entity instead of stored bytes. */
export interface EntityFields {
  /**
   * Whether the entity was still in its scope when the framework read more fields of it for the hook. If not, the hook
   * rejects the entity.
   */
  isReadable(entity: object): boolean;
  /** Returns a frozen object with the named fields and `_id`. */
  read(entity: object, names: readonly string[]): object;
  /** Returns a copy whose JSON lacks the named fields. */
  without(entity: object, names: readonly string[]): object;
}

/**
 * The functions for plain objects, as in a unit test that calls a hook. `sources/` replaces them by functions for
 * documents, because `declare/` does not import Mongoose.
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

export function setEntityFields(reader: EntityFields): void {
  entityFields = reader;
}

/**
 * Makes a hook on fields usable with a whole entity, for requests in which the framework has made a document anyway.
 */
export function hookOf(fieldHook: FieldHook): EntityHook<object, unknown> {
  const hook: EntityHook<object, unknown> = (req, entity, previous) => {
    if (!entityFields.isReadable(entity)) return null;
    const effect = fieldHook.decide({
      req,
      read: (names) => entityFields.read(entity, names),
      ...previous && {
        readPrevious: (names: readonly string[]) => entityFields.read(previous, names),
      },
    });
    return andThen(effect, (passed) => {
      if (passed === undefined) return null;
      return passed.leftOut.length === 0 ? entity : entityFields.without(entity, passed.leftOut);
    });
  };
  recordFields(hook, { fieldHook, reads: fieldHook.reads, leavesOut: fieldHook.leavesOut });
  return hook;
}

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

function asker(test: AnyTest, names: readonly string[]) {
  return ({ req, read, readPrevious }: FieldHookArguments) =>
    readPrevious === undefined
      ? test(req, read(names))
      : test(req, read(names), readPrevious(names));
}

export function onlyIfNamed(names: readonly string[], test: AnyTest): EntityHook<object, unknown> {
  checkNamed("onlyIf", { lists: [names], test });
  const reads = [...new Set(names)];
  const ask = asker(test, reads);
  return hookOf({
    reads,
    leavesOut: [],
    decide: (args) => andThen(ask(args), (passes) => passes === true ? UNCHANGED : undefined),
  });
}

/**
 * Returns a `preSend` hook that leaves `fields` out of the answer, unless `test` returns `false`. The test gets a
 * frozen object with the fields in `names` and `_id`. Clients could guess the values by filters, so the operation needs
 * the option `filter`, without these fields. Declare them as optional, because typed clients may not get them.
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
    decide: (args) => andThen(ask(args), (hides) => hides === false ? UNCHANGED : hidden),
  });
  return hook as EntityHook<NamedEntity<E, F>, R>;
}
