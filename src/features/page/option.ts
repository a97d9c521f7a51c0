/** @internal Options of the pages of a list, whose answers have the URL of the next page in the header `Link`. */
export interface PageOptions {
  /** The number of entities of a page for a request without `limit`. The default is `max`. */
  readonly size?: number;
  /** The largest `limit` that clients may send. A larger `limit` answers 400. */
  readonly max: number;
}
