import type { CallOptions } from "../sending/send_request.ts";
import type { Shown } from "./json.ts";
import type { MatchOptions } from "./options.ts";

/**
 * The names of the properties that hold files, for `file()`.
 *
 * @typeParam M The model.
 */
export type FileName<M> =
  & {
    [K in keyof M]-?: Shown<M, K> extends never ? never
      : IsFile<NonNullable<M[K]>> extends true ? K
      : never;
  }[keyof M]
  & string;

/** @internal Whether a field of the type `V` holds a file. */
export type IsFile<V> = 0 extends 1 & V ? false : "~file" extends keyof V ? true : false;

/** The description of a file in an answer. */
export interface FileJson {
  /** The name of the file. */
  readonly name: string;
  /** The media type of the file. */
  readonly type: string;
  /** The number of bytes. */
  readonly size: number;
  /** The SHA-256 hash of the bytes, as 64 hexadecimal digits. */
  readonly sha256: string;
  /** The time of the upload. */
  readonly at: string;
}

/** Options of `put()`, which stores a file. */
export interface PutOptions extends MatchOptions {
  /** The name of the file. The default is the name of a `File`. */
  readonly name?: string | undefined;
  /** Whether the file is only stored if there is none yet. */
  readonly createOnly?: boolean | undefined;
}

/** The operations on a file of an entity. */
export interface FileResource {
  /**
   * Reads the file. The caller reads the body of the returned answer, as in `await (await file.get()).blob()`. The time
   * limit of the call ends with the headers of the answer.
   */
  get(options?: CallOptions): Promise<Response>;
  /**
   * Stores a file, in the place of the present file. Returns the description of the file. An upload has no time limit
   * without the option `timeoutMS`. With `ifMatch` or `createOnly`, the client does not repeat the request, because the
   * repetition could be refused after a first attempt that has stored the file.
   */
  put(file: Blob, options?: PutOptions): Promise<FileJson>;
  /** Removes the file. The client never repeats the request. */
  remove(options?: MatchOptions): Promise<void>;
}
