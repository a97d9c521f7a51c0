import type { Answer } from "./request/answer.ts";
import type { OpenLevelContext } from "./request/request_context.ts";

/** The first feature wraps all others, so that it sees their replies and errors. */
export function runWrapped(
  context: OpenLevelContext,
  operation: (context: OpenLevelContext) => Promise<Answer>,
): Promise<Answer> {
  const outermost = context.active.reduceRight((run, { feature, params }) => {
    const wrap = feature.wrap?.bind(feature);
    return wrap === undefined ? run : (given) => wrap(params, { context: given, run });
  }, operation);
  return outermost(context);
}
