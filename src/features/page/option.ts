/** @internal Options of the pages of a list. The header `Link` has the URL of the next page. */
export interface PageOptions {
  /** The number of entities of a page without `limit`, by default `max`. */
  readonly size?: number;
  /** The largest `limit` of clients. A larger `limit` answers 400. */
  readonly max: number;
}
