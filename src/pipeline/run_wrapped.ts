import type { Answer } from "./request/answer.ts";
import type { OpenLevelContext } from "./request/request_context.ts";

/** The first feature begins first and ends last, so that it sees the replies and errors of all others. */
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
