import type { JsonPiece, Separator } from "../../json/bytes/json_writer.ts";

export type Texts = AsyncIterable<JsonPiece> | Iterable<JsonPiece>;

export interface Frame {
  readonly type: string;
  readonly open: string;
  readonly separator: Separator;
  readonly close: string;
  /** The answer without entities. In CSV, the header row. */
  readonly empty: string;
  readonly rows?: (texts: Texts) => AsyncIterable<JsonPiece>;
}
