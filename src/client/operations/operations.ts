import { etagOf, matchOf, rememberEtag } from "../etags.ts";
import type { Incoming, Outgoing, Send } from "../sending/send_request.ts";
import type { AnyOptions } from "./any_options.ts";
import { readPage } from "./pages.ts";
import type { Page } from "./pages.ts";
import { queryString } from "./query_string.ts";
import { revive } from "./revive.ts";

type Headings = Readonly<Record<string, string>>;
type Sent = Pick<Outgoing, "method" | "headers" | "body"> & { readonly next?: string | undefined };

/** The operations at one URL: that of a list, or that of an entity. */
export class Operations {
  readonly #send: Send;
  readonly #url: string;

  constructor(send: Send, url: string) {
    this.#send = send;
    this.#url = url;
  }

  /** The operations at a path below, which is not encoded. */
  at(path: string): Operations {
    return new Operations(this.#send, this.#url + path);
  }

  below(...segments: readonly string[]): Operations {
    return new Operations(this.#send, [this.#url, ...segments.map(segmentOf)].join("/"));
  }

  async list(options: AnyOptions = {}): Promise<Page<object>> {
    const { count, next } = options;
    if (next !== undefined && (typeof next !== "string" || next === "")) {
      throw new TypeError(`Cannot read the next page: "${next}" is no next of a page`);
    }
    const headers: Headings = count ? { prefer: "count=exact" } : {};
    const page = readPage(await this.#request({ method: "GET", headers, next }, options));
    for (const item of page.items) revive(item, options.revive);
    return page;
  }

  async *each(options: AnyOptions = {}): AsyncGenerator<object, void, undefined> {
    let page = await this.list(options);
    yield* page.items;
    let earlier = options.next;
    for (let count = 1; page.next !== undefined; count++) {
      const { next } = page;
      if (next === earlier) throw new Error(`Cannot read the next page: "${next}" comes again`);
      // One link is kept for twice as long each time, so that a circle of any length is found.
      if (Number.isInteger(Math.log2(count))) earlier = next;
      page = await this.list({ ...options, next });
      yield* page.items;
    }
  }

  async read(options: AnyOptions = {}): Promise<unknown> {
    const { known } = options;
    const etag = known && etagOf(known);
    // Without it, some runtimes add `no-cache` to a request with a condition, and get no 304.
    const headers: Headings = etag ? { "if-none-match": etag, "cache-control": "max-age=0" } : {};
    const incoming = await this.#request({ method: "GET", headers }, options);
    return etag && isSame(incoming, etag) ? known : entityOf(incoming, options);
  }

  async create(body: object, options: AnyOptions = {}): Promise<unknown> {
    return entityOf(await this.#request({ method: "POST", body }, options), options);
  }

  async update(body: object, options: AnyOptions = {}): Promise<unknown> {
    return entityOf(await this.#request({ method: "PATCH", body }, options), options);
  }

  async remove(options: AnyOptions = {}): Promise<void> {
    await this.#request({ method: "DELETE" }, options);
  }

  async removeAll(options: AnyOptions = {}): Promise<void> {
    if (typeof options.q !== "object" || options.q === null) {
      throw new TypeError("Cannot remove all: q is missing; { q: {} } selects everything");
    }
    await this.remove(options);
  }

  async act(body: object | undefined, options: AnyOptions = {}): Promise<unknown> {
    const { method = "POST" } = options;
    if (method === "GET" && body !== undefined) {
      throw new TypeError("Cannot send the body of the action: its method is GET");
    }
    return entityOf(await this.#request({ method, body }, options), options);
  }

  #request({ method, body, headers, next }: Sent, options: AnyOptions): Promise<Incoming> {
    if ("_id" in options || "toJSON" in options) {
      throw new TypeError("Cannot read the options: they are an entity or an identifier");
    }
    const { ifMatch } = options;
    return this.#send({
      method,
      url: this.#url + queryString(options, next),
      headers: {
        ...headers,
        ...body && { "content-type": "application/json" },
        ...ifMatch !== undefined && { "if-match": matchOf(ifMatch) },
      },
      body,
      repeatable: method === "GET" || (method === "PATCH" && !isBound(options)),
      options,
    });
  }
}

/** Whether a write is bound to a state of the entity: it may refuse its own repetition. */
function isBound({ ifMatch, q, headers, parameters }: AnyOptions): boolean {
  return (ifMatch ?? q ?? parameters?.q) !== undefined || new Headers(headers).has("if-match");
}

/** A cache of the runtime may have turned a 304 into the answer that it has stored. */
function isSame({ status, headers }: Incoming, etag: string): boolean {
  return status === 304 || headers.get("etag") === etag;
}

function entityOf({ headers, body }: Incoming, options: AnyOptions): unknown {
  rememberEtag(body, headers.get("etag"));
  return revive(body, options.revive);
}

/**
 * Writes a segment of a path.
 *
 * @throws {TypeError} If it would lead to another path, such as that of the whole list.
 */
function segmentOf(text: string): string {
  if (typeof text !== "string" || ["", ".", ".."].includes(text)) {
    throw new TypeError(`Cannot build the URL: "${text}" is no identifier`);
  }
  return encodeURIComponent(text);
}
