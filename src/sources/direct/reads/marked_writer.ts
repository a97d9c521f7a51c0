import { Buffer } from "node:buffer";
import { BsonReader } from "../../../json/bytes/bson_reader.ts";
import type { JsonWriter } from "../../../json/bytes/json_writer.ts";
import type { Mark, MarkedJson } from "../../../json/populate/marked_json.ts";
import { DocumentWriter } from "../../../json/transcode/documents.ts";
import { MarkingTranscoder } from "../../../json/transcode/marking_transcoder.ts";
import type { MarkingOptions } from "../../../json/transcode/marking_transcoder.ts";
import type { Plan } from "../../../json/transcode/plan.ts";
import { encodeValues } from "./encode_values.ts";
import { decodeBson, writerFor } from "./stored_writer.ts";
import type { Stored, StoredWriter } from "./stored_writer.ts";

/**
 * Writes stored documents as JSON text, with commas between them, and with marks in the places of some references. A
 * document that only Mongoose can write is one mark.
 */
export function writeMarked(
  stored: readonly Stored[],
  { writer, names }: { readonly writer: StoredWriter; readonly names: ReadonlySet<string> },
): MarkedJson {
  const marks: Mark[] = [];
  const out = writerFor(stored.reduce((sum, each) => sum + sizeOf(each), 0));
  const hydrate = (values: object): string => {
    // What was marked of the document before it turned out that its bytes cannot be written.
    while ((marks.at(-1)?.at ?? 0) > out.length) marks.pop();
    marks.push({ at: out.length, entity: writer.hydrate(values) });
    return "";
  };
  const decode = (bson: Buffer) => hydrate(decodeBson(bson));
  const documents = new MarkingWriter(writer.plan, { names, marks, decode });
  for (const [index, each] of stored.entries()) {
    if (index > 0) out.text(",");
    const bytes = each instanceof Buffer ? each : encodeValues(each);
    if (bytes === undefined) hydrate(each);
    else documents.document(new BsonReader(bytes), out);
  }
  return { written: out.written, marks };
}

function sizeOf(stored: Stored): number {
  return stored instanceof Buffer ? stored.length : 0;
}

class MarkingWriter extends DocumentWriter {
  readonly #marking: MarkingOptions;

  constructor(
    plan: Plan,
    { decode, ...marking }: MarkingOptions & {
      readonly decode: (document: Buffer) => string;
    },
  ) {
    super(plan, decode);
    this.#marking = marking;
  }

  protected override open(source: BsonReader, out: JsonWriter): MarkingTranscoder {
    return new MarkingTranscoder(source, out, this.#marking);
  }
}
