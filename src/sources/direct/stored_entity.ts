import { Buffer } from "node:buffer";
import type { Document } from "mongoose";
import type { Stored, StoredWriter } from "./stored_writer.ts";

type Values = Readonly<Record<string, unknown>>;

export interface StoredEntityOptions {
  readonly writer: StoredWriter;
  /** Paths that were read besides, which are not for hooks where the read does not show them. */
  readonly also?: readonly string[] | undefined;
  /** Whether its document is to be saved. */
  readonly forChange: boolean;
}

/** A stored entity that hooks look at: they get a document or an instance that is made from its bytes. */
export class StoredEntity {
  readonly stored: Stored;
  readonly values: Values;
  readonly #writer: StoredWriter;
  readonly #forChange: boolean;

  constructor(stored: Stored, { writer, also = [], forChange }: StoredEntityOptions) {
    // Hooks may change bytes in place, and other requests may read the same ones.
    const values =
      (stored instanceof Buffer ? writer.decode(Buffer.from(stored)) : stored) as Record<
        string,
        unknown
      >;
    for (const path of also) if (!writer.shows(path)) delete values[path];
    this.stored = stored;
    this.values = values;
    this.#writer = writer;
    this.#forChange = forChange;
  }

  document(): Document {
    return this.#writer.document(this.values, this.#forChange);
  }

  /** Gives the JSON text of an entity that was made from this one, by its values as they are now. */
  json(values: Values): Buffer | undefined {
    const { stored } = this;
    return stored instanceof Buffer
      ? this.#writer.seen({ bytes: stored, stored: this.values, values })
      : undefined;
  }
}
