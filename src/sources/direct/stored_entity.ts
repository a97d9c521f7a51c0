import type { Document } from "mongoose";
import type { Stored, StoredWriter } from "./stored_writer.ts";

interface StoredEntityOptions {
  readonly stored: Stored;
  /** What the driver makes of it. */
  readonly values: object;
  readonly writer: StoredWriter;
  /** Whether its document is to be saved. */
  readonly forChange: boolean;
}

/** A stored entity that hooks look at: they get a document or an instance that is made from its values. */
export class StoredEntity {
  readonly stored: Stored;
  readonly values: object;
  readonly #writer: StoredWriter;
  readonly #forChange: boolean;

  constructor({ stored, values, writer, forChange }: StoredEntityOptions) {
    this.stored = stored;
    this.values = values;
    this.#writer = writer;
    this.#forChange = forChange;
  }

  document(): Document {
    return this.#writer.document(this.values, this.#forChange);
  }
}
