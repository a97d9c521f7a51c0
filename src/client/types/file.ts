import type { CallOptions } from "../sending/send_request.ts";
import type { Shown } from "./json.ts";
import type { CreateOnlyOption, MatchOptions } from "./options.ts";

/** @internal */
export type FileName<M> =
  & {
    [K in keyof M]-?: Shown<M, K> extends never ? never
      : IsFile<NonNullable<M[K]>> extends true ? K
      : never;
  }[keyof M]
  & string;

/** @internal */
export type IsFile<V> = 0 extends 1 & V ? false : "~file" extends keyof V ? true : false;

/** The description of a stored file in the JSON of an entity. */
export interface FileJson {
  /** The name from the upload, or else the name of the property. */
  readonly name: string;
  /** The media type from the upload, such as `"image/png"`. The server does not check the bytes. */
  readonly type: string;
  /** The number of bytes. */
  readonly size: number;
  /** The SHA-256 of the bytes, as 64 hexadecimal digits. */
  readonly sha256: string;
  /** The time of the upload in ISO 8601. */
  readonly at: string;
}

/** @internal */
export interface PutOptions extends MatchOptions, CreateOnlyOption {
  /** The stored name. The default is the name of the given `File`. */
  readonly name?: string | undefined;
}

/** The operations on the file in a property of an entity. */
export interface FileResource {
  /**
   * Reads the file, as in `await (await file.get()).blob()`. The time limit of the call ends with the headers of the
   * answer, but its `signal` also aborts the body.
   */
  get(options?: CallOptions): Promise<Response>;
  /**
   * Stores or replaces the file, and returns its description. The upload has a time limit only with `timeoutMS`. With
   * `ifMatch` or `createOnly`, the client never repeats the request, because a second attempt after a success would be
   * refused.
   */
  put(file: Blob, options?: PutOptions): Promise<FileJson>;
  /**
   * Removes the file. The client never repeats the request, because a second attempt after a success would get a 404.
   */
  remove(options?: MatchOptions): Promise<void>;
}
