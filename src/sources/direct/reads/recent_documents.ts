import { Buffer } from "node:buffer";

/** What an entry costs besides its document: the key, the note, the buffer's own object and the place in the map. */
const ENTRY_BYTES = 512;

export interface RecentDocumentsOptions {
  /** The most bytes that are held in all. */
  readonly most: number;
  /** The most bytes of one document that is held. */
  readonly largest: number;
}

/** A document as it was stored, and what is known of it. */
export interface RecentDocument<N> {
  readonly bytes: Buffer;
  readonly note: N;
}

/** Holds documents as they were stored. Those that were used last stay. */
export class RecentDocuments<N> {
  readonly #options: RecentDocumentsOptions;
  /** Those that were used last are at the end. */
  readonly #held = new Map<string, RecentDocument<N>>();
  #size = 0;

  constructor(options: RecentDocumentsOptions) {
    this.#options = options;
  }

  find(key: string): RecentDocument<N> | undefined {
    const found = this.#held.get(key);
    if (found === undefined) return undefined;
    this.#held.delete(key);
    this.#held.set(key, found);
    return found;
  }

  keep(key: string, { bytes, note }: RecentDocument<N>): void {
    const { most, largest } = this.#options;
    this.#drop(key);
    if (bytes.length > Math.min(largest, most)) return;
    this.#held.set(key, { bytes: ownCopy(bytes), note });
    this.#size += bytes.length + ENTRY_BYTES;
    for (const [oldest] of this.#held) {
      if (this.#size <= most) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    const held = this.#held.get(key);
    if (held === undefined) return;
    this.#size -= held.bytes.length + ENTRY_BYTES;
    this.#held.delete(key);
  }
}

/** Copies bytes into memory of their own: they are a part of a larger answer, and `Buffer.from()` takes a part of 8 KB. */
function ownCopy(bytes: Buffer): Buffer {
  const copy = Buffer.alloc(bytes.length);
  copy.set(bytes);
  return copy;
}
