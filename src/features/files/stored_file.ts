import mongoose from "mongoose";
import type { Types } from "mongoose";
import type { Hidden } from "../../declare/decorators/field_type.ts";
import { define } from "../../declare/define.ts";
import { FrameworkModel } from "../../declare/model/framework_model.ts";

/** @internal The description of a file in the JSON of its entity. A `GET` to the path of the field reads the bytes. */
export interface FileDescription {
  /** The name from the client without unsafe characters, or the name of the field. */
  readonly name: string;
  /** The unchecked media type from the client. */
  readonly type: string;
  /** The size of the file in bytes. */
  readonly size: number;
  /** The SHA-256 hash of the bytes, in hexadecimal. */
  readonly sha256: string;
  /** When the last byte was stored, by the clock of the server. */
  readonly at: Date;
}

/**
 * The type of a field that holds a file. The entity stores the description, and GridFS the bytes, in the bucket
 * `mongrove_files` of the entity's database.
 *
 * `PUT` to the path of the field stores a file, `GET` reads it, and `DELETE` removes it. Bodies of the entity cannot
 * set the field.
 *
 * @example Let clients upload, read and remove the poster of a movie
 * ```ts
 * import { FrameworkModel, one, prop, remove, replace, rest, StoredFile } from "@mongrove/mongrove";
 *
 * @rest({ route: "/movies", methods: [one()] })
 * class Movie extends FrameworkModel {
 *   @rest({ methods: [one(), replace(), remove()] })
 *   @prop({ type: StoredFile, maxBytes: 10_000_000, accept: ["image/png", "image/jpeg"] })
 *   poster?: StoredFile;
 * }
 * ```
 */
export class StoredFile extends FrameworkModel implements FileDescription {
  /** The name from the client, or the name of the field. */
  declare name: string;
  /** The unchecked media type from the client. */
  declare type: string;
  /** The size of the file in bytes. */
  declare size: number;
  /** The SHA-256 hash of the bytes, in hexadecimal. */
  declare sha256: string;
  /** When the last byte was stored, by the clock of the server. */
  declare at: Date;
  /** The identifier of the bytes in GridFS, for hooks. No answer shows it. */
  declare file: Hidden<Types.ObjectId>;
  /** For the type checker: bodies leave out the field, and answers have the description. */
  declare readonly "~readonly"?: FileDescription;
  /** With this mark, the type checker requires `maxBytes` in `@prop`. */
  declare readonly "~file"?: never;
}

StoredFile.schemaOptions = { _id: false };

const READONLY = { required: true, readonly: true } as const;

define(StoredFile, {
  fields: {
    name: READONLY,
    type: READONLY,
    size: { type: Number, ...READONLY },
    sha256: READONLY,
    at: { type: Date, ...READONLY },
    file: { type: mongoose.Types.ObjectId, hidden: true, ...READONLY },
  },
});
