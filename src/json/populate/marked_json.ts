import { Buffer } from "node:buffer";
import { populatedText, wantIn } from "./populate_value.ts";
import { populated, want, wantNothing } from "./targets.ts";
import type { Held, JsonText, TargetFinder, Targets, Wanted } from "./targets.ts";

/** A place in JSON text where something is still missing: a reference, or a whole entity as a value of JSON. */
export type Mark =
  & { readonly at: number }
  & ({ readonly name: string; readonly held: Held } | { readonly entity: unknown });

/** JSON text with places in which entities go. */
export interface MarkedJson {
  readonly written: Buffer;
  /** In the order of the text. */
  readonly marks: readonly Mark[];
}

/** Gives the identifiers in marked places. */
export function wantedIn(texts: readonly MarkedJson[], finder: TargetFinder): Wanted {
  const wanted = wantNothing(finder);
  for (const mark of texts.flatMap(({ marks }) => marks)) {
    if ("entity" in mark) wantIn(mark.entity, wanted);
    else want(wanted.get(mark.name) as Set<string>, mark.held);
  }
  return wanted;
}

/** How much text is joined into one piece. */
const PIECE = 64 * 1024;

/** Gives the text with what goes into its places, in pieces. */
export function* fillMarked({ written, marks }: MarkedJson, targets: Targets): Generator<Buffer> {
  let piece: Uint8Array[] = [];
  let size = 0;
  let done = 0;
  for (const mark of marks) {
    const before = written.subarray(done, mark.at);
    done = mark.at;
    for (const part of [before, ...filling(mark, targets)]) {
      const bytes = bytesOf(part);
      piece.push(bytes);
      size += bytes.length;
      if (size < PIECE) continue;
      yield Buffer.concat(piece, size);
      piece = [];
      size = 0;
    }
  }
  const rest = written.subarray(done);
  if (size + rest.length > 0) yield Buffer.concat([...piece, rest]);
}

function filling(mark: Mark, targets: Targets): (string | JsonText)[] {
  if ("entity" in mark) return [populatedText(mark.entity, targets)];
  return populated(mark.held, targets.get(mark.name) ?? new Map());
}

function bytesOf(part: Uint8Array | string | JsonText): Uint8Array {
  if (typeof part === "string") return Buffer.from(part);
  return part instanceof Uint8Array ? part : part.bytes;
}
