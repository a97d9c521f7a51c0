import type { FrameworkRequest } from "./framework_request.ts";
import type { EntityHook, EntityOf, MaybePromise, PreFetch, RequestOf } from "./hooks.ts";
import {
  type Covering,
  type Effect,
  type FieldHook,
  type FieldHookArguments,
  fieldHookOf,
  leftOutBy,
  type ListedFields,
  type NamedEntity,
  type NamedTest,
  onlyIfNamed,
  readBy,
  recordFields,
  UNCHANGED,
} from "./named_fields.ts";
import { andThen, isPromise } from "./run_hook.ts";

/**
 * Combines hooks into one hook that passes if all pass.
 *
 * The hooks run in order until a hook rejects. Each entity hook gets the result of the hook before it. An entity hook
 * rejects if it throws or returns `null`, `undefined` or `false`, and a `preFetch` hook unless it returns `true`.
 * Outside of a combination, `undefined` is no rejection but an error of the hook.
 */
export function and<E, R = FrameworkRequest>(...hooks: EntityHook<E, R>[]): EntityHook<E, R>;
/** Combines `preFetch` hooks into one hook that passes if all pass. */
export function and<R = FrameworkRequest>(...hooks: PreFetch<R>[]): PreFetch<R>;
/**
 * Combines hooks with different parameter types. The new hook takes an entity and a request that every hook accepts.
 */
export function and<F extends readonly CallableFunction[]>(
  ...hooks: F
): EntityHook<EntityOf<F[number]>, RequestOf<F[number]>>;
export function and(...hooks: CallableFunction[]): CallableFunction {
  const every = async (...args: [unknown, unknown?, unknown?]) => {
    let result: unknown = args.length === 1 ? true : args[1];
    for (const hook of hooks) {
      if (args.length > 1) args[1] = result;
      result = await hook(...args);
      if (isRejection(result, args)) return result ?? null;
    }
    return result;
  };
  return composed(every, { hooks, decide: decideByAll });
}

const decideByAll: CombinedDecision = (hooks, args) => decideFrom(0, { hooks, args, leftOut: [] });

function decideFrom(
  index: number,
  { hooks, args, leftOut }: {
    readonly hooks: readonly FieldHook[];
    readonly args: FieldHookArguments;
    readonly leftOut: readonly string[];
  },
): MaybePromise<Effect | undefined> {
  const hook = hooks[index];
  if (hook === undefined) return leftOut.length === 0 ? UNCHANGED : { leftOut };
  return andThen(hook.decide(args), (effect) => {
    if (effect === undefined) return undefined;
    return decideFrom(index + 1, { hooks, args, leftOut: [...leftOut, ...effect.leftOut] });
  });
}

/**
 * Combines hooks into one hook that passes if at least one passes.
 *
 * The hooks run in order until a hook passes, and each gets the original entity. The result is from the first hook that
 * passes, or else the rejection of the last. Hooks pass or reject by the rules of {@linkcode and}.
 *
 * @example Require one of two conditions
 * ```ts
 * import { type FrameworkRequest, or } from "@mongrove/mongrove";
 *
 * const isAdmin = (req: FrameworkRequest) => req.headers["x-role"] === "admin";
 * const isLocal = (req: FrameworkRequest) => req.ip === "127.0.0.1";
 * const mayPass = or(isAdmin, isLocal);
 * ```
 */
export function or<E, R = FrameworkRequest>(...hooks: EntityHook<E, R>[]): EntityHook<E, R>;
/** Combines `preFetch` hooks into one hook that passes if at least one passes. */
export function or<R = FrameworkRequest>(...hooks: PreFetch<R>[]): PreFetch<R>;
/** Combines hooks with different parameter types, as {@linkcode and} does. */
export function or<F extends readonly CallableFunction[]>(
  ...hooks: F
): EntityHook<EntityOf<F[number]>, RequestOf<F[number]>>;
export function or(...hooks: CallableFunction[]): CallableFunction {
  const some = async (...args: [unknown, unknown?, unknown?]) => {
    let last: () => unknown = () => null;
    for (const hook of hooks) {
      try {
        const result: unknown = await hook(...args);
        if (!isRejection(result, args)) return result;
        last = () => result ?? null;
      } catch (error) {
        last = () => {
          throw error;
        };
      }
    }
    return last();
  };
  return composed(some, { hooks, decide: decideByAny });
}

const decideByAny: CombinedDecision = async (hooks, args) => {
  let last: () => undefined = () => undefined;
  for (const hook of hooks) {
    try {
      const effect = await hook.decide(args);
      if (effect !== undefined) return effect;
      last = () => undefined;
    } catch (error) {
      last = () => {
        throw error;
      };
    }
  }
  return last();
};

type CombinedDecision = (
  hooks: readonly FieldHook[],
  args: FieldHookArguments,
) => MaybePromise<Effect | undefined>;

/**
 * The hooks of which each combined hook was made. `decide` tells `and()`, `or()` and `asFilter()` apart, so that
 * `isPassed()` recognizes two equal combinations of the same hooks.
 */
const members = new WeakMap<
  object,
  { readonly hooks: readonly object[]; readonly decide: CombinedDecision }
>();

/** Whether a request that has passed the hooks in `passed` would also pass the `preFetch` hook `hook`. */
export function isPassed(hook: object, passed: readonly object[]): boolean {
  if (passed.some((each) => isSameHook(each, hook))) return true;
  const { hooks, decide } = members.get(hook) ?? {};
  if (decide === decideByAll) return hooks?.every((each) => isPassed(each, passed)) === true;
  const inner = passed.flatMap((each) => {
    const parts = members.get(each);
    return parts?.decide === decideByAll ? parts.hooks : [];
  });
  return inner.length > 0 && isPassed(hook, inner);
}

