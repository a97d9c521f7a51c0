/** Options of the pages of a list, which limit the number of entities in one answer. */
export interface PageOptions {
  /** The number of entities of a page for a request without `limit`. The default is `max`. */
  readonly size?: number;
  /** The largest `limit` that clients may send. A larger `limit` answers 400. */
  readonly max: number;
}
