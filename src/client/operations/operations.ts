import { ApiError } from "../api_error.ts";
import { etagOf, matchOf, rememberEtag } from "../etags.ts";
import { LONGEST_TIMER_MS } from "../sending/deadline.ts";
import { type Incoming, mergeHeaders, type Outgoing, type Send } from "../sending/send_request.ts";
import type { AnyOptions } from "./any_options.ts";
import { type Page, readPage } from "./pages.ts";
import { toJson } from "../sending/to_json.ts";

type Headings = Readonly<Record<string, string>>;
type Sent = Pick<Outgoing, "method" | "body" | "bytes" | "keep" | "isList"> & {
  readonly headers?: Headings;
  readonly next?: string | undefined;
};

export class Operations {
  readonly #send: Send;
  readonly #url: string;
  readonly #isKeyed: boolean;

  /** With `isKeyed`, each `POST` has the header `Idempotency-Key`, so that the client can repeat it. */
  constructor(send: Send, url: string, isKeyed = false) {
    this.#send = send;
    this.#url = url;
    this.#isKeyed = isKeyed;
  }

  below(...segments: readonly string[]): Operations {
    return new Operations(this.#send, [this.#url, ...segments.map(segmentOf)].join("/"));
  }

  async list(options: AnyOptions = {}): Promise<Page<object>> {
    const { next } = options;
    if (next !== undefined && (typeof next !== "string" || next === "")) {
      throw new TypeError(`Cannot read the next page: "${next}" is no next of a page`);
    }
    const page = readPage(await this.#request({ method: "GET", isList: true, next }, options));
    revive(page.items, options.revive);
    return page;
  }

  async *each(options: AnyOptions = {}): AsyncGenerator<object, void, undefined> {
    let page = await this.list(options);
    yield* page.items;
    let earlier = options.next;
    for (let count = 1; page.next !== undefined; count++) {
      const { next } = page;
      if (next === earlier) throw new Error(`Cannot read the next page: "${next}" comes again`);
      // A cycle of links would make the loop endless. Brent's algorithm finds it, because the link for the comparison
      // is replaced after 1, 2, 4, 8, … pages.
      if ((count & (count - 1)) === 0) earlier = next;
      page = await this.list({ ...options, next });
      yield* page.items;
    }
  }

  async *live(options: AnyOptions = {}): AsyncGenerator<object[], void, undefined> {
    const { live } = await import("../live/live.ts");
    const send = (sent: Sent) => this.#request(sent, options);
    yield* live({ send, revive, longestTimerMS: LONGEST_TIMER_MS }, options);
  }

  async read(options: AnyOptions = {}): Promise<unknown> {
    const { known } = options;
    const etag = known && etagOf(known);
    // Some runtimes add `cache-control: no-cache` to a conditional request without `cache-control`, and the server
    // would then send no 304.
    const conditions = etag && { "if-none-match": etag, "cache-control": "max-age=0" };
    const incoming = await this.#request({ method: "GET", headers: conditions || {} }, options);
    const { status, headers } = incoming;
    // The cache of a runtime may replace a 304 by the stored answer, so an answer with the `ETag` of the request also
    // means an unchanged entity.
    const isSame = status === 304 || headers.get("etag") === etag;
    return etag && isSame ? known : entityOf(incoming, options);
  }

  async write(
    method: Outgoing["method"],
    body: object | undefined,
    options: AnyOptions = {},
  ): Promise<unknown> {
    return entityOf(await this.#request({ method, body }, options), options);
  }

  async createMany(bodies: readonly object[], options: AnyOptions = {}): Promise<unknown> {
    const { status, body } = await this.#request({ method: "POST", body: bodies }, options);
    if (status === 207 && options.atomic !== false) throw new ApiError(status, body);
    return revive(body, options.revive);
  }

  async removeAll(options?: AnyOptions): Promise<unknown> {
    return await this.write("DELETE", undefined, checked(options, "remove"));
  }

  async updateAll(body: object, options?: AnyOptions): Promise<unknown> {
    return await this.write("PATCH", body, checked(options, "update"));
  }

  async act(body: object | undefined, options: AnyOptions = {}): Promise<unknown> {
    const { method = "POST" } = options;
    if (method === "GET" && body !== undefined) {
      throw new TypeError("Cannot send a body: the method is GET");
    }
    return await this.write(method, body, options);
  }

  /** An upload has no time limit by default, because its time depends on the connection. */
  async put(bytes: Blob & { readonly name?: string }, options: AnyOptions = {}): Promise<unknown> {
    const { name = bytes.name } = options;
    const headers = {
      "content-type": bytes.type || "application/octet-stream",
      ...name && {
        "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
      },
    };
    const given = { timeoutMS: Infinity, ...options };
    return entityOf(await this.#request({ method: "PUT", bytes, headers }, given), options);
  }

  async open(options: AnyOptions = {}): Promise<unknown> {
    const keep = (body: Response) => body.ok ? { body } : undefined;
    return (await this.#request({ method: "GET", keep }, options)).body;
  }

  #request({ headers, next, ...sent }: Sent, options: AnyOptions): Promise<Incoming> {
    const { method, body } = sent;
    if ("_id" in options || "toJSON" in options) {
      throw new TypeError("Cannot read the options: they are an entity or an identifier");
    }
    const { count, createOnly, ifMatch, maxAffected, minimal } = options;
    const isKeyed = method === "POST" && this.#isKeyed;
    const prefer = [
      count && "count=exact",
      minimal && "return=minimal",
      "maxAffected" in options && `max-affected=${maxAffected}`,
    ].filter(Boolean).join();
    const merged = mergeHeaders(isKeyed ? newKey() : {}, options.headers, {
      ...headers,
      ...body && { "content-type": "application/json" },
      ...prefer && { prefer },
      ...createOnly && { "if-none-match": "*" },
      ...ifMatch !== undefined && { "if-match": matchOf(ifMatch) },
    });
    // The server could refuse the repetition of a `PATCH` or `PUT` with a filter, `If-Match`, `If-None-Match` or `__v`
    // in the body, because the first attempt may have changed the entity.
    const isBound = (options.q ?? options.parameters?.q) !== undefined ||
      merged.has("if-match") || merged.has("if-none-match") || "__v" in (body ?? {});
    return this.#send({
      ...sent,
      url: this.#url + queryString(options, next),
      headers: merged,
      repeatable: () =>
        method === "GET" || isKeyed || ["PATCH", "PUT"].includes(method) && !isBound,
      options,
    });
  }
}

/**
 * An idempotency key, the same for all repetitions of a call. On pages without HTTPS, `crypto.randomUUID()` is missing.
 */
function newKey(): Headings {
  return { "idempotency-key": crypto.getRandomValues(new Uint32Array(4)).join("-") };
}

/** Throws without a filter, because a forgotten `q` would change or remove all entities. */
function checked(options: AnyOptions = {}, verb: string): AnyOptions {
  if (typeof options.q !== "object" || options.q === null) {
    throw new TypeError(`Cannot ${verb} all: q is missing; { q: {} } selects everything`);
  }
  return options;
}

function entityOf({ headers, body }: Incoming, options: AnyOptions): unknown {
  const entity = options.minimal ? { location: headers.get("location") ?? undefined } : body;
  rememberEtag(entity, headers.get("etag"));
  return revive(entity, options.revive);
}

/**
 * Encodes a segment of a URL, and throws if it would change the path. An empty identifier would name the whole list.
 */
function segmentOf(given: string | number): string {
  const text = Number.isFinite(given) ? String(given) : given;
  if (typeof text !== "string" || ["", ".", ".."].includes(text)) {
    throw new TypeError(`Cannot build the URL: "${text}" is no identifier`);
  }
  return encodeURIComponent(text);
}

/** Replaces the strings of the fields `names` by `Date`s in place. */
function revive<T>(entities: T, names: readonly string[] = []): T {
  for (const entity of [entities].flat().map(Object)) {
    for (const name of names) {
      const value = entity[name];
      if (name in entity) entity[name] = Array.isArray(value) ? value.map(toDate) : toDate(value);
    }
  }
  return entities;
}

function toDate(value: unknown): unknown {
  return typeof value === "string" ? new Date(value) : value;
}

/** With `next`, all options except `parameters` are ignored, because `next` contains the options of the first page. */
function queryString(options: AnyOptions, next: string | undefined): string {
  const { q, populate, by: group, parameters = {} } = options;
  const { select, sort, sum, avg, search, limit, skip, after, names, trash, timeZone: tz } =
    options;
  const values = next !== undefined ? {} : {
    q: q === undefined ? undefined : toJson(q, "q"),
    select,
    populate: Array.isArray(populate) ? populate : Object.keys(populate ?? {}),
    sort,
    group,
    sum,
    avg,
    search,
    limit,
    skip,
    after,
    names,
    trash,
    tz,
  };
  const query = new URLSearchParams(next);
  for (const [name, value] of [...Object.entries(values), ...Object.entries(parameters)]) {
    const isGiven = value !== undefined && [value].flat().length;
    if (isGiven && !query.has(name)) query.set(name, String(value));
  }
  const text = String(query);
  return text && `?${text}`;
}
