import { Buffer } from "node:buffer";
import { joinJson } from "../../json/bytes/json_writer.ts";
import type { JsonPiece } from "../../json/bytes/json_writer.ts";

const [OPEN, COMMA, CLOSE] = ["[", ",", "]"].map((text) => Buffer.from(text)) as [
  Buffer,
  Buffer,
  Buffer,
];

/** Puts the JSON text of entities in brackets. */
export function toArray(text: JsonPiece): Buffer {
  if (typeof text === "string") return Buffer.from(`[${text}]`);
  return Buffer.concat([OPEN, text, CLOSE]);
}

/** How much text is joined into one buffer. */
const CHUNK = 64 * 1024;

/** Joins the JSON texts of a list into few buffers, brackets included. */
export async function gatherList(lists: AsyncIterable<readonly JsonPiece[]>): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  let held: JsonPiece[] = [];
  let size = 0;
  const flush = (...end: Buffer[]) => {
    chunks.push(Buffer.concat([chunks.length === 0 ? OPEN : COMMA, joinJson(held), ...end]));
    held = [];
    size = 0;
  };
  for await (const texts of lists) {
    for (const text of texts) {
      if (size >= CHUNK) flush();
      held.push(text);
      size += text.length;
    }
  }
  flush(CLOSE);
  return chunks;
}
