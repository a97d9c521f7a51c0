/** The arguments of a composed hook. A `preFetch` hook gets the request alone. */
export type HookArguments = readonly [req: unknown, entity?: unknown, previous?: unknown];

/** Tells whether a result rejects. Only `true` lets a request through `preFetch`. */
export function isRejection(result: unknown, args: HookArguments): boolean {
  if (args.length === 1) return result !== true;
  return result === null || result === undefined || result === false;
}
