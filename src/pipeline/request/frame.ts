import type { JsonPiece, Separator } from "../../json/bytes/json_writer.ts";

export type Texts = AsyncIterable<JsonPiece> | Iterable<JsonPiece>;

/** The media type of a list in an answer, and the texts that begin, separate and end its entities. */
export interface Frame {
  readonly type: string;
  readonly open: string;
  readonly separator: Separator;
  readonly close: string;
  /** The whole text of a list without entities. A table without rows still has its header row. */
  readonly empty: string;
  /** Converts the JSON texts of entities into another form, such as the rows of a table. */
  readonly rows?: (texts: Texts) => AsyncIterable<JsonPiece>;
}
