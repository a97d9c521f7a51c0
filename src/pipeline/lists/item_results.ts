import { TurnPacer } from "../../errors/event_loop.ts";
import type { ItemResult } from "../../sources/source.ts";
import { errorAnswer } from "../request/reporter.ts";
import type { OpenLevelContext } from "../request/request_context.ts";

/**
 * The result of one entity of a request with several entities, with the status that a request with only this entity
 * would get.
 */
export interface DescribedResult {
  readonly status: number;
}

/**
 * Returns the results of a request with several entities for its answer. Each result has the status and the error that
 * a request with only this entity would get.
 */
export async function describeResults(
  context: OpenLevelContext,
  results: readonly ItemResult[],
): Promise<DescribedResult[]> {
  const told: DescribedResult[] = [];
  const pacer = new TurnPacer();
  for (const { error, ...result } of results) {
    if (pacer.isDue) await pacer.rest();
    told.push(
      error === undefined ? { status: 201, ...result } : await describeError(context, error),
    );
  }
  return told;
}

export async function describeError(
  context: OpenLevelContext,
  error: unknown,
): Promise<DescribedResult> {
  const { status, body } = await errorAnswer(context, error);
  return { ...body, status };
}
