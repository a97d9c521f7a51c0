import { Ajv2020 } from "npm:ajv@8/dist/2020.js";
import type { Node } from "./document.ts";

/** A request of the client, and its answer. */
export interface Exchange {
  /** The method. */
  readonly method: string;
  /** The path below the server's URL, and the parameters. */
  readonly url: URL;
  /** The headers of the request. */
  readonly sent: Headers;
  /** The body of the request. */
  readonly body: string | undefined;
  /** The status of the answer. */
  readonly status: number;
  /** The headers of the answer. */
  readonly received: Headers;
  /** The body of the answer. */
  readonly text: string;
}

/** Headers that mean something to the operations. */
const ASKED = ["if-match", "if-none-match", "prefer", "idempotency-key"];
const ANSWERED = ["etag", "link", "content-range", "x-total-count", "preference-applied"];

/** Holds what clients and servers say to each other against an OpenAPI document. */
export class Holder {
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  readonly #document: Node;

  constructor(document: Node) {
    this.#document = document;
    this.#ajv.addSchema({ ...document, $id: "https://document.test/" });
  }

  /** Tells what the document does not know, or knows otherwise. */
  hold(exchange: Exchange): string[] {
    const { method, url, status } = exchange;
    const template = this.#templateOf(url.pathname);
    const at = ["paths", template ?? "", method.toLowerCase()];
    const operation = this.#at(at);
    if (operation === undefined) return [`${method} ${url.pathname} is not in the document`];
    // What is refused, as some of many may be, may be what the document does not allow
    const isTaken = status < 400 && status !== 207;
    const problems = [
      ...isTaken ? [...this.#parameters(at, exchange), ...this.#body(at, exchange)] : [],
      ...this.#answer(at, exchange),
    ];
    return problems.map((problem) => `${method} ${url.pathname}${url.search}: ${problem}`);
  }

  #templateOf(path: string): string | undefined {
    const given = path.split("/");
    return Object.keys(this.#document.paths ?? {}).find((template) => {
      const parts = template.split("/");
      return parts.length === given.length &&
        parts.every((part, i) => part.startsWith("{") || part === given[i]);
    });
  }

  #parameters(at: readonly string[], { url, sent }: Exchange): string[] {
    const list = Object.keys(this.#at([...at, "parameters"]) ?? {}).map((index) => {
      const place = this.#resolve([...at, "parameters", index]);
      return { place, ...this.#at(place) as unknown as { name: string; in: string } };
    });
    const named = (name: string, where: string) =>
      list.find((each) => each.name.toLowerCase() === name && each.in === where);
    const headers = ASKED.filter((name) => sent.has(name) && !named(name, "header"));
    const queries = [...url.searchParams].flatMap(([name, text]) => {
      const place = named(name, "query")?.place;
      if (place === undefined) return [`parameter ${name} is not in the document`];
      const json = [...place, "content", "application/json", "schema"];
      if (this.#at(json) !== undefined) return this.#check(json, JSON.parse(text));
      const type = this.#at([...place, "schema", "type"]) as unknown;
      const value = type === "array"
        ? text.split(",")
        : type === "integer"
        ? Number(text)
        : type === "boolean"
        ? text === "true"
        : text;
      return this.#check([...place, "schema"], value);
    });
    return [...headers.map((name) => `header ${name} is not in the document`), ...queries];
  }

  #body(at: readonly string[], { body }: Exchange): string[] {
    if (body === undefined) return [];
    const place = this.#resolve([...at, "requestBody"]);
    return this.#check([...place, "content", "application/json", "schema"], JSON.parse(body));
  }

  #answer(at: readonly string[], { status, received, text }: Exchange): string[] {
    const key = [String(status), "default"].find((name) => this.#at([...at, "responses", name]));
    if (key === undefined) return [`status ${status} is not in the document`];
    const place = this.#resolve([...at, "responses", key]);
    const unknown = ANSWERED.filter((name) => {
      const names = Object.keys(this.#at([...place, "headers"]) ?? {});
      // Express tags every answer weakly
      const isOurs = received.get(name)?.startsWith("W/") === false;
      return isOurs && !names.some((each) => each.toLowerCase() === name);
    }).map((name) => `header ${name} of ${status} is not in the document`);
    if (text === "") return unknown;
    const schema = [...place, "content", "application/json", "schema"];
    return [...unknown, ...this.#check(schema, JSON.parse(text))];
  }

  #check(place: readonly string[], value: unknown): string[] {
    if (this.#at(place) === undefined) {
      return [`${place.slice(2).join("/")} is not in the document`];
    }
    const pointer = place.map((key) =>
      encodeURIComponent(key.replace(/~/g, "~0").replace(/\//g, "~1"))
    );
    const ref = `https://document.test/#/${pointer.join("/")}`;
    const validate = this.#ajv.getSchema(ref) ?? this.#ajv.compile({ $ref: ref });
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) =>
      `${place.slice(2).join("/")}: ${instancePath} ${message} in ${JSON.stringify(value)}`
    );
  }

  #at(place: readonly string[]): Node | undefined {
    return place.reduce<Node | undefined>((node, key) => node?.[key], this.#document);
  }

  #resolve(place: readonly string[]): readonly string[] {
    const ref = this.#at(place)?.$ref;
    return ref === undefined ? place : this.#resolve(ref.slice(2).split("/"));
  }
}
