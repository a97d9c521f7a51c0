import type { Response } from "express-types";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { logHint } from "../../errors/log.ts";
import { MEDIA_TYPES } from "../../pipeline/request/media_types.ts";
import type { Frame } from "../../pipeline/request/frame.ts";
import { tagOf } from "../../pipeline/request/versions.ts";
import type {
  Answer,
  ListAnswer,
  ResultsAnswer,
  TextAnswer,
} from "../../pipeline/request/answer.ts";
import { isOver, pathOf, setHeader } from "../../pipeline/request/response.ts";
import { enclosed, type JsonPiece, PIECE_BYTES } from "../../json/bytes/json_writer.ts";
import { awaitTurn, cutAnswer, isQueued } from "./connection.ts";
import { ResponseStream } from "./response_stream.ts";
import { onServerClose } from "./server_close.ts";

export async function sendAnswer(
  res: Response,
  { answer, timeoutMS }: { readonly answer: Answer; readonly timeoutMS: number },
): Promise<void> {
  if (answer.kind === "stream") return await answer.send(res);
  if (isOver(res.req as FrameworkRequest)) return;
  if (res.headersSent) return await cutBegun(res);
  for (const [name, value] of Object.entries(answer.headers ?? {})) {
    // Middleware may have set this header already.
    if (name === "Link") res.append(name, value);
    else setHeader(res, [name, value]);
  }
  switch (answer.kind) {
    case "results":
      return await sendLines(res, { ...answer, timeoutMS });
    case "list":
      return await sendList(res, { ...answer, timeoutMS });
    default:
      return await sendText(res, { ...answer, timeoutMS });
  }
}

async function sendText(
  res: Response,
  { timeoutMS, ...answer }: TextAnswer & { readonly timeoutMS: number },
): Promise<void> {
  const { status, text, version, created } = answer;
  if (created !== undefined) res.setHeader("Location", locationOf(res, created));
  res.status(status);
  if (version !== undefined && !res.hasHeader("ETag")) {
    res.setHeader("ETag", tagOf(version, answer));
  }
  if (text === undefined) return void res.end();
  // A creation of several entities has no single version, so its answer has no `ETag`.
  const isTagged = status === 200 || version !== undefined;
  await sendGathered(res, { pieces: [text], timeoutMS, isTagged });
}

async function cutBegun(res: Response): Promise<void> {
  const { method, originalUrl } = res.req;
  const [path] = originalUrl.split("?");
  logHint(
    `Cannot answer ${method} ${path}: a hook has begun an answer by itself, and not ended it`,
  );
  await cutAnswer(res);
}

function locationOf({ req }: Response, id: string): string {
  const path = pathOf(req as FrameworkRequest);
  return id === "" ? path : `${path}/${encodeURIComponent(id)}`;
}

async function sendList(
  res: Response,
  { pieces, status, frame = JSON_ARRAY, timeoutMS }: ListAnswer & { readonly timeoutMS: number },
): Promise<void> {
  if (Symbol.asyncIterator in pieces) {
    return await sendWhileRead(res, { texts: pieces, status, frame, timeoutMS });
  }
  res.status(status);
  const all = await framed(pieces, frame);
  await sendGathered(res, { pieces: all, type: frame.type, timeoutMS });
}

interface SentList {
  readonly texts: AsyncIterable<JsonPiece>;
  readonly status: number;
  readonly frame: Frame;
  readonly timeoutMS: number;
}

/** A list of one chunk or at most `PIECE_BYTES` is sent as a whole, with `Content-Length` and `ETag`. */
async function sendWhileRead(
  res: Response,
  { texts, status, frame: { type, rows, open, close, empty }, timeoutMS }: SentList,
): Promise<void> {
  const stream = new ResponseStream(res, timeoutMS);
  let buffered: JsonPiece[] = [open];
  let size = 0;
  const flush = async () => {
    // A single chunk after the opening bracket may be large, so it is not copied.
    const parts = buffered.length > 2 ? [concat(buffered)] : buffered;
    buffered = [];
    size = 0;
    // Engines may keep the array while a slow client reads, so sent chunks are removed.
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
      await stream.write(bytesOf(part));
    }
  };
  try {
    for await (const piece of rows?.(texts) ?? texts) {
      if (!stream.isOpen) break;
      // The headers wait for a further chunk, because a single chunk is sent as a whole.
      if (!stream.begun && size >= PIECE_BYTES) {
        res.status(status).setHeader("Content-Type", type);
        if (res.req.method === "HEAD") return await stream.end();
        await flush();
      }
      buffered.push(piece);
      size += piece.length;
      if (stream.begun && size >= PIECE_BYTES) await flush();
    }
    const rest = size === 0 && !stream.begun ? [empty] : [...buffered, close];
    if (stream.begun) await stream.end(concat(rest));
    else if (stream.isOpen) {
      const pieces = size > PIECE_BYTES ? rest : [concat(rest)];
      const isTagged = status === 200;
      await sendGathered(res.status(status), { pieces, type, isTagged, timeoutMS });
    }
  } finally {
    stream.release();
  }
  if (stream.isTaken) await cutBegun(res);
}

