import type { JsonPiece } from "../json/bytes/json_writer.ts";
import { toJson } from "../json/to_json.ts";
import type { Fate } from "../sources/source.ts";
import type { BodyLine } from "../write/body/read_body.ts";
import type { OpenLevel } from "./request/call.ts";
import { isMinimal } from "./request/preferences.ts";
import { isOver } from "./request/reply.ts";
import { toldFates, writeEach } from "./write_many.ts";
import type { ToldFate } from "./write_many.ts";

/**
 * Creates an entity of each line of a body, and tells what became of each; with `return=minimal`, only of those that are not
 * created. What keeps the database from writing a batch ends the import.
 */
export async function* importLines(
  acting: OpenLevel,
  batches: AsyncIterable<readonly BodyLine[]>,
): AsyncGenerator<JsonPiece> {
  const least = isMinimal(acting) ? 400 : 0;
  let begun = false;
  for await (const lines of batches) {
    acting.timeBudget.renew();
    const { told, isLast } = await writeLines(acting, lines);
    if (isOver(acting.req)) return;
    for (const [index, fate] of told.entries()) {
      if (fate.status < least) continue;
      if (begun) yield "\n";
      begun = true;
      yield toJson({ line: lines[index]?.line, ...fate });
    }
    if (isLast) return;
  }
}

interface ToldLines {
  readonly told: readonly ToldFate[];
  /** Whether no other lines are written. */
  readonly isLast: boolean;
}

async function writeLines(acting: OpenLevel, lines: readonly BodyLine[]): Promise<ToldLines> {
  const bodies = lines.flatMap(({ body }) => body === undefined ? [] : [body]);
  try {
    const written = await writeEach(acting, bodies);
    let next = 0;
    const fates = lines.map(({ body, error }) => {
      return body === undefined ? { error } : written[next++] as Fate;
    });
    return { told: await toldFates(acting, fates), isLast: acting.timeBudget.expired };
  } catch (error) {
    const [fate] = await toldFates(acting, [{ error }]);
    return { told: lines.map(() => fate as ToldFate), isLast: true };
  }
}
