import type { Hooks, MaybePromise } from "../declare/hooks/hooks.ts";
import { type Effect, type ReadFields, UNCHANGED } from "../declare/hooks/named_fields.ts";
import { andThen, runHook } from "../declare/hooks/run_hook.ts";
import { memoize } from "../schema/memoize.ts";
import { namedFieldHooks, nameTheirFields } from "../sources/collection/plan_read.ts";
import type { FieldHooks } from "../sources/source.ts";
import { isOver } from "./request/response.ts";
import type { OpenLevelContext } from "./request/request_context.ts";

const namedHooksOf = memoize((hooks: Hooks<object>) => {
  const named = nameTheirFields(hooks) ? namedFieldHooks(hooks) : [];
  return {
    named,
    reads: [...new Set(named.flatMap(({ hook }) => hook.reads))],
    leavesOut: [...new Set(named.flatMap(({ hook }) => hook.leavesOut))],
  };
});

export function fieldHooksOf(
  { level: { hooks, traits }, req }: OpenLevelContext,
): FieldHooks | undefined {
  const { named, reads, leavesOut } = namedHooksOf(hooks);
  if (named.length === 0 || traits.change !== undefined) return undefined;
  const passFrom = (
    index: number,
    { read, before }: { readonly read: ReadFields; readonly before: Effect },
  ): MaybePromise<Effect | undefined> => {
    const next = named[index];
    if (next === undefined) return before;
    if (isOver(req)) return undefined;
    const effect = runHook(next.name, () => next.hook.decide({ req, read }));
    return andThen(effect, (passed) => {
      if (passed === undefined) return undefined;
      const leftOut = [...before.leftOut, ...passed.leftOut];
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
