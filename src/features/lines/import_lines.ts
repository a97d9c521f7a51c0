import { TurnPacer } from "../../errors/event_loop.ts";
import { refusal } from "../../errors/refusals.ts";
import type { RestError } from "../../errors/rest_error.ts";
import { toJson } from "../../json/to_json.ts";
import { isOutage } from "../../pipeline/failures.ts";
import { type DescribedResult, itemError, itemResults } from "../../pipeline/lists/item_results.ts";
import { isMinimal } from "../../pipeline/request/preferences.ts";
import { translatedAnswer } from "../../pipeline/request/reporter.ts";
import type { Answer } from "../../pipeline/request/answer.ts";
import { isOver } from "../../pipeline/request/response.ts";
import type { OpenLevelContext } from "../../pipeline/request/request_context.ts";
import { writeEach } from "../../pipeline/write_each.ts";
import type { BodyLine, LineFormat } from "./body_parser.ts";
import { readCsvHead } from "./csv_lines.ts";
import { JsonLines } from "./json_lines.ts";
import { readLines } from "./read_lines.ts";

/** Consecutive refused lines, after which the rest of a body in a wrong format is not read. */
const MAX_REFUSED = 10_000;

/** If the database is away, the import ends after the present group of lines. */
export function importLines(
  context: OpenLevelContext,
  { batch, format }: { readonly batch: number; readonly format: LineFormat },
): Answer {
  const { req, level: { shape }, route: { bodyLimits } } = context;
  const { maxImportBytes, ...limits } = bodyLimits;
  const stopping = new AbortController();
  const batches = readLines(req, {
    maxImportBytes,
    makeParser: (body) =>
      format === "csv"
        ? readCsvHead(body, { shape, limits })
        : Promise.resolve(new JsonLines(limits)),
    many: batch,
    signal: stopping.signal,
    isOver: () => isOver(req),
  });
  const lines = createLines(context, batches);
  return { kind: "results", status: 207, lines, stop: () => stopping.abort() };
}

async function* createLines(
  context: OpenLevelContext,
  batches: AsyncIterable<readonly BodyLine[]>,
): AsyncGenerator<string> {
  const least = isMinimal(context) ? 400 : 0;
  let refused = 0;
  for await (const lines of batches) {
    const [first] = lines;
    if (first === undefined) continue;
    if (refused >= MAX_REFUSED) {
      return yield lineOf({ line: first.line, ...refusalResult(tooManyRefused()) });
    }
    context.timeBudget.renew();
    const { results, stop } = await writeLines(context, lines);
    const pacer = new TurnPacer();
    let text = "";
    for (const result of results) {
      if (pacer.isDue) await pacer.rest();
      refused = result.status === 400 ? refused + 1 : 0;
      // A client continues with the line of `stop`, so it must know which later lines are stored.
      if (result.status >= least || stop && result.line > stop.line) text += lineOf(result);
    }
    if (stop !== undefined) text += lineOf(stop);
    if (isOver(context.req)) return;
    yield text;
    if (stop !== undefined) return;
  }
}

function tooManyRefused(): RestError {
  const message =
    `${MAX_REFUSED} lines were refused one after another: this line and the lines after it are not read`;
  return refusal("PAYLOAD_TOO_LARGE", { message, limit: MAX_REFUSED });
}

/** Wrong lines and a closing server are no failures of the application, so `onError` does not get them. */
function refusalResult({ status, body }: RestError): DescribedResult {
  return { ...body, status };
}

interface LineResult extends DescribedResult {
  readonly line: number;
}

function lineOf(result: LineResult): string {
  return `${toJson(result)}\n`;
}

interface WrittenLines {
  readonly results: readonly LineResult[];
  /** The first line that was perhaps not stored, because the database was away. */
  readonly stop?: LineResult | undefined;
}

async function writeLines(
  context: OpenLevelContext,
  lines: readonly BodyLine[],
): Promise<WrittenLines> {
  const refusals = lines.flatMap(({ line, error }) =>
    error === undefined ? [] : { line, ...refusalResult(error) }
  );
  const sent = lines.filter(({ error }) => error === undefined);
  try {
    const bodies = sent.map(({ body }) => body);
    const written = await writeEach(context, bodies);
    const described = await itemResults(context, { results: written, bodies });
    const results = described.map((result, at) => ({ line: sent[at]?.line ?? 0, ...result }));
    const isAway = written.map(({ error }) =>
      error !== undefined && isOutage(translatedAnswer(context, error))
    );
    const all = [...results.filter((_, at) => !isAway[at]), ...refusals];
    return {
      results: all.sort((one, other) => one.line - other.line),
      stop: results.find((_, at) => isAway[at]),
    };
  } catch (error) {
    const line = sent[0]?.line ?? 0;
    return { results: refusals, stop: { line, ...await itemError(context, error) } };
  }
}
