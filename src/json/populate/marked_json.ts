import type { Buffer } from "node:buffer";
import { JsonWriter } from "../bytes/json_writer.ts";
import { populatedText, wantIn } from "./populate_value.ts";
import { populated, want, wantNothing } from "./targets.ts";
import type { FieldTargets, ReferenceText, TargetFinder, Targets, Wanted } from "./targets.ts";

/** A place in JSON text where something is still missing: a reference, or a whole entity as a value of JSON. */
export type Mark =
  & { readonly at: number }
  & ({ readonly name: string; readonly held: ReferenceText } | { readonly entity: unknown });

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
  const size = Math.min(PIECE, written.length * 2) + 1024;
  let out = new JsonWriter(size);
  let done = 0;
  for (const mark of marks) {
    out.copy(written.subarray(done, mark.at));
    done = mark.at;
    if ("entity" in mark) out.text(populatedText(mark.entity, targets));
    else {
      for (const part of populated(mark.held, targets.get(mark.name) ?? NONE)) {
        if (typeof part !== "string") out.copy(part.bytes);
        else if (part.length === 1) {
          out.reserve(1);
          out.byte(part.charCodeAt(0));
        } else out.text(part);
      }
    }
    if (out.length < PIECE) continue;
    yield out.written;
    out = new JsonWriter(size);
  }
  out.copy(written.subarray(done));
  if (out.length > 0) yield out.written;
}

const NONE: FieldTargets = new Map();
