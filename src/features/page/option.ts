/**
 * @internal Options of the pages of a list. A list with pages answers with a limited number of entities, and with the
 * URL of the next page in the header `Link`.
 */
export interface PageOptions {
  /** The number of entities of a page for a request without `limit`. The default is `max`. */
  readonly size?: number;
  /** The largest `limit` that clients may send. A larger `limit` answers 400. */
  readonly max: number;
}
