import { TurnPacer } from "../../errors/event_loop.ts";
import type { RestError } from "../../errors/rest_error.ts";
import type { ItemResult } from "../../sources/source.ts";
import { errorAnswer, itemAnswer } from "../request/reporter.ts";
import type { OpenLevelContext } from "../request/request_context.ts";

export interface DescribedResult {
  readonly status: number;
}

export async function itemResults(
  context: OpenLevelContext,
  { results, bodies }: {
    readonly results: readonly ItemResult[];
    readonly bodies: readonly unknown[];
  },
): Promise<DescribedResult[]> {
  const all: DescribedResult[] = [];
  const pacer = new TurnPacer();
  for (const [index, { error, ...result }] of results.entries()) {
    if (pacer.isDue) await pacer.rest();
    all.push(
      error === undefined
        ? { status: 201, ...result }
        : described(await itemAnswer(context, { error, body: bodies[index] })),
    );
  }
  return all;
}

export async function itemError(
  context: OpenLevelContext,
  error: unknown,
): Promise<DescribedResult> {
  return described(await errorAnswer(context, error));
}

function described({ status, body }: RestError): DescribedResult {
  return { ...body, status };
}
