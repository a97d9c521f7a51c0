import { Buffer } from "node:buffer";

/** Puts the JSON text of entities in brackets. */
export function toArray(text: string | Uint8Array): Buffer {
  if (typeof text === "string") return Buffer.from(`[${text}]`);
  return Buffer.concat([Buffer.from("["), text, Buffer.from("]")]);
}

/** How much text is joined into one buffer. */
const CHUNK = 64 * 1024;

/** Joins the JSON texts of a list into few buffers, brackets included. */
export async function gatherList(lists: AsyncIterable<readonly string[]>): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  let held: string[] = [];
  let size = 0;
  const flush = (end: string) => {
    chunks.push(Buffer.from((chunks.length === 0 ? "[" : ",") + held.join(",") + end));
    held = [];
    size = 0;
  };
  for await (const texts of lists) {
    for (const text of texts) {
      if (size >= CHUNK) flush("");
      held.push(text);
      size += text.length;
    }
  }
  flush("]");
  return chunks;
}
