import { Buffer } from "node:buffer";
import { badFormat } from "../../errors/refusals.ts";
import type { ByteSource } from "./body_reader.ts";

/** The most bytes before the file in the form. */
const MAX_HEAD = 8 * 1024;

/** The most bytes after the last delimiter, where most clients send a line break. */
const MAX_REST = 1024;

const LINE_BREAK = Buffer.from("\r\n");
const EMPTY_LINE = Buffer.from("\r\n\r\n");

export function boundaryOf(contentType: string | undefined): string | undefined {
  if (!/^multipart\/form-data\s*(;|$)/i.test(contentType ?? "")) return undefined;
  const [, quoted, plain] = /;\s*boundary=(?:"([^"\\]+)"|([^\s;"]+))/i.exec(contentType ?? "") ??
    [];
  const boundary = quoted ?? plain ?? "";
  if (/^[\w'()+,./:=? -]{1,70}$/.test(boundary)) return boundary;
  throw badFormat("The form has no valid boundary");
}

/** A form of RFC 7578 with exactly one part. Only one chunk is in memory. */
export class FormFile implements ByteSource {
  readonly #body: ByteSource;
  readonly #delimiter: Buffer;
  #held: Buffer;
  #isDone = false;

  private constructor(body: ByteSource, boundary: string) {
    this.#body = body;
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
    // Adds the line break that only the first delimiter lacks, so that one search finds all delimiters.
    this.#held = LINE_BREAK;
  }

  static async open(
    body: ByteSource,
    boundary: string,
  ): Promise<{ readonly bytes: FormFile; readonly headers: ReadonlyMap<string, string> }> {
    const bytes = new FormFile(body, boundary);
    return { bytes, headers: await bytes.#readHead() };
  }

  /** Call this before `next()`, which takes away the first bytes. */
  async isEmpty(): Promise<boolean> {
    const { length } = this.#delimiter;
    while (this.#held.length < length) await this.#more();
    return this.#held.subarray(0, length).equals(this.#delimiter);
  }

  async next(): Promise<Uint8Array | undefined> {
    while (!this.#isDone) {
      const at = this.#held.indexOf(this.#delimiter);
      if (at >= 0) return await this.#last(at);
      // The last received bytes may be the beginning of a delimiter.
      const sure = this.#held.length - this.#delimiter.length + 1;
      if (sure > 0) return this.#take(sure);
      await this.#more();
    }
    return undefined;
  }

  async #readHead(): Promise<ReadonlyMap<string, string>> {
    const { length } = this.#delimiter;
    while (this.#held.length < length + 2) await this.#more();
    const isBegun = this.#take(length).equals(this.#delimiter);
    if (!isBegun || !this.#held.subarray(0, 2).equals(LINE_BREAK)) {
      throw badFormat("The form does not begin with its boundary");
    }
    let end = this.#held.indexOf(EMPTY_LINE);
    while (end < 0 && this.#held.length <= MAX_HEAD) {
      await this.#more();
      end = this.#held.indexOf(EMPTY_LINE);
    }
    if (end < 0 || end > MAX_HEAD) throw badFormat("The headers of the part are too long");
    const lines = this.#take(end).toString("utf8").split("\r\n");
    this.#take(EMPTY_LINE.length);
    return new Map(lines.map((line) => {
      const [name = "", ...value] = line.split(":");
      return [name.trim().toLowerCase(), value.join(":").trim()];
    }));
  }

  async #last(at: number): Promise<Uint8Array | undefined> {
    const bytes = this.#take(at);
    const end = this.#delimiter.length + 2;
    while (this.#held.length < end) await this.#more();
    if (this.#held.toString("latin1", end - 2, end) !== "--") {
      throw badFormat("The form has more than one part");
    }
    this.#isDone = true;
    let rest = this.#take(this.#held.length).length - end;
    while (rest <= MAX_REST) {
      const more = await this.#body.next();
      if (more === undefined) return bytes.length === 0 ? undefined : bytes;
      rest += more.length;
    }
    throw badFormat("The form has bytes after its end");
  }

  #take(length: number): Buffer {
    const bytes = this.#held.subarray(0, length);
    this.#held = this.#held.subarray(length);
    return bytes;
  }

  async #more(): Promise<void> {
    const chunk = await this.#body.next();
    if (chunk === undefined) throw badFormat("The form has no end");
    this.#held = this.#held.length === 0
      ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
      : Buffer.concat([this.#held, chunk]);
  }
}
