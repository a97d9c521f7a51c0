import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  one,
  prop,
  remove,
  removeAll,
  replace,
  rest,
  StoredFile,
  update,
} from "../../../mod.ts";
import { mount, type MountOptions } from "../../support/support.ts";
import { until } from "../../support/until.ts";

/** A file of a book, which is read and changed below the book. */
export class Attachment extends FrameworkModel {
  @prop()
  title?: string;
  @rest({ methods: [one(), replace(), remove()] })
  @prop({ type: StoredFile, maxBytes: 1_000_000 })
  file?: StoredFile;
}

@rest({
  route: "/books",
  methods: [all(), one(), create(), update(), remove(), removeAll()],
  scope: (req) => req.headers["x-shelf"] === undefined ? {} : { shelf: req.headers["x-shelf"] },
})
export class Book extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop()
  shelf?: string;
  @rest({ methods: [one(), replace(), remove()] })
  @prop({
    type: StoredFile,
    maxBytes: 1_000_000,
    readonly: (req) => req.headers["x-role"] === "reader",
    hidden: (req) => req.headers["x-role"] === "stranger",
  })
  cover?: StoredFile;
  @rest({ methods: [one(), replace()], ifMatch: true })
  @prop({ type: StoredFile, maxBytes: 100_000, accept: ["image/*", "text/plain"], inline: true })
  picture?: StoredFile;
  @rest({ methods: [all(), one(), create(), update(), remove(), removeAll()] })
  @arrayProp({ items: Attachment, embedded: true })
  attachments!: Attachment[];
}

/** Serves books, and stores one of them. */
export async function serveBook(options: MountOptions = {}) {
  const app = await mount([Book], options);
  const { _id } = await app.created("/books", { name: "a" });
  const path = `/books/${_id}`;
  return {
    app,
    path,
    /** The file of the book without rules, but for its size. */
    cover: fileAt(`${app.url}${path}/cover`),
    /** The file of the book whose type is limited, and which needs `If-Match`. */
    picture: fileAt(`${app.url}${path}/picture`, { "if-match": "*" }),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

/** The number of records and of chunks in GridFS. */
export async function storedCounts(): Promise<{ files: number; chunks: number }> {
  const count = (name: string) =>
    mongoose.connection.collection(`mongrove_files.${name}`).countDocuments();
  const [files, chunks] = await Promise.all([count("files"), count("chunks")]);
  return { files, chunks };
}

/** Bytes that look random and are the same in each run. */
export function bytesOf(length: number, seed = 1): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let value = seed;
  for (let at = 0; at < length; at++) {
    value = (Math.imul(value, 1103515245) + 12345) >>> 0;
    bytes[at] = value >>> 16;
  }
  return bytes;
}

export async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("hex");
}

/** The time in some hours, for `Framework.tidy()`. */
export function inHours(hours: number): Date {
  return new Date(Date.now() + hours * 3_600_000);
}

export const tidy = (hours: number) => Framework.tidy({ at: inHours(hours) });

/**
 * Sends the first half of a body, waits until the application stores it, and runs `meanwhile`. Returns the answer after
 * the second half.
 */
export async function putSlowly(
  file: ReturnType<typeof fileAt>,
  meanwhile: () => Promise<unknown>,
  headers: Headers = {},
): Promise<Response> {
  const half = new Uint8Array(300_000);
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const { files } = await storedCounts();
  const answer = file.put(readable, headers);
  void writer.write(half).catch(() => {});
  await until(async () => (await storedCounts()).files > files);
  await meanwhile();
  const rest = async () => {
    await writer.write(half);
    await writer.close();
  };
  rest().catch(() => {});
  return await answer;
}

type Headers = Readonly<Record<string, string>>;

/** Speaks to the file at a URL. */
export function fileAt(url: string, always: Headers = {}) {
  const send = (method: string, headers: Headers, body?: BodyInit) =>
    fetch(url, { method, headers: { ...always, ...headers }, ...body !== undefined && { body } });
  return {
    get: (headers: Headers = {}) => send("GET", headers),
    head: (headers: Headers = {}) => send("HEAD", headers),
    put: (body: BodyInit, headers: Headers = {}) => send("PUT", headers, body),
    remove: (headers: Headers = {}) => send("DELETE", headers),
  };
}

/** Reads an answer to its end, and returns its status and the code of its error. */
export async function outcome(answer: Response | Promise<Response>): Promise<[number, string?]> {
  const { status } = await answer;
  const text = await (await answer).text();
  return status < 400 ? [status] : [status, JSON.parse(text).code];
}
