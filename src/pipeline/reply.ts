/** What the pipeline answers with. */
export interface Reply {
  /** The status. */
  readonly status: 200 | 201 | 204;
  /** One entity as JSON text. */
  readonly text?: string | Uint8Array;
  /** A list: JSON text of one entity at a time, or of several with commas between. */
  readonly texts?: AsyncIterable<string | Uint8Array>;
  /** Whether the answer may begin before the last entity has come: no hook can refuse any more. */
  readonly streams?: boolean;
  /** What names the new entity below the path that it was created at. */
  readonly created?: string;
}
