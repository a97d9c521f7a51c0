import type { Buffer } from "node:buffer";
import { endOfName, readInt32 } from "./_scan.ts";
import type { JsonWriter } from "./json_writer.ts";
import type { Plan } from "./plan.ts";
import { transcodeDocument } from "./transcode.ts";
import { UnknownTypeError } from "./unknown_type_error.ts";

/**
 * Writes the documents of a BSON array with commas between them, and no brackets around.
 *
 * @param decode Gives the JSON text of a document that holds an unknown type.
 * @returns How many there were.
 */
export function transcodeArrayItems(
  out: JsonWriter,
  source: Buffer,
  start: number,
  plan: Plan,
  decode: (document: Buffer) => string,
): number {
  const end = start + readInt32(source, start);
  let at = start + 4;
  let count = 0;
  while (at < end - 1) {
    at = endOfName(source, at + 1) + 1;
    if (count++ > 0) out.ascii(",");
    at = transcodeOrDecode(out, source, at, plan, decode);
  }
  return count;
}

/**
 * Writes a BSON document, or the text that it decodes to where it holds an unknown type.
 *
 * @param decode Gives the JSON text of such a document.
 * @returns The position after the document.
 */
export function transcodeOrDecode(
  out: JsonWriter,
  source: Buffer,
  start: number,
  plan: Plan,
  decode: (document: Buffer) => string,
): number {
  const before = out.length;
  const end = start + readInt32(source, start);
  try {
    transcodeDocument(out, source, start, plan);
  } catch (error) {
    if (!(error instanceof UnknownTypeError)) throw error;
    out.length = before;
    out.text(decode(source.subarray(start, end)));
  }
  return end;
}

/** Gives the documents of a BSON array, in place. */
export function documentsIn(array: Buffer, start: number): Buffer[] {
  const end = start + readInt32(array, start);
  const documents: Buffer[] = [];
  for (let at = start + 4; at < end - 1;) {
    const document = endOfName(array, at + 1) + 1;
    at = document + readInt32(array, document);
    documents.push(array.subarray(document, at));
  }
  return documents;
}

/** What a document begins with that has an ObjectId: the type, and the name. */
const OBJECT_ID = [0x07, 0x5f, 0x69, 0x64, 0x00];

/** Gives the identifier that a document begins with, as text; `undefined` where it begins with anything else. */
export function identifierIn(document: Buffer): string | undefined {
  const start = 4 + OBJECT_ID.length;
  const begins = OBJECT_ID.every((byte, index) => document[4 + index] === byte);
  return begins ? document.toString("hex", start, start + 12) : undefined;
}
