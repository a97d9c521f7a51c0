import type { CallOptions } from "../sending/send_request.ts";
import type { Shown } from "./json.ts";
import type { MatchOptions } from "./options.ts";

/** @internal The names of the properties that hold files. */
export type FileName<M> =
  & {
    [K in keyof M]-?: Shown<M, K> extends never ? never
      : IsFile<NonNullable<M[K]>> extends true ? K
      : never;
  }[keyof M]
  & string;

/** @internal */
export type IsFile<V> = 0 extends 1 & V ? false : "~file" extends keyof V ? true : false;

/** The description of a stored file, which the JSON of an entity has in the property of the file. */
export interface FileJson {
  /** The name that the upload has given the file, or else the name of the property. */
  readonly name: string;
  /** The media type that the upload has given the file, such as `"image/png"`. The server has not checked the bytes. */
  readonly type: string;
  /** The number of bytes. */
  readonly size: number;
  /** The SHA-256 hash of the bytes, as 64 hexadecimal digits. */
  readonly sha256: string;
  /** The time of the upload in ISO 8601, such as `"2026-01-31T12:00:00.000Z"`. */
  readonly at: string;
}

/** @internal */
export interface PutOptions extends MatchOptions {
  /** The name that the server stores for the file. The default is the name of the given `File`. */
  readonly name?: string | undefined;
  /** Whether the call fails with a 412 if the property has a file already. */
  readonly createOnly?: boolean | undefined;
}

/** The operations on the file in one property of an entity, which `file()` of a resource returns. */
export interface FileResource {
  /**
   * Reads the file. The returned answer has the bytes as its body, as in `await (await file.get()).blob()`. The time
   * limit of the call ends with the headers of the answer, but the `signal` of the call also ends the body.
   */
  get(options?: CallOptions): Promise<Response>;
  /**
   * Stores a file instead of the present file, and returns its description. The upload has a time limit only with the
   * option `timeoutMS`. With `ifMatch` or `createOnly`, the client never repeats the request, because the server would
   * refuse the repetition of a first attempt whose answer was lost.
   */
  put(file: Blob, options?: PutOptions): Promise<FileJson>;
  /** Removes the file. The client never repeats the request, because the repetition of a success would answer 404. */
  remove(options?: MatchOptions): Promise<void>;
}
