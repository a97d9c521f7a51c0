import { assertEquals } from "@std/assert";
import type { Reply } from "../../harness/request.ts";
import type { Ask, View } from "./roles_world.ts";
import type { ServedRoles } from "./serve_roles.ts";

/** What differs between two writes of the same: new identifiers, and the time. */
const MADE = new RegExp(
  `\\b(?!0{12})[0-9a-f]{24}\\b|${new Date().getFullYear()}-\\d\\d-\\d\\dT[\\d:.]+Z`,
  "g",
);

const NO_RECORDS = "[]";

/** Compares what the functions of fields make of requests with what the model of one role makes of them. */
export class RolesJudge {
  readonly #app: ServedRoles;
  /** What is stored at first, and now. */
  readonly #first: string;
  #now: string;
  /** What clients keep of answers. */
  readonly #tags = new Map<string, string>();
  readonly #links = new Map<string, string>();

  constructor(app: ServedRoles, stored: string) {
    this.#app = app;
    this.#first = this.#now = stored;
  }

  /**
   * Sends a request to both, and compares what they answer and what they store; gives the answer. The records are those
   * of the functions, from which both answer.
   */
  async judge(ask: Ask): Promise<Reply> {
    const writes = ask.method !== "GET";
    const records = writes ? await this.#app.records() : NO_RECORDS;
    const expected = await this.#send(ask, ask.role);
    const kept = writes ? await this.#app.stored() : this.#now;
    if (kept !== this.#now) {
      await this.#app.restore(this.#now);
      await this.#app.restoreRecords(records);
    }
    const actual = await this.#send(ask, "functions");
    const stored = writes ? await this.#app.stored() : this.#now;
    this.#compare(ask, { expected, actual });
    if (writes) assertEquals(fixed(stored), fixed(kept), `${Deno.inspect(ask)} stores`);
    this.#now = stored;
    // Removals would leave nothing to judge.
    if (ask.method === "DELETE" && stored !== this.#first) {
      await this.#app.restore(this.#now = this.#first);
      await this.#app.restoreRecords(NO_RECORDS);
    }
    this.#keep(ask, actual);
    return actual;
  }

  #send({ role, method, path, query, body, tag, headers, follows }: Ask, view: View) {
    const place = `${role} ${path}`;
    const link = follows && method === "GET" ? this.#links.get(place) : undefined;
    const search = new URLSearchParams(query).toString();
    const known = tag && this.#tags.get(place);
    return this.#app.send(method, link ?? `${path}${search && "?"}${search}`, {
      ...body !== undefined && { body },
      headers: { ...headers, "x-role": role, "x-view": view, ...known && { [tag]: known } },
    });
  }

  #keep({ role, path }: Ask, { headers }: Reply): void {
    const place = `${role} ${path}`;
    const tag = headers.get("etag");
    if (tag !== null) this.#tags.set(place, tag);
    const [, next] = /^<([^>]+)>; rel="next"/.exec(headers.get("link") ?? "") ?? [];
    if (next !== undefined) this.#links.set(place, next);
  }

  #compare(ask: Ask, { expected, actual }: Record<"expected" | "actual", Reply>): void {
    // Where the host answers for what is not there, its words are its own.
    if (expected.status === 404 && !isJson(expected)) {
      return assertEquals(actual.status, 404, `${Deno.inspect(ask)} ${actual.text}`);
    }
    const [seen, due] = [actual, expected].map((reply) =>
      ask.method === "GET" ? shown(reply) : fixed(shown(reply))
    );
    if (seen === due) return;
    const failures = actual.status >= 500 ? Deno.inspect(this.#app.failures.at(-1)) : "";
    assertEquals(seen, due, `${Deno.inspect(ask)}\n${failures}`);
  }
}

function isJson({ headers }: Reply): boolean {
  return /json/.test(headers.get("content-type") ?? "");
}

/** An answer as text: status, headers, body. */
function shown({ status, headers, text }: Reply): string {
  const named = [...headers].filter(([name]) => name !== "date");
  return [status, ...named.map((each) => each.join(": ")), text].join("\n");
}

/** Replaces what is new in a text. A tag tells of it by its second half. */
function fixed(text: string): string {
  const replaced = text.replace(MADE, "new");
  return replaced === text ? text : replaced.replace(/(etag: "[^."]*)\.[^"]*"/, '$1"');
}
