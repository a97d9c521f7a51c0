/** What a composed hook is called with: a request alone, or an entity as well. */
export type HookArguments = readonly [req: unknown, entity?: unknown, previous?: unknown];

/** Tells whether a result rejects. A `preFetch`, called with the request alone, passes with `true` and nothing else. */
export function isRejection(result: unknown, args: HookArguments): boolean {
  if (args.length === 1) return result !== true;
  return result === null || result === undefined || result === false;
}
