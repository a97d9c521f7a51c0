import type { JsonPiece, Separator } from "../../json/bytes/json_writer.ts";

export type Texts = AsyncIterable<JsonPiece> | Iterable<JsonPiece>;

/** The texts that begin, separate and end the entities of a list. */
export interface Frame {
  readonly type: string;
  readonly open: string;
  readonly separator: Separator;
  readonly close: string;
  /** The whole text of an answer whose list has no entities. In CSV, this text is the header row. */
  readonly empty: string;
  /** Missing if the entities are sent as JSON. */
  readonly rows?: (texts: Texts) => AsyncIterable<JsonPiece>;
}
