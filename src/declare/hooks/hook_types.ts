/**
 * The entity that all of several hooks accept: what each of them expects, together.
 *
 * @typeParam F The hooks.
 */
export type EntityOf<F> = Together<
  F extends (req: never, entity: infer E, ...rest: never[]) => unknown ? (each: E) => void : never
>;

/**
 * The request that all of several hooks accept.
 *
 * @typeParam F The hooks.
 */
export type RequestOf<F> = Together<
  F extends (req: infer R, ...rest: never[]) => unknown ? (each: R) => void : never
>;

/**
 * The intersection of what a union of functions takes.
 *
 * @typeParam F The functions.
 */
export type Together<F> = [F] extends [(each: infer I) => void] ? I : never;
