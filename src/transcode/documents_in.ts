import type { Buffer } from "node:buffer";
import { endOfName, readInt32 } from "./_scan.ts";

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
