import { Buffer } from "node:buffer";
import { identifierIn } from "../../../json/transcode/documents.ts";
import { KnownTags } from "./known_tags.ts";
import type { Stored, StoredWriter } from "./stored_writer.ts";

const known: KnownTags = new KnownTags();

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
    return this.#key && known.find(this.#key, this.#stored as Buffer);
  }

  write(): Buffer {
    const before = this.#writer.hydrated;
    const text = this.#writer.joined([this.#stored]);
    // What Mongoose writes may depend on more than what is stored: a default may be the time.
    this.#isExact = this.#writer.hydrated === before;
    return text;
  }

  keep(tag: string): void {
    if (this.#isExact && this.#key) known.keep(this.#key, { bytes: this.#stored as Buffer, tag });
  }
}
