/** What a client asks of a list in pages, read and checked by hand. */
export interface PageQuery {
  /** The number of entities. */
  readonly limit: number;
  /** The order by rank. */
  readonly sort: Readonly<Record<"rank", 1 | -1>>;
}

const SIZE = 20;
const MAX = 100;

/** Reads `?limit=20&sort=-rank`, each value as a query parser gives it. */
export function readPageQuery({ limit, sort }: Readonly<Record<string, unknown>>): PageQuery {
  return {
    limit: Math.min(Number(limit) || SIZE, MAX),
    sort: { rank: sort === "-rank" ? -1 : 1 },
  };
}
