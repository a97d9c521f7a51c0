import type { Response } from "express-types";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { awaitTurn, isQueued } from "./await_turn.ts";
import { PIECE, ResponseStream } from "./response_stream.ts";

/** Sends JSON text that is complete, with its length and tag; the pieces that were sent can be collected. */
export async function sendGathered(
  res: Response,
  { pieces, timeoutMs }: { pieces: Uint8Array[]; timeoutMs: number },
): Promise<void> {
  const [first, ...others] = pieces;
  res.type("json");
  if (others.length === 0 && lengthOf(pieces) <= PIECE) return void res.send(first);
  res.setHeader("Content-Length", lengthOf(pieces));
  const tag = res.get("ETag") === undefined ? tagOf(res, pieces) : undefined;
  if (tag !== undefined) res.setHeader("ETag", tag);
  if (res.req.fresh) return endEmpty(res);
  if (res.req.method === "HEAD") return void res.end();
  if (isQueued(res) && !await awaitTurn(res)) return;
  const stream = new ResponseStream(res, timeoutMs);
  try {
    for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) {
      await stream.write(piece);
    }
    await stream.end();
  } finally {
    stream.release();
  }
}

/** Answers that the client has it already. */
function endEmpty(res: Response): void {
  res.status(304);
  for (const name of ["Content-Type", "Content-Length"]) res.removeHeader(name);
  res.end();
}

/** The tag that Express gives to a body. The pieces are not joined: that would double their memory. */
function tagOf(res: Response, pieces: readonly Uint8Array[]): string | undefined {
  const make: unknown = res.app.get("etag fn");
  const kind: unknown = res.app.get("etag");
  if (typeof make !== "function") return undefined;
  if (typeof kind === "function") return String(make(Buffer.concat(pieces)));
  const hash = createHash("sha1");
  for (const piece of pieces) hash.update(piece);
  const tag = `"${lengthOf(pieces).toString(16)}-${hash.digest("base64").slice(0, 27)}"`;
  return kind === "strong" ? tag : `W/${tag}`;
}

function lengthOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}
