/**
 * Stand-ins for `@std/testing/types`, used where JSR is out of reach.
 *
 * @module
 */

/** Asserts a type during the check of types. */
export function assertType<T extends boolean>(_expected: T): void {}

/** Takes a type that is `true`. */
export type AssertTrue<_T extends true> = never;

/** Takes a type that is `false`. */
export type AssertFalse<_T extends false> = never;

/** Takes a type that is the expected one. */
export type Assert<T extends boolean, _Expected extends T> = never;

export type IsAny<T> = 0 extends (1 & T) ? true : false;

export type IsNever<T> = [T] extends [never] ? true : false;

export type IsUnknown<T> = unknown extends T ? [T] extends [null] ? false : true
  : false;

/** Whether a type takes `null` or `undefined`. */
export type IsNullable<T> = IsNever<Extract<T, null | undefined>> extends true ? false
  : true;

export type Has<T, U> = IsAny<T> extends true ? true
  : IsAny<U> extends true ? false
  : IsNever<Extract<T, U>> extends true ? false
  : true;

export type NotHas<T, U> = Has<T, U> extends false ? true : false;

/** Whether two types are one and the same. */
export type IsExact<T, U> = Same<Flat<T>, Flat<U>>;

/**
 * The compiler compares the conditions of two generic functions. With an alias for them, it would compare only the
 * arguments.
 */
type Same<T, U> = (<X>() => X extends T ? 1 : 2) extends (<X>() => X extends U ? 1 : 2) ? true
  : false;

/** Writes intersections of records as one record. */
type Flat<T> = IsAny<T> extends true ? T
  : T extends Record<PropertyKey, unknown> ? { [K in keyof T]: Flat<T[K]> }
  : T;
