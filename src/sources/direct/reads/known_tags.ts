import { Buffer } from "node:buffer";

/** The most bytes that are held in all. */
const MOST_BYTES = 16 * 2 ** 20;

/** The most bytes of one document that is held. */
const LARGEST = 2 ** 20;

/** What an entry costs besides its document: the key, the tag, the buffer's own object and the place in the map. */
const ENTRY_BYTES = 512;

export interface Known {
  /** The stored document that the tag stands for. */
  readonly bytes: Buffer;
  readonly tag: string;
}

/**
 * Tags of answers that clients have asked for again. A tag is known as long as not a byte of the stored document has
 * changed, whoever writes it: then neither the text of the answer nor its hash has to be made again.
 */
export class KnownTags {
  readonly #most: number;
  /** By the writer of the text and the identifier. Those that were used last are at the end. */
  readonly #known = new Map<string, Known>();
  #size = 0;

  constructor(most: number = MOST_BYTES) {
    this.#most = most;
  }

  find(key: string, stored: Buffer): string | undefined {
    const known = this.#known.get(key);
    if (known === undefined || !known.bytes.equals(stored)) return undefined;
    this.#known.delete(key);
    this.#known.set(key, known);
    return known.tag;
  }

  keep(key: string, { bytes, tag }: Known): void {
    this.#drop(key);
    if (bytes.length > Math.min(LARGEST, this.#most)) return;
    // The document is a part of a larger answer of the database, which must not be held.
    this.#known.set(key, { bytes: Buffer.from(bytes), tag });
    this.#size += bytes.length + ENTRY_BYTES;
    for (const [oldest] of this.#known) {
      if (this.#size <= this.#most) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    const known = this.#known.get(key);
    if (known === undefined) return;
    this.#size -= known.bytes.length + ENTRY_BYTES;
    this.#known.delete(key);
  }
}
