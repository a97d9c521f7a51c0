import { Buffer } from "node:buffer";
import { BsonReader } from "../../../json/bytes/bson_reader.ts";
import type { MarkedJson } from "../../../json/populate.ts";
import { DocumentWriter } from "../../../json/transcode/documents.ts";
import { Marking } from "../../../json/transcode/marking.ts";
import { encodeValues } from "./encode_values.ts";
import { decodeBson, sizeOf, writerFor } from "./stored_writer.ts";
import type { Stored, StoredWriter } from "./stored_writer.ts";

/**
 * Writes stored documents as JSON text, with commas between them, and with marks in the places of some references. A
 * document that only Mongoose can write is one mark.
 */
export function writeMarked(
  stored: readonly Stored[],
  { writer, names }: { readonly writer: StoredWriter; readonly names: ReadonlySet<string> },
): MarkedJson {
  const marking = new Marking(names);
  const out = writerFor(sizeOf(stored));
  const hydrate = (values: object): string => {
    marking.replace(out.length, writer.hydrate(values));
    return "";
  };
  const decode = (bson: Buffer) => hydrate(decodeBson(bson));
  const documents = new DocumentWriter(writer.plan, { decode, fieldWriter: marking });
  for (const [index, each] of stored.entries()) {
    if (index > 0) out.text(",");
    const bytes = each instanceof Buffer ? each : encodeValues(each);
    if (bytes === undefined) hydrate(each);
    else documents.document(new BsonReader(bytes), out);
  }
  return { written: out.written, marks: marking.marks };
}
