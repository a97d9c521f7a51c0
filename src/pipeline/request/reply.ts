/** What the pipeline answers with. */
export interface Reply {
  /** The status. */
  readonly status: 200 | 201 | 204;
  /** One entity as JSON text. */
  readonly text?: string | Uint8Array;
  /**
   * A list that no hook can refuse any more, so that its answer may begin before the last entity has come: JSON text of
   * one entity at a time, or of several with commas between.
   */
  readonly texts?: AsyncIterable<string | Uint8Array>;
  /** A list that has passed its hooks: its JSON text in pieces, brackets included. */
  readonly gathered?: Uint8Array[];
  /** What names the new entity below the path that it was created at. */
  readonly created?: string;
}
