import { Buffer } from "node:buffer";
import { identifierIn } from "../../../json/transcode/documents.ts";
import { RecentDocuments } from "./recent_documents.ts";
import type { Stored, StoredWriter } from "./stored_writer.ts";

/**
 * Tags of answers that clients have asked for again. A tag is known as long as not a byte of the stored document has
 * changed, whoever writes it: then neither the text of the answer nor its hash has to be made again.
 */
const known: RecentDocuments<string> = new RecentDocuments({
  most: 16 * 2 ** 20,
  largest: 2 ** 20,
});

/** The JSON text of one entity, which is made when it is needed. */
export class LateText {
  readonly #writer: StoredWriter;
  readonly #stored: Stored;
  /** What its tag is known by; `undefined` where it cannot be known. */
  readonly #key: string | undefined;
  #isExact = false;

  constructor(writer: StoredWriter, stored: Stored) {
    this.#writer = writer;
    this.#stored = stored;
    const id = Buffer.isBuffer(stored) ? identifierIn(stored) : undefined;
    this.#key = id && `${writer.name} ${id}`;
  }

  /** The tag that the text has had before, if it would be the same text. */
  get tag(): string | undefined {
    const before = this.#key === undefined ? undefined : known.find(this.#key);
    return before?.bytes.equals(this.#stored as Buffer) ? before.note : undefined;
  }

  write(): Buffer {
    const before = this.#writer.hydrated;
    const text = this.#writer.joined([this.#stored]);
    // What Mongoose writes may depend on more than what is stored: a default may be the time.
    this.#isExact = this.#writer.hydrated === before;
    return text;
  }

  keep(tag: string): void {
    if (!this.#isExact || this.#key === undefined) return;
    known.keep(this.#key, { bytes: this.#stored as Buffer, note: tag });
  }
}
