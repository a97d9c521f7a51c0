import type { Response } from "express-types";
import type { JsonPiece } from "../../json/bytes/json_writer.ts";
import type { Found } from "../pieces.ts";
import type { Frame } from "./frame.ts";

interface Shared {
  readonly status: 200 | 201 | 204 | 207;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TextAnswer extends Shared {
  readonly kind: "text";
  readonly text?: string | Uint8Array;
  /** The version for the `ETag`, or `null` without one. */
  readonly version?: number | null;
  /** Becomes part of the `ETag` if the path may lead to another document later, which must not accept this tag. */
  readonly parentId?: string | undefined;
  readonly created?: string;
  readonly affected?: number | undefined;
}

export interface ListAnswer extends Shared {
  readonly kind: "list";
  /** Only lists without hooks are read while they are sent, because the status cannot change after the first piece. */
  readonly pieces: AsyncIterable<JsonPiece> | readonly JsonPiece[];
  readonly frame: Frame | undefined;
  readonly found: Found;
}

/** The results of an import are sent while it runs. */
export interface ResultsAnswer extends Shared {
  readonly kind: "results";
  readonly lines: AsyncIterable<string>;
  /** Ends `lines` early for a closing server. */
  readonly stop: () => void;
}

interface StreamAnswer extends Shared {
  readonly kind: "stream";
  readonly send: (res: Response) => Promise<void>;
  /** A closing server refuses such a request with a 503. */
  readonly staysOpen: boolean;
}

export type Answer = TextAnswer | ListAnswer | ResultsAnswer | StreamAnswer;
