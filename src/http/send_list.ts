import { Buffer } from "node:buffer";
import type { Response } from "express-types";

/** How much of a list is held before it is sent on. */
const CHUNK = 64 * 1024;

/** JSON text of a list's entities. */
type Pieces = AsyncIterable<string | Uint8Array>;

/**
 * Sends a list. One that comes in one piece, or fits a chunk, is sent whole, with its length and tag; a longer one goes
 * out as it comes, at the pace of the client, and stops when the client leaves.
 *
 * @param streams Whether the answer may begin before the last piece has come.
 */
export async function sendList(res: Response, pieces: Pieces, streams: boolean): Promise<void> {
  let held: (string | Uint8Array)[] = [];
  let size = 0;
  let count = 0;
  for await (const piece of pieces) {
    if (res.destroyed) return;
    // A held piece goes out when another one follows: a list of one piece is never a stream.
    if (streams && size >= CHUNK) {
      await writeParts(res, held);
      held = [];
      size = 0;
    }
    held.push(count++ === 0 ? "[" : ",", piece);
    size += piece.length;
  }
  held.push(count === 0 ? "[]" : "]");
  endList(res, held);
}

function endList(res: Response, held: readonly (string | Uint8Array)[]): void {
  const rest = concat(held);
  if (!res.headersSent) {
    res.status(200).type("json").send(rest);
    return;
  }
  if (!res.destroyed) res.end(rest);
}

/** Writes many small parts as one, and a large one after its comma without copying it. */
async function writeParts(res: Response, parts: readonly (string | Uint8Array)[]): Promise<void> {
  if (!res.headersSent) res.status(200).type("json");
  for (const part of parts.length > 2 ? [concat(parts)] : parts) {
    const bytes = typeof part === "string" ? Buffer.from(part) : part;
    for (let start = 0; start < bytes.length; start += CHUNK) {
      if (res.destroyed) return;
      if (!res.write(bytes.subarray(start, start + CHUNK))) await drained(res);
    }
  }
}

/** Waits until the client has taken what was written, or has left. No listener stays behind. */
function drained(res: Response): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      res.off("drain", go).off("close", go);
      resolve();
    };
    res.on("drain", go).on("close", go);
  });
}

function concat(parts: readonly (string | Uint8Array)[]): Buffer {
  return Buffer.concat(parts.map((part) => typeof part === "string" ? Buffer.from(part) : part));
}
