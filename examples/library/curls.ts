/** A request to try. */
export interface Curl {
  /** What it shows. */
  readonly title: string;
  /** The line for a shell. */
  readonly line: string;
}

/** What the lines are about. */
export interface CurlOptions {
  /** Where the application listens, without a trailing slash. */
  readonly url: string;
  /** The identifier of the open shelf. */
  readonly shelf: string;
  /** The identifier of a book on it. */
  readonly book: string;
  /** The identifier of the locked shelf. */
  readonly locked: string;
}

const JSON_TYPE = "-H 'content-type: application/json'";

/** Gives the requests that the application prints. */
export function curls({ url, shelf, book, locked }: CurlOptions): Curl[] {
  const books = `${url}/shelves/${shelf}/books`;
  return [
    {
      title: "the books of a shelf since 1965: the database filters inside the shelf",
      line: `curl -G ${books} --data-urlencode 'q={"year":{"$gte":1965}}'`,
    },
    { title: "a new book", line: `curl ${books} ${JSON_TYPE} -d '{"title":"Fiasco"}'` },
    {
      title: "a change of one book, whatever else happens to the shelf",
      line: `curl -X PATCH ${books}/${book} ${JSON_TYPE} -d '{"year":1961}'`,
    },
    {
      title: "a new author, two levels down: stored, and referred to by the book",
      line: `curl ${books}/${book}/authors ${JSON_TYPE} -d '{"name":"Steve Cox"}'`,
    },
    { title: "the authors of a book", line: `curl ${books}/${book}/authors` },
    { title: "where the shelf stands", line: `curl ${url}/shelves/${shelf}/place` },
    {
      title: "a locked shelf guards its books: 403",
      line: `curl ${url}/shelves/${locked}/books`,
    },
  ];
}
