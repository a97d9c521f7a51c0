/** A request to try, as a line for a shell. */
export interface Curl {
  /** What it shows. */
  readonly title: string;
  /** The line. */
  readonly line: string;
}

/** What the lines are about. */
export interface CurlOptions {
  /** Where the demo listens, without a trailing slash. */
  readonly url: string;
  /** The key that lets writes pass. */
  readonly key: string;
  /** The identifier of a movie. */
  readonly id: string;
}

const BODY = `-H 'content-type: application/json' ` +
  `-d '{"name":"Playground","description":"A test","year":2024}'`;

/** Gives the five requests that the demo prints. */
export function curls({ url, key, id }: CurlOptions): Curl[] {
  const movies = `${url}/movies`;
  return [
    {
      title: "movies since 2000, the newest first, their names only",
      line: `curl -G ${movies} --data-urlencode 'q={"year":{"$gte":2000}}' ` +
        `-d sort=-year -d select=name`,
    },
    {
      title: "one movie, with its actors",
      line: `curl ${quote(`${movies}/${id}?populate=actors`)}`,
    },
    {
      title: "a new movie, with the key",
      line: `curl ${movies} -H ${quote(`authorization: ${key}`)} ${BODY}`,
    },
    { title: "without the key: 401", line: `curl ${movies} ${BODY}` },
    {
      title: "an attack, refused: 400",
      line: `curl -G ${movies} --data-urlencode 'q={"$where":"sleep(5000)"}'`,
    },
  ];
}

/** Quotes a word for the shell. */
function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
