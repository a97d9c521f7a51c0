import type { Hooks, MaybePromise } from "../declare/hooks/hooks.ts";
import { type Effect, type ReadFields, UNCHANGED } from "../declare/hooks/named_fields.ts";
import { andThen, runHook } from "../declare/hooks/run_hook.ts";
import { memoize } from "../schema/memoize.ts";
import { namedRulesOf, nameTheirFields } from "../sources/collection/plan_read.ts";
import type { Judge } from "../sources/source.ts";
import { isOver } from "./request/reply.ts";
import type { OpenLevelContext } from "./request/request_context.ts";

/** No rules if one of the hooks needs whole entities. */
const rulesOf = memoize((hooks: Hooks<object>) => {
  const rules = nameTheirFields(hooks) ? namedRulesOf(hooks) : [];
  return {
    rules,
    reads: [...new Set(rules.flatMap(({ rule }) => rule.reads))],
    leavesOut: [...new Set(rules.flatMap(({ rule }) => rule.leavesOut))],
  };
});

/**
 * Each hook names the fields that it reads, so no entities are built. `undefined` if none gets entities, or one needs
 * whole entities.
 */
export function judgeOf({ level: { hooks, kind }, req }: OpenLevelContext): Judge | undefined {
  const { rules, reads, leavesOut } = rulesOf(hooks);
  if (rules.length === 0 || kind.change !== undefined) return undefined;
  const passFrom = (
    index: number,
    { read, before }: { readonly read: ReadFields; readonly before: Effect },
  ): MaybePromise<Effect | undefined> => {
    const next = rules[index];
    if (next === undefined) return before;
    // A hook may have ended the response.
    if (isOver(req)) return undefined;
    const effect = runHook(next.name, () => next.rule.judge({ req, read }));
    return andThen(effect, (known) => {
      if (known === undefined) return undefined;
      const leftOut = [...before.leftOut, ...known.leftOut];
      return passFrom(index + 1, { read, before: leftOut.length === 0 ? before : { leftOut } });
    });
  };
  return {
    reads,
    leavesOut,
    pass: (read) => passFrom(0, { read, before: UNCHANGED }),
    isOver: () => isOver(req),
  };
}
