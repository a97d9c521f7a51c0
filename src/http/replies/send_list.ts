import type { Response } from "express-types";
import { Buffer } from "node:buffer";
import { PIECE, ResponseStream } from "./response_stream.ts";
import { sendGathered } from "./send_gathered.ts";

type Pieces = AsyncIterable<string | Uint8Array>;

/**
 * Sends a list while it comes, at the pace of the client. One that comes in one piece, or fits a chunk, is sent whole,
 * with its length and tag.
 *
 * @returns `false` if a hook has begun an answer of its own meanwhile, and not ended it.
 */
export async function sendList(
  res: Response,
  { pieces, timeoutMs }: { pieces: Pieces; timeoutMs: number },
): Promise<boolean> {
  const stream = new ResponseStream(res, timeoutMs);
  const held = new HeldParts();
  try {
    for await (const piece of pieces) {
      if (!stream.isOpen) return !stream.isTaken;
      // A list of one piece is sent whole, however long it is.
      if (!stream.begun && held.size >= PIECE) {
        res.status(200).type("json");
        if (res.req.method === "HEAD") {
          await stream.end();
          return true;
        }
        await writeParts(stream, held.take());
      }
      held.add(piece);
      if (stream.begun && held.size >= PIECE) await writeParts(stream, held.take());
    }
    const rest = concat(held.end());
    if (stream.begun) await stream.end(rest);
    else if (stream.isOpen) await sendGathered(res.status(200), { pieces: [rest], timeoutMs });
    return !stream.isTaken;
  } finally {
    stream.release();
  }
}

/** What is held of a list: its pieces, with a bracket and commas. */
class HeldParts {
  size = 0;
  #parts: (string | Uint8Array)[] = [];
  #count = 0;

  add(piece: string | Uint8Array): void {
    this.#parts.push(this.#count++ === 0 ? "[" : ",", piece);
    this.size += piece.length;
  }

  /** Gives what is held, and holds it no longer. */
  take(): readonly (string | Uint8Array)[] {
    const parts = this.#parts;
    this.#parts = [];
    this.size = 0;
    return parts;
  }

  /** Gives the rest. */
  end(): readonly (string | Uint8Array)[] {
    return [...this.take(), this.#count === 0 ? "[]" : "]"];
  }
}

/** Writes many small parts as one, and a large one after its comma without copying it. */
async function writeParts(
  stream: ResponseStream,
  parts: readonly (string | Uint8Array)[],
): Promise<void> {
  for (const part of parts.length > 2 ? [concat(parts)] : parts) {
    await stream.write(typeof part === "string" ? Buffer.from(part) : part);
  }
}

function concat(parts: readonly (string | Uint8Array)[]): Buffer {
  return Buffer.concat(parts.map((part) => typeof part === "string" ? Buffer.from(part) : part));
}
