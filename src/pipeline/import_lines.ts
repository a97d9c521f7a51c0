import { TurnPacer } from "../errors/event_loop.ts";
import { refusal } from "../errors/refusals.ts";
import type { RestError } from "../errors/rest_error.ts";
import { toJson } from "../json/to_json.ts";
import { type BodyLine, readLines } from "../write/body/read_lines.ts";
import type { OpenLevel } from "./request/call.ts";
import { isMinimal } from "./request/preferences.ts";
import { isOver, type Reply } from "./request/reply.ts";
import { toldError, type ToldFate, toldFates, writeEach } from "./write_many.ts";

/** The number of lines with a 400, one after another, after which an import ends. */
const MAX_REFUSED = 10_000;

/** Creates an entity of each line of a body. An error of the database ends the import with the batch that it concerns. */
export function importLines(acting: OpenLevel): Reply {
  const { req, route: { bodyLimits }, level: { writes } } = acting;
  const stopping = new AbortController();
  const batches = readLines(req, {
    ...bodyLimits,
    many: writes?.many ?? 1,
    signal: stopping.signal,
    isOver: () => isOver(req),
  });
  return { status: 207, lines: createLines(acting, batches), stop: () => stopping.abort() };
}

async function* createLines(
  acting: OpenLevel,
  batches: AsyncIterable<readonly BodyLine[]>,
): AsyncGenerator<string> {
  const least = isMinimal(acting) ? 400 : 0;
  let refused = 0;
  for await (const lines of batches) {
    const [first] = lines;
    if (first === undefined) continue;
    if (refused >= MAX_REFUSED) {
      return yield lineOf(first, toldRefusal(tooManyRefused()));
    }
    acting.timeBudget.renew();
    const { told, isLast } = await writeLines(acting, lines);
    const pacer = new TurnPacer();
    let text = "";
    for (const [index, fate] of told.entries()) {
      if (pacer.isDue) await pacer.rest();
      refused = fate.status === 400 ? refused + 1 : 0;
      if (fate.status >= least) text += lineOf(lines[index], fate);
    }
    if (isOver(acting.req)) return;
    yield text;
    if (isLast) return;
  }
}

function tooManyRefused(): RestError {
  const message =
    `${MAX_REFUSED} lines were refused one after another: this one and those behind it are not read`;
  return refusal("PAYLOAD_TOO_LARGE", { message, limit: MAX_REFUSED });
}

/** Tells of a line that was not read. The host gets no report: a server that closes is no failure. */
function toldRefusal({ status, body }: RestError): ToldFate {
  return { ...body, status };
}

function lineOf(line: BodyLine | undefined, fate: ToldFate): string {
  return `${toJson({ line: line?.line, ...fate })}\n`;
}

async function writeLines(
  acting: OpenLevel,
  lines: readonly BodyLine[],
): Promise<{ readonly told: readonly ToldFate[]; readonly isLast: boolean }> {
  try {
    const written = await writeEach(acting, lines.flatMap(({ body }) => body ?? []));
    const fates = (await toldFates(acting, written)).values();
    const told = lines.flatMap(({ error }) =>
      error === undefined ? fates.next().value ?? [] : toldRefusal(error)
    );
    return { told, isLast: acting.timeBudget.expired };
  } catch (error) {
    const fate = await toldError(acting, error);
    return { told: lines.map(() => fate), isLast: true };
  }
}
