import { leftOutBy, readBy } from "../../declare/hooks/named_fields.ts";
import type { Method } from "../../declare/operations/methods.ts";
import { isHookName } from "../../declare/operations/operation.ts";
import type { Fail } from "../../pipeline/option_reader.ts";
import type { Shape } from "../../schema/fields/shape.ts";

/** Returns the fields that `leaveOut()` removes from answers. */
export function checkNamedHooks(
  { hooks }: Method,
  { shape, fail }: { readonly shape: Shape; readonly fail: Fail },
): readonly string[] {
  for (const [name, hook] of Object.entries(hooks)) {
    if (!isHookName(name) || typeof hook !== "function") continue;
    const leavesOut = leftOutBy(hook);
    if (leavesOut.length > 0 && name !== "preSend") {
      throw fail(`has leaveOut() as "${name}", and only "preSend" decides what an answer shows`);
    }
    const unknown = [...readBy(hook), ...leavesOut].find((each) => !shape.fields.has(each));
    if (unknown !== undefined) throw fail(`has "${unknown}" in "${name}", which is no field`);
    if (leavesOut.includes("_id")) {
      throw fail(`leaves out "_id" in "${name}", by which clients tell entities apart`);
    }
  }
  return leftOutBy(hooks.preSend);
}
