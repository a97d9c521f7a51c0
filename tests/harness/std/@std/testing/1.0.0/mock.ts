// deno-lint-ignore-file no-explicit-any -- the defaults of the real signatures
/**
 * Stand-ins for parts of `@std/testing/mock`, used where JSR is out of reach.
 *
 * @module
 */
import { AssertionError } from "jsr:@std/assert@^1";

/** The error of a mock that cannot be made or undone. */
export class MockError extends Error {
  override name = "MockError";
}

export interface SpyCall<
  Self = any,
  Args extends unknown[] = any[],
  Return = any,
> {
  args: Args;
  returned?: Return;
  error?: Error;
  /** The `this` of the call. */
  self?: Self;
}

export interface Spy<Self = any, Args extends unknown[] = any[], Return = any> {
  (this: Self, ...args: Args): Return;
  original: (this: Self, ...args: Args) => Return;
  calls: SpyCall<Self, Args, Return>[];
  /** Whether the method is itself again. */
  restored: boolean;
  restore(): void;
}

export interface MethodSpy<
  Self = any,
  Args extends unknown[] = any[],
  Return = any,
> extends Spy<Self, Args, Return>, Disposable {}

export interface Stub<Self = any, Args extends unknown[] = any[], Return = any>
  extends MethodSpy<Self, Args, Return> {
  fake: (this: Self, ...args: Args) => Return;
}

export type GetParametersFromProp<Self, Prop extends keyof Self> = Self[Prop] extends
  (...args: infer Args) => unknown ? Args : unknown[];

export type GetReturnFromProp<Self, Prop extends keyof Self> = Self[Prop] extends
  (...args: any[]) => infer Return ? Return : unknown;

type Fn = (this: unknown, ...args: unknown[]) => unknown;

function record(run: Fn): { spied: Fn; calls: SpyCall[] } {
  const calls: SpyCall[] = [];
  const spied = function (this: unknown, ...args: unknown[]): unknown {
    const call: SpyCall = this ? { args, self: this } : { args };
    try {
      return call.returned = run.apply(this, args);
    } catch (error) {
      call.error = error as Error;
      throw error;
    } finally {
      calls.push(call);
    }
  };
  return { spied, calls };
}

function spyFunction(original: Fn): Spy {
  const { spied, calls } = record(original);
  const restore = () => {
    throw new MockError("Cannot restore: function cannot be restored");
  };
  return Object.assign(spied, { original, calls, restored: false, restore });
}

const spied = new WeakSet<object>();

function methodOf(self: object, property: PropertyKey): Fn {
  const original: unknown = Reflect.get(self, property);
  if (typeof original !== "function") {
    throw new MockError("Cannot spy: property is not an instance method");
  }
  if (spied.has(original)) {
    throw new MockError("Cannot spy: already spying on instance method");
  }
  return original as Fn;
}

function replaceMethod(self: object, property: PropertyKey, fake?: Fn): Stub {
  const original = methodOf(self, property);
  const descriptor = Object.getOwnPropertyDescriptor(self, property);
  if (descriptor && !descriptor.configurable) {
    throw new MockError("Cannot spy: non-configurable instance method");
  }
  const recorded = record(fake ?? original);
  const restore = () => {
    if (stub.restored) {
      throw new MockError("Cannot restore: instance method already restored");
    }
    if (descriptor) Object.defineProperty(self, property, descriptor);
    else Reflect.deleteProperty(self, property);
    stub.restored = true;
  };
  const stub: Stub = Object.assign(recorded.spied, {
    original,
    fake: fake ?? original,
    calls: recorded.calls,
    restored: false,
    restore,
    [Symbol.dispose]: restore,
  });
  const { enumerable = false, writable = false } = descriptor ?? {};
  const value = { value: stub, configurable: true, enumerable, writable };
  Object.defineProperty(self, property, value);
  spied.add(stub);
  return stub;
}

export function spy<
  Self = any,
  Args extends unknown[] = any[],
  Return = undefined,
>(): Spy<
  Self,
  Args,
  Return
>;
/** Wraps a function. */
export function spy<Self, Args extends unknown[], Return>(
  func: (this: Self, ...args: Args) => Return,
): Spy<Self, Args, Return>;
export function spy<Self, Prop extends keyof Self>(
  self: Self,
  property: Prop,
): MethodSpy<
  Self,
  GetParametersFromProp<Self, Prop>,
  GetReturnFromProp<Self, Prop>
>;
export function spy(target?: unknown, property?: PropertyKey): Spy {
  return property === undefined
    ? spyFunction((target ?? (() => {})) as Fn)
    : replaceMethod(target as object, property);
}

/** Does nothing in the place of the method. */
export function stub<Self, Prop extends keyof Self>(
  self: Self,
  property: Prop,
): Stub<
  Self,
  GetParametersFromProp<Self, Prop>,
  GetReturnFromProp<Self, Prop>
>;
export function stub<Self, Prop extends keyof Self>(
  self: Self,
  property: Prop,
  func: (
    this: Self,
    ...args: GetParametersFromProp<Self, Prop>
  ) => GetReturnFromProp<Self, Prop>,
): Stub<
  Self,
  GetParametersFromProp<Self, Prop>,
  GetReturnFromProp<Self, Prop>
>;
export function stub(self: object, property: PropertyKey, func?: Fn): Stub {
  return replaceMethod(self, property, func ?? (() => {}));
}

export function assertSpyCalls(
  spy: { calls: unknown[] },
  expectedCalls: number,
): void {
  if (spy.calls.length === expectedCalls) return;
  throw new AssertionError(
    `Spy not called as expected: called ${spy.calls.length} times, ` +
      `not ${expectedCalls}`,
  );
}
