import type { Response } from "express-types";
import { notFound } from "../../errors/refusals.ts";
import { tagOf, type VersionRead } from "../../pipeline/request/versions.ts";
import { fetchOne } from "../../pipeline/fetch.ts";
import { isOver, type Reply } from "../../pipeline/request/reply.ts";
import type { OpenLevelContext } from "../../pipeline/request/request_context.ts";
import { cutAnswer } from "../../http/replies/connection.ts";
import { ResponseStream } from "../../http/replies/response_stream.ts";
import { FileField, isWhole, type StoredValue } from "./file_field.ts";
import type { FileRules } from "./file_fields.ts";
import { disposition } from "./file_name.ts";
import { MissingChunkError } from "./file_store.ts";
import { isShownInline, sentType } from "./media_type.ts";
import { type ByteRange, readRange } from "./range.ts";

/**
 * The most times that a file is looked up for a download, if other requests replace it between the look-up and its
 * first byte.
 */
const MAX_TRIES = 3;

export async function getFile(context: OpenLevelContext, rules: FileRules): Promise<Reply> {
  const field = await FileField.open(context);
  for (let tries = 1;; tries++) {
    const { entity, version, parentId } = await fetchOne(context);
    const file = entity as object as StoredValue;
    if (!isWhole(file)) throw notFound();
    const tag = fileTag(file, { version, parentId });
    const answer = answerTo(context, { file, tag, rules });
    const { range, timeBudget, route: { sendTimeoutMS: timeoutMS } } = { ...answer, ...context };
    const pieces = range && field.store.read(file.file, { range, timeBudget });
    try {
      // The first chunk of the file is read before the status of the answer is sent, so that the answer to a failed
      // read can still have the status of an error.
      const first = await pieces?.next();
      const ahead = first?.value === undefined ? [] : [first.value];
      return {
        status: 200,
        takeOver: (res) => sendFile(res, { ...answer, ahead, pieces, timeoutMS }),
      };
    } catch (error) {
      if (!(error instanceof MissingChunkError) || tries === MAX_TRIES) throw error;
    }
  }
}

interface FileAnswer {
  readonly status: 200 | 206 | 304 | 416;
  readonly headers: Readonly<Record<string, string>>;
  /** The range of bytes that is sent. Missing if the answer has no bytes, such as a 304. */
  readonly range: ByteRange | undefined;
}

interface SentFile {
  readonly file: StoredValue;
  readonly tag: string;
  readonly rules: FileRules;
}

function answerTo(
  { req }: OpenLevelContext,
  { file, tag, rules }: SentFile,
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
    : undefined;
  if (asked === "none") {
    const none = { "Content-Range": `bytes */${size}`, "Content-Length": "0" };
    return { status: 416, headers: { ...headers, ...none }, range: undefined };
  }
  const { start, end } = asked ?? { start: 0, end: size };
  const kind = rules.inline === true && isShownInline(type) ? "inline" : "attachment";
  return {
    status: asked === undefined ? 200 : 206,
    headers: {
      ...headers,
      "Content-Type": sentType(type),
      "Content-Disposition": disposition(kind, name),
      "Content-Length": String(end - start),
      ...asked && { "Content-Range": `bytes ${start}-${end - 1}/${size}` },
    },
    range: method === "HEAD" || start === end ? undefined : { start, end },
  };
}

/** Returns the `ETag` of a file, which has the version of its entity and a hash of the file. */
export function fileTag(
  { sha256, type, name }: Pick<StoredValue, "sha256" | "type" | "name">,
  { version = null, parentId }: VersionRead,
): string {
  return tagOf(version, { text: `${sha256} ${type} ${name}`, parentId });
}

const TAG = /^(W\/)?"(?:\d+|none)\.([\w-]{16})/;

/**
 * Returns the part of an `ETag` that depends on the file alone, so that a client that has the file need not load it
 * again. The other part is the version of the entity, which changes although the file stays the same.
 */
function contentOf(tag: string): string | undefined {
  return TAG.exec(tag.trim())?.[2];
}

/** Whether the client has the file already, by `If-None-Match`, so that the answer is 304. */
function isKnown(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === "*" ||
    header.split(",").some((each) => contentOf(each) === contentOf(tag));
}

/**
 * Whether a requested range continues the file that the client has, by `If-Range`. A date and a weak `ETag` do not
 * identify the bytes, so the whole file is sent to a client that sends one of them.
 */
function isFresh(header: string | undefined, tag: string): boolean {
  return header === undefined ||
    TAG.exec(header.trim())?.[1] === undefined && contentOf(header) === contentOf(tag);
}

interface Sending extends FileAnswer {
  /**
   * The first chunk of the file, which was read before the status was sent. The list is emptied when the chunk is sent,
   * so that its memory can be freed.
   */
  readonly ahead: Uint8Array[];
  readonly pieces: AsyncGenerator<Uint8Array> | undefined;
  /** The time in which the client must receive each chunk of the file, in milliseconds. */
  readonly timeoutMS: number;
}

/**
 * Sends the answer with a file. The next chunk is read only when the client has received enough of the earlier ones.
 */
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
    // A shared cache, such as a CDN, must not store the file, because other clients may not be allowed to see it.
    // Compression would change the bytes to which a `Range` refers.
    if (!res.hasHeader("Cache-Control")) {
      res.setHeader("Cache-Control", "private, no-cache, no-transform");
    }
    if (pieces === undefined) return void res.end();
    await sendPieces(new ResponseStream(res, timeoutMS), { ahead, pieces });
  } finally {
    // The chunks count as a running download until they are closed, also if the client has disconnected before its
    // first byte.
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
