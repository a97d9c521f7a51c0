import type { Response } from "express-types";
import { noSuchBytes, notFound } from "../../errors/refusals.ts";
import { tagOf, type VersionRead } from "../../pipeline/request/versions.ts";
import { fetchOne } from "../../pipeline/fetch.ts";
import type { Answer } from "../../pipeline/request/answer.ts";
import { isOver } from "../../pipeline/request/response.ts";
import type { OpenLevelContext } from "../../pipeline/request/request_context.ts";
import { cutAnswer } from "../../http/replies/connection.ts";
import { ResponseStream } from "../../http/replies/response_stream.ts";
import { FileField, isWhole, type StoredValue } from "./file_field.ts";
import type { FileConfig } from "./file_fields.ts";
import { disposition } from "./file_name.ts";
import { MissingChunkError } from "./file_store.ts";
import { isShownInline, sentType } from "./media_type.ts";
import { type ByteRange, readRange } from "./range.ts";

/** Other requests may replace the file before its first byte is read. */
const MAX_TRIES = 3;

export async function getFile(context: OpenLevelContext, config: FileConfig): Promise<Answer> {
  const field = await FileField.open(context);
  for (let tries = 1;; tries++) {
    const { entity, version, parentId } = await fetchOne(context);
    const file = entity as object as StoredValue;
    if (!isWhole(file)) throw notFound();
    const tag = fileTag(file, { version, parentId });
    const answer = answerTo(context, { file, tag, config });
    const { range, timeBudget, route: { sendTimeoutMS: timeoutMS } } = { ...answer, ...context };
    const pieces = range && field.store.read(file.file, { range, timeBudget });
    try {
      // Reads a chunk before the status is sent, so that a failure still answers with an error.
      const first = await pieces?.next();
      const ahead = first?.value === undefined ? [] : [first.value];
      return {
        kind: "stream",
        status: 200,
        staysOpen: false,
        send: (res) => sendFile(res, { ...answer, ahead, pieces, timeoutMS }),
      };
    } catch (error) {
      if (!(error instanceof MissingChunkError) || tries === MAX_TRIES) throw error;
    }
  }
}

interface FileAnswer {
  readonly status: 200 | 206 | 304;
  readonly headers: Readonly<Record<string, string>>;
  readonly range: ByteRange | undefined;
}

interface SentFile {
  readonly file: StoredValue;
  readonly tag: string;
  readonly config: FileConfig;
}

function answerTo(
  { req }: OpenLevelContext,
  { file, tag, config }: SentFile,
): FileAnswer {
  const { method, headers: given } = req;
  const { name, type, size } = file;
  const headers = {
    ETag: tag,
    "Accept-Ranges": "bytes",
    "Content-Security-Policy": "sandbox",
    "X-Content-Type-Options": "nosniff",
  };
  if (isKnown(given["if-none-match"], tag)) return { status: 304, headers, range: undefined };
  const asked = method === "GET" && isFresh(req.get("If-Range"), tag)
    ? readRange(given.range, size)
    : "whole";
  if (asked === "none") {
    throw noSuchBytes({ ...headers, "Content-Range": `bytes */${size}` });
  }
  const { start, end } = asked === "whole" ? { start: 0, end: size } : asked;
  const kind = config.inline === true && isShownInline(type) ? "inline" : "attachment";
  return {
    status: asked === "whole" ? 200 : 206,
    headers: {
      ...headers,
      "Content-Type": sentType(type),
      "Content-Disposition": disposition(kind, name),
      "Content-Length": String(end - start),
      ...asked !== "whole" && { "Content-Range": `bytes ${start}-${end - 1}/${size}` },
    },
    range: method === "HEAD" || start === end ? undefined : { start, end },
  };
}

export function fileTag(
  { sha256, type, name }: Pick<StoredValue, "sha256" | "type" | "name">,
  { version = null, parentId }: VersionRead,
): string {
  return tagOf(version, { text: `${sha256} ${type} ${name}`, parentId });
}

const TAG = /^(W\/)?"(?:\d+|none)\.([\w-]{16})/;

/** Leaves out the version of the entity, which may change while the file stays the same. */
function contentOf(tag: string): string | undefined {
  return TAG.exec(tag.trim())?.[2];
}

function isKnown(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === "*" ||
    header.split(",").some((each) => contentOf(each) === contentOf(tag));
}

/** A date or a weak `ETag` in `If-Range` does not prove equal bytes, so the whole file is sent. */
function isFresh(header: string | undefined, tag: string): boolean {
  return header === undefined ||
    TAG.exec(header.trim())?.[1] === undefined && contentOf(header) === contentOf(tag);
}

interface Sending extends FileAnswer {
  readonly ahead: Uint8Array[];
  readonly pieces: AsyncGenerator<Uint8Array> | undefined;
  readonly timeoutMS: number;
}

async function sendFile(
  res: Response,
  { status, headers, ahead, pieces, timeoutMS }: Sending,
): Promise<void> {
  const { req } = res;
  try {
    if (isOver(req as never)) return;
    if (res.headersSent) return await cutAnswer(res);
    res.status(status);
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
    // A shared cache would show the file to other clients. Compression would change the bytes of a `Range`.
    if (!res.hasHeader("Cache-Control")) {
      res.setHeader("Cache-Control", "private, no-cache, no-transform");
    }
    if (pieces === undefined) return void res.end();
    await sendPieces(new ResponseStream(res, timeoutMS), { ahead, pieces });
  } finally {
    // Until this call, the download counts as running, and other transfers get less memory.
    await pieces?.return(undefined);
  }
}

async function sendPieces(
  stream: ResponseStream,
  { ahead, pieces }: Pick<Sending, "ahead"> & { readonly pieces: AsyncGenerator<Uint8Array> },
): Promise<void> {
  try {
    for (let piece = ahead.shift(); piece !== undefined && stream.isOpen;) {
      await stream.write(piece);
      piece = (await pieces.next()).value ?? undefined;
    }
    await stream.end();
  } finally {
    stream.release();
  }
}
