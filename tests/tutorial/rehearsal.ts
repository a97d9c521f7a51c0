import { sendCurl } from "../harness/curl.ts";

const ID = /[0-9a-f]{24}/g;

/** Plays requests of a page, whose identifiers differ from those that a database gives. */
export class Rehearsal {
  /** The identifiers that the database gave, by those on the page. */
  readonly #given = new Map<string, string>();

  /**
   * Sends a curl line of the page.
   *
   * @param url Where the application listens.
   * @param line The line.
   * @param expected The answer on the page; an identifier that is new in it stands for the one that comes.
   * @returns The status and the body, with the identifiers of the page.
   */
  async play(url: string, line: string, expected: string): Promise<string> {
    const sent = line.replace("http://127.0.0.1:3000", url)
      .replaceAll(ID, (id) => this.#given.get(id) ?? id);
    const { status, text } = await sendCurl(sent);
    this.#learn(expected, text);
    const shown = [...this.#given].reduce((body, [mine, its]) => body.replaceAll(its, mine), text);
    return `${status} ${/<pre>(.*)<\/pre>/.exec(shown)?.[1] ?? shown}`.trimEnd();
  }

  #learn(expected: string, text: string): void {
    const news = expected.match(ID)?.find((id) => !this.#given.has(id));
    const known = new Set(this.#given.values());
    const its = text.match(ID)?.find((id) => !known.has(id));
    if (news !== undefined && its !== undefined) this.#given.set(news, its);
  }
}