/** The headers wait for the first results, so that an earlier error still has its status. */
async function sendLines(
  res: Response,
  { lines, stop, status, timeoutMS }: ResultsAnswer & { readonly timeoutMS: number },
): Promise<void> {
  const stream = new ResponseStream(res, timeoutMS);
  const stopListening = onServerClose(res.req, stop);
  const begin = () => res.status(status).setHeader("Content-Type", MEDIA_TYPES.ndjson);
  try {
    for await (const text of lines) {
      if (!stream.isOpen) break;
      if (!stream.begun) {
        begin();
        stream.open();
      }
      await stream.write(bytesOf(text));
      stream.flush();
    }
    if (!stream.begun && stream.isOpen) begin();
    await stream.end();
  } finally {
    stopListening();
    stream.release();
  }
  if (stream.isTaken) await cutBegun(res);
}

function bytesOf(text: JsonPiece): Uint8Array {
  return typeof text === "string" ? Buffer.from(text) : text;
}

function concat(parts: readonly JsonPiece[]): Buffer {
  return Buffer.concat(parts.map(bytesOf));
}

/** Sent chunks are removed from `pieces` to free their memory. */
async function sendGathered(
  res: Response,
  { pieces, timeoutMS, type = JSON_TYPE, isTagged = true }: {
    readonly pieces: JsonPiece[];
    readonly type?: string;
    readonly timeoutMS: number;
    readonly isTagged?: boolean;
  },
): Promise<void> {
  res.setHeader("Content-Type", type).setHeader("Content-Length", lengthOf(pieces));
  const tag = isTagged && res.get("ETag") === undefined ? expressTag(res, pieces) : undefined;
  if (tag !== undefined) res.setHeader("ETag", tag);
  if (res.req.fresh) {
    for (const name of ["Content-Type", "Content-Length"]) res.removeHeader(name);
    return void res.status(304).end();
  }
  if (res.req.method === "HEAD") return void res.end();
  const [first = ""] = pieces;
  // `res.send()` takes a fifth longer than this single write.
  if (pieces.length === 1 && first.length <= PIECE_BYTES) return void res.end(first);
  if (isQueued(res) && !await awaitTurn(res)) return;
  const stream = new ResponseStream(res, timeoutMS);
  try {
    for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) {
      await stream.write(bytesOf(piece));
    }
    await stream.end();
  } finally {
    stream.release();
  }
}

/** Joining the chunks would double their memory. */
function expressTag(res: Response, pieces: readonly JsonPiece[]): string | undefined {
  const make: unknown = res.app.get("etag fn");
  const kind: unknown = res.app.get("etag");
  if (typeof make !== "function") return undefined;
  if (typeof kind === "function") return String(make(concat(pieces)));
  const hash = createHash("sha1");
  for (const piece of pieces) hash.update(piece);
  const tag = `"${lengthOf(pieces).toString(16)}-${hash.digest("base64").slice(0, 27)}"`;
  return kind === "strong" ? tag : `W/${tag}`;
}

function lengthOf(pieces: readonly JsonPiece[]): number {
  return pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
}

/** The value that `res.send()` of Express sets. */
const JSON_TYPE = "application/json; charset=utf-8";

const JSON_ARRAY: Frame = {
  type: JSON_TYPE,
  open: "[",
  separator: ",",
  close: "]",
  empty: "[]",
};

/** Joining the chunks of a long list would double its memory. */
async function framed(
  texts: readonly JsonPiece[],
  { open, close, empty, rows }: Frame,
): Promise<Uint8Array[]> {
  const pieces: JsonPiece[] = [];
  for await (const piece of rows?.(texts) ?? texts) pieces.push(piece);
  if (pieces.every(({ length }) => length === 0)) return [enclosed(empty, {})];
  const last = pieces.length - 1;
  return pieces.map((piece, index) =>
    index > 0 && index < last && typeof piece !== "string"
      ? piece
      : enclosed(piece, { open: index === 0 ? open : "", close: index === last ? close : "" })
  );
}
