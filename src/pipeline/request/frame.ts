import type { JsonPiece, Separator } from "../../json/bytes/json_writer.ts";

export type Texts = AsyncIterable<JsonPiece> | Iterable<JsonPiece>;

/**
 * The format of a list in an answer, such as JSON, one JSON text on each line, or CSV. The format has a media type and
 * the texts that begin, separate and end the entities.
 */
export interface Frame {
  readonly type: string;
  readonly open: string;
  readonly separator: Separator;
  readonly close: string;
  /** The whole text of an answer whose list has no entities. In CSV, this text is the header row. */
  readonly empty: string;
  /**
   * Converts the JSON texts of entities into another format, such as the rows of a CSV table. Missing if the entities
   * are sent as JSON.
   */
  readonly rows?: (texts: Texts) => AsyncIterable<JsonPiece>;
}
