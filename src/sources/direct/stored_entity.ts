import type { Document } from "mongoose";
import type { StoredWriter } from "./stored_writer.ts";

interface StoredEntityOptions {
  /** The decoded entity, as the driver gives it. */
  readonly values: object;
  readonly writer: StoredWriter;
  /** Whether its document is to be saved. */
  readonly forChange: boolean;
}

/** A stored entity that hooks look at: they get a document or an instance that is made from its values. */
export class StoredEntity {
  readonly values: object;
  readonly #writer: StoredWriter;
  readonly #forChange: boolean;

  constructor({ values, writer, forChange }: StoredEntityOptions) {
    this.values = values;
    this.#writer = writer;
    this.#forChange = forChange;
  }

  document(): Document {
    return this.#writer.document(this.values, this.#forChange);
  }
}
