import { TurnPacer } from "../../errors/event_loop.ts";
import { refusal } from "../../errors/refusals.ts";
import type { RestError } from "../../errors/rest_error.ts";
import { toJson } from "../../json/to_json.ts";
import {
  type DescribedResult,
  describeError,
  describeResults,
} from "../../pipeline/lists/item_results.ts";
import { isMinimal } from "../../pipeline/request/preferences.ts";
import { isOver, type Reply } from "../../pipeline/request/reply.ts";
import type { OpenLevelContext } from "../../pipeline/request/request_context.ts";
import { writeEach } from "../../pipeline/write_each.ts";
import type { BodyLine, LineFormat } from "./body_parser.ts";
import { openCsv } from "./csv_lines.ts";
import { JsonLines } from "./json_lines.ts";
import { readLines } from "./read_lines.ts";

/**
 * The number of consecutive refused lines (400) after which an import ends with a 413, so that the server does not read
 * a body in a wrong format to its end.
 */
const MAX_REFUSED = 10_000;

/**
 * Creates an entity from each line of a body, and returns a reply with a result for each line. The lines are stored in
 * groups. An error of the database ends the import after the group in which it occurs, and the entities of earlier
 * groups stay stored.
 */
export function importLines(
  context: OpenLevelContext,
  { batch, format }: { readonly batch: number; readonly format: LineFormat },
): Reply {
  const { req, level: { shape }, route: { bodyLimits } } = context;
  const { maxImportBytes, ...limits } = bodyLimits;
  const stopping = new AbortController();
  const batches = readLines(req, {
    maxImportBytes,
    openParser: (body) =>
      format === "csv"
        ? openCsv(body, { req, shape, limits })
        : Promise.resolve(new JsonLines(limits)),
    many: batch,
    signal: stopping.signal,
    isOver: () => isOver(req),
  });
  return { status: 207, lines: createLines(context, batches), stop: () => stopping.abort() };
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
      return yield lineOf(first, toldRefusal(tooManyRefused()));
    }
    context.timeBudget.renew();
    const { told, isLast } = await writeLines(context, lines);
    const pacer = new TurnPacer();
    let text = "";
    for (const [index, result] of told.entries()) {
      if (pacer.isDue) await pacer.rest();
      refused = result.status === 400 ? refused + 1 : 0;
      if (result.status >= least) text += lineOf(lines[index], result);
    }
    if (isOver(context.req)) return;
    yield text;
    if (isLast) return;
  }
}

function tooManyRefused(): RestError {
  const message =
    `${MAX_REFUSED} lines were refused one after another: this line and the lines after it are not read`;
  return refusal("PAYLOAD_TOO_LARGE", { message, limit: MAX_REFUSED });
}

/**
 * Returns the result of a line of an import that was refused or not read. The function `onError` of the application
 * does not get this error, because neither a wrong line nor a closing server is a failure of the application.
 */
function toldRefusal({ status, body }: RestError): DescribedResult {
  return { ...body, status };
}

function lineOf(line: BodyLine | undefined, result: DescribedResult): string {
  return `${toJson({ line: line?.line, ...result })}\n`;
}

async function writeLines(
  context: OpenLevelContext,
  lines: readonly BodyLine[],
): Promise<{ readonly told: readonly DescribedResult[]; readonly isLast: boolean }> {
  try {
    const written = await writeEach(context, lines.flatMap(({ body }) => body ?? []));
    const results = (await describeResults(context, written)).values();
    const told = lines.flatMap(({ error }) =>
      error === undefined ? results.next().value ?? [] : toldRefusal(error)
    );
    return { told, isLast: context.timeBudget.expired };
  } catch (error) {
    const result = await describeError(context, error);
    return { told: lines.map(() => result), isLast: true };
  }
}
