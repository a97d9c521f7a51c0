import { sendCurl } from "../../harness/curl.ts";

const ID = /[0-9a-f]{24}/g;

/** A time, as JSON has it. */
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;

/** The hash in a tag of an entity, as JSON has it. */
const HASH = /(?<=\\"\d+\.)[\w-]{16}(?=\\")/g;

/** An API key. */
const KEY = /mgv_[a-z0-9]{8}_[\w-]{49}/g;

/** The beginning of an API key, as JSON has it. */
const PREFIX = /(?<="prefix":")[a-z0-9]{8}/g;

/** The place in a link. */
const CURSOR = /(?<=after=)[\w-]+/g;

/** Plays requests of a page, whose identifiers, times and links differ from those that a database gives. */
export class Rehearsal {
  /** The identifiers and places that the application gave, by those on the page. */
  readonly #given = new Map<string, string>();

  readonly #jars: ReadonlyMap<string, string>;

  /** The headers of the last answer. */
  #headers = new Headers();

  /** @param jars The cookies in each file that the lines of the page name. */
  constructor(jars: ReadonlyMap<string, string> = new Map()) {
    this.#jars = jars;
  }

  /**
   * Sends a curl line of the page.
   *
   * @param url Where the application listens.
   * @param line The line.
   * @param expected The answer on the page; identifiers that are new in it stand for those that come.
   * @returns The status and the body, with the identifiers of the page.
   */
  async play(url: string, line: string, expected: string): Promise<string> {
    const sent = line.replace("http://127.0.0.1:3000", url)
      .replaceAll(CURSOR, (cursor) => this.#given.get(cursor) ?? cursor)
      .replaceAll(KEY, (key) => this.#given.get(key) ?? key)
      .replaceAll(ID, (id) => this.#given.get(id) ?? id);
    const { status, text, headers } = await sendCurl(sent, this.#jars);
    this.#headers = headers;
    this.#learn(expected, text);
    const shown = this.#show(text).replaceAll("\r\n", "\n");
    return `${status} ${/<pre>(.*)<\/pre>/.exec(shown)?.[1] ?? shown}`.trimEnd();
  }

  /**
   * Gives headers of the last answer, with the identifiers of the page.
   *
   * @param lines The lines that the page shows.
   */
  headers(lines: readonly string[]): string[] {
    return lines.map((line) => {
      const name = line.slice(0, line.indexOf(":"));
      const value = this.#headers.get(name) ?? "";
      const [mine] = line.match(CURSOR) ?? [];
      const [its] = value.match(CURSOR) ?? [];
      if (mine !== undefined && its !== undefined) this.#given.set(mine, its);
      return `${name}: ${this.#show(value)}`;
    });
  }

  #show(text: string): string {
    return [...this.#given].reduce((shown, [mine, its]) => shown.replaceAll(its, mine), text);
  }

  #learn(expected: string, text: string): void {
    for (const pattern of [ID, TIME, HASH, KEY, PREFIX]) {
      this.#learnBy(pattern, { expected, text });
    }
  }

  #learnBy(pattern: RegExp, { expected, text }: { expected: string; text: string }): void {
    const known = new Set(this.#given.values());
    const mine = new Set(expected.match(pattern)).difference(this.#given);
    const its = [...new Set(text.match(pattern)).difference(known)];
    for (const [index, id] of [...mine].entries()) {
      const given = its[index];
      if (given !== undefined) this.#given.set(id, given);
    }
  }
}