function isSameHook(a: object, b: object): boolean {
  if (a === b) return true;
  const [one, two] = [members.get(a), members.get(b)];
  return one !== undefined && one.decide === two?.decide && one.hooks.length === two.hooks.length &&
    one.hooks.every((each, index) => isSameHook(each, two.hooks[index] as object));
}

/** If all hooks name the fields that they read, the combined hook can run on these fields alone, without a document. */
function composed<F extends object>(
  hook: F,
  { hooks, decide }: { readonly hooks: readonly object[]; readonly decide: CombinedDecision },
): F {
  if (!hooks.every((each) => typeof each === "function")) {
    throw new TypeError("Cannot combine hooks: one of them is no function");
  }
  members.set(hook, { hooks, decide });
  if (hooks.every(keepsEntity)) keepers.add(hook);
  const reads = [...new Set(hooks.flatMap(readBy))];
  const leavesOut = [...new Set(hooks.flatMap(leftOutBy))];
  if (reads.length === 0) return hook;
  const fieldHooks = hooks.flatMap((each) => fieldHookOf(each) ?? []);
  const fieldHook = {
    reads,
    leavesOut,
    decide: (args: FieldHookArguments) => decide(fieldHooks, args),
  };
  recordFields(hook, { reads, leavesOut, ...fieldHooks.length === hooks.length && { fieldHook } });
  return hook;
}

/**
 * Wraps a hook that throws to reject an entity. The new hook returns `null` instead, so a list leaves out only this
 * entity.
 *
 * The new hook hides every error of the wrapped hook, even of a bug.
 */
export function asFilter<E, R = FrameworkRequest>(hook: EntityHook<E, R>): EntityHook<E, R>;
/** Wraps a hook with different parameter types, and returns a hook of the same type. */
export function asFilter<F extends CallableFunction>(hook: F): F;
export function asFilter(hook: CallableFunction): CallableFunction {
  const filter = async (...args: unknown[]): Promise<unknown> => {
    try {
      return await hook(...args) ?? null;
    } catch {
      return null;
    }
  };
  return composed(filter, { hooks: [hook], decide: decideWithoutErrors });
}

const decideWithoutErrors: CombinedDecision = ([hook], args) => {
  try {
    const effect = hook?.decide(args);
    return isPromise(effect) ? Promise.resolve(effect).catch(() => undefined) : effect;
  } catch {
    return undefined;
  }
};

/**
 * Returns a hook that accepts an entity only if `test` returns `true`. It never changes an entity, so the OpenAPI
 * document can describe answers by the class.
 *
 * With a list `names`, the test gets a frozen object with these fields, which may be hidden, and `_id`. A read whose
 * hooks all have such lists makes no entities and writes JSON from the stored bytes. Such a test must have no side
 * effects, because it may run again for an entity.
 *
 * @example Show to each user what is public, and what is their own
 * ```ts
 * import { all, FrameworkModel, type FrameworkRequest, one, onlyIf, prop, rest } from "@mongrove/mongrove";
 *
 * const mayRead = onlyIf(
 *   ["shown", "owner"],
 *   (req: FrameworkRequest, note: Pick<Note, "shown" | "owner">) =>
 *     note.shown || note.owner === req.headers["x-user"],
 * );
 *
 * @rest({ route: "/notes", methods: [all({ postFetch: mayRead }), one({ postFetch: mayRead })] })
 * class Note extends FrameworkModel {
 *   @prop({ type: Boolean, default: false })
 *   shown!: boolean;
 *   @prop()
 *   owner?: string;
 * }
 * ```
 *
 * @throws {TypeError} If the list is no list of names, or the test is not a function.
 */
export function onlyIf<
  E extends object,
  const K extends keyof ListedFields<NamedEntity<E, F>> & string,
  R = FrameworkRequest,
  F = unknown,
>(
  names: readonly K[] & Covering<NoInfer<F>, NoInfer<K>>,
  test: NamedTest<E, F, K, R>,
): EntityHook<NamedEntity<E, NoInfer<F>>, R>;
/** Returns a hook that accepts an entity if the function `test` returns `true` for the whole entity. */
export function onlyIf<E extends object, R = FrameworkRequest>(
  test: (req: R, entity: E, previous?: E) => MaybePromise<boolean>,
): EntityHook<E, R>;
export function onlyIf(
  ...[given, test]: readonly [unknown, unknown?]
): EntityHook<object, unknown> {
  const hook = typeof given === "function"
    ? wholeTest(given as Parameters<typeof wholeTest>[0])
    : onlyIfNamed(given as readonly string[], test as Parameters<typeof onlyIfNamed>[1]);
  keepers.add(hook);
  return hook;
}

function wholeTest(
  test: (req: unknown, entity: object, previous?: object) => MaybePromise<unknown>,
): EntityHook<object, unknown> {
  return (req, entity, previous) =>
    andThen(test(req, entity, previous), (passes) => passes === true ? entity : null);
}

/** Hooks that never change an entity, so that OpenAPI can describe answers by the class. */
const keepers = new WeakSet<object>();

export function keepsEntity(hook: object): boolean {
  return keepers.has(hook);
}

/** A `preFetch` hook, which gets only the request, rejects by any result except `true`. */
function isRejection(result: unknown, args: readonly unknown[]): boolean {
  if (args.length === 1) return result !== true;
  return result === null || result === undefined || result === false;
}
