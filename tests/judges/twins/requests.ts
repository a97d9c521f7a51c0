import type { Random } from "./random.ts";
import { ACME, BELL, CODES, GENRES, type Pool, type Seeded } from "./seed.ts";
import type { TwinRequest } from "./twins.ts";

const NOBODY = "0123456789abcdef01234567";

/** Makes random requests of a tenant who does not see the trash. */
export class Requests {
  readonly #random: Random;
  readonly #pool: Pool;

  constructor(random: Random, pool: Pool) {
    this.#random = random;
    this.#pool = pool;
  }

  next(): TwinRequest {
    const random = this.#random;
    const makes = [
      ...Array(6).fill(() => this.#list()),
      ...Array(3).fill(() => this.#one()),
      ...Array(4).fill(() => this.#part()),
      ...Array(3).fill(() => this.#create()),
      ...Array(4).fill(() => this.#write()),
      () => this.#writeAll(),
      () => this.#remove(),
      () => this.#odd(),
      () => this.#host(),
    ];
    const { headers = {}, ...made } = random.one(makes)() as Partial<TwinRequest>;
    const common = { "x-user": random.one(["ann", "bob"]), "x-owner": ACME ?? "" };
    const path = random.chance(0.03) ? this.#withTrash(made.path ?? "") : made.path;
    return { ...made, path, headers: { ...common, ...headers } } as TwinRequest;
  }

  #withTrash(path: string): string {
    const value = this.#random.one(["trash=only", "trash=", "trash[a]=1", "trash=all"]);
    return `${path}${path.includes("?") ? "&" : "?"}${value}`;
  }

  #idOf(list: readonly Seeded[]): string {
    const random = this.#random;
    if (random.chance(0.04)) return random.one([NOBODY, "x"]);
    const further = list.filter(({ isFurther }) => isFurther);
    return random.one(random.chance(0.2) && further.length > 0 ? further : list)?.id ?? NOBODY;
  }

  get #item(): string {
    return this.#idOf(this.#pool.items);
  }

  get #holder(): string {
    return this.#idOf(this.#pool.holders);
  }

  #condition(): object {
    const random = this.#random;
    const field = random.one([
      ...["name", "code", "isbn", "genre", "pages", "sequel", "related", "deletedAt", "deletedBy"],
      ...["owner", "_id", "notes.text", "notes.about", "cover.text", "related.name", "__v"],
    ]);
    const value = () =>
      random.one([this.#item, this.#item, null, random.one(CODES), random.below(5), BELL, ACME]);
    return random.one([
      { [field]: value() },
      { [field]: { $ne: value() } },
      { [field]: { $in: [value(), value(), value()] } },
      { [field]: { $nin: [value(), value()] } },
      { [field]: { $exists: random.chance(0.5) } },
      { [field]: { $gt: value() } },
      { $or: [{ [field]: value() }, { pages: { $lt: random.below(5) } }] },
      { $nor: [{ [field]: value() }] },
      { [field]: { $not: { $in: [value()] } } },
      { deletedAt: { $ne: null } },
      { $or: [{ deletedAt: null }, { deletedAt: { $exists: true } }] },
      {},
    ]);
  }

  #q(): string {
    return `q=${encodeURIComponent(JSON.stringify(this.#condition()))}`;
  }

  #list(): Partial<TwinRequest> {
    const random = this.#random;
    if (random.chance(0.15) && this.#pool.links.length > 0) {
      return { method: "GET", path: random.one(this.#pool.links) };
    }
    const isGrouped = random.chance(0.15);
    const params = random.some(
      isGrouped
        ? [this.#q(), "group=genre", "group=sequel", "sum=pages", "avg=pages", "search=novel"]
        : [
          this.#q(),
          `limit=${1 + random.below(6)}`,
          random.one([`skip=${random.below(6)}`, `after=${this.#item}`, `after=${this.#item}`]),
          `sort=${random.one(["name", "-name", "pages", "-pages,name", "genre", "_id", "-_id"])}`,
          `select=${random.one(["name", "code,sequel"])}`,
          `search=${random.one([...CODES, "novel", "poem a"])}`,
          `populate=${random.one(["sequel", "related", "sequel,related", "items"])}`,
        ],
      0.3,
    );
    if (random.chance(0.08)) {
      params.splice(0, 9, this.#q(), `distinct=${random.one(["genre", "sequel", "code"])}`);
    }
    const route = random.one(["items", "items", "items", "hooked", "lean", "holders"]);
    const accept = random.chance(0.15) && random.one(["application/x-ndjson", "text/csv"]);
    const headers = {
      ...accept && { accept },
      ...random.chance(0.4) && { prefer: "count=exact" },
    };
    const method = random.chance(0.05) ? "HEAD" : "GET";
    return { method, path: `/${route}?${params.join("&")}`, headers };
  }

  #one(): Partial<TwinRequest> {
    const random = this.#random;
    const params = random.some(
      [this.#q(), "populate=sequel", "populate=items,best", "select=name"],
      0.2,
    );
    const path = random.one([
      `/items/${this.#item}`,
      `/hooked/${this.#item}`,
      `/holders/${this.#holder}`,
      `/items/${this.#item}/history`,
      `/holders/${this.#holder}/history`,
    ]);
    return { method: "GET", path: `${path}?${params.join("&")}` };
  }

  /** Returns a path to parts or to a part, also to a part of a part. */
  #partPath(): string {
    const random = this.#random;
    const [item, part] = [this.#item, random.one(this.#pool.parts)];
    const start = random.one([
      `/holders/${this.#holder}`,
      `/holders/${this.#holder}`,
      `/items/${this.#item}`,
      `/hooked/${this.#item}`,
      `/holders/${this.#holder}/items/${item}`,
      `/holders/${this.#holder}/best`,
      `/items/${this.#item}/related/${item}`,
    ]);
    return start + random.one([
      ...start.endsWith("best") ? ["", "", ""] : [],
      ...[`/notes`, `/notes/${part}`, `/cover`, `/related`, `/related/${item}`],
      ...start.split("/").length > 3 ? [] : [
        ...[`/items`, `/items/${item}`, `/items/${item}`, `/best`, `/best`],
        ...[`/slots`, `/slots/${part}`],
      ],
    ]);
  }

  #part(): Partial<TwinRequest> {
    const random = this.#random;
    const path = this.#partPath();
    const method = random.one(["GET", "GET", "GET", "POST", "PATCH", "DELETE"]);
    const headers = this.#match();
    const note = { text: random.one(CODES), ...random.chance(0.4) && { about: this.#item } };
    const isNote = /(notes|slots|cover)[^/]*(\/\w+)?$/.test(path);
    const body = isNote ? note : this.#body();
    if (method === "POST" || method === "PATCH") return { method, path, body, headers };
    const many = /(notes|slots|items|related)$/.test(path);
    const q = random.chance(0.25) || method === "DELETE" && many ? `?${this.#q()}` : "";
    return { method, path: `${path}${q}`, headers };
  }

  #match(): Record<string, string> {
    const random = this.#random;
    return random.chance(0.08)
      ? { "if-match": random.one(["*", '"0.x"', `"${random.below(4)}.x"`]) }
      : {};
  }

  #note(): object {
    const random = this.#random;
    return { text: random.one(CODES), ...random.chance(0.4) && { about: this.#item } };
  }

  #body(): Record<string, unknown> {
    const random = this.#random;
    const all: [string, () => unknown][] = [
      ["genre", () => random.one(GENRES)],
      ["pages", () => random.below(5)],
      ["isbn", () => `isbn ${random.below(14)}`],
      ["sequel", () => random.one([this.#item, this.#item, null])],
      ["related", () => [this.#item, this.#item].slice(random.below(3))],
      ["notes", () => [this.#note(), this.#note()].slice(random.below(3))],
      ["cover", () => random.one([null, this.#note()])],
      ["deletedAt", () => random.one([null, "2001-01-01"])],
      ["deletedBy", () => "x"],
      ["owner", () => BELL],
    ];
    const some = random.some(all, 0.2).map(([name, make]) => [name, make()]);
    const code = random.chance(0.5) ? random.one(CODES) : `code ${random.below(1e6)}`;
    return { name: random.one(CODES), code, ...Object.fromEntries(some) };
  }

  #holderBody(): object {
    const random = this.#random;
    return {
      name: random.one(CODES),
      ...random.chance(0.4) && { items: [this.#item, this.#item].slice(random.below(3)) },
      ...random.chance(0.4) && { best: random.one([this.#item, this.#item, null]) },
      ...random.chance(0.3) && { slots: [this.#note()] },
    };
  }

  #create(): Partial<TwinRequest> {
    const random = this.#random;
    if (random.chance(0.2)) return { method: "POST", path: "/holders", body: this.#holderBody() };
    const bodies = [this.#body(), this.#body(), this.#body()].slice(random.below(3));
    const key = random.chance(0.3) && `key-${random.below(12)}`;
    const headers: Record<string, string> = { ...key && { "idempotency-key": key } };
    const path = random.chance(0.8) ? "/items" : "/hooked";
    if (path === "/items" && random.chance(0.2)) {
      const raw = bodies.map((each) => `${JSON.stringify(each)}\n`).join("");
      headers["content-type"] = "application/x-ndjson";
      if (random.chance(0.3)) headers.prefer = "handling=lenient";
      return { method: "POST", path, raw, headers };
    }
    const isMany = path === "/items" && random.chance(0.3);
    return { method: "POST", path, body: isMany ? bodies : bodies[0], headers };
  }

  #write(): Partial<TwinRequest> {
    const random = this.#random;
    const headers = this.#match();
    const [item, holder, body] = [this.#item, this.#holder, this.#body()];
    const { code: _code, ...keyed } = body;
    const one = random.some(Object.keys(body), 0.4);
    const some = Object.fromEntries(one.map((name) => [name, body[name]]));
    const version = { version: random.below(3) };
    return random.one<Partial<TwinRequest>>([
      { method: "PATCH", path: `/items/${item}`, body: some, headers },
      { method: "PATCH", path: `/items/${item}`, body: some, headers },
      { method: "PATCH", path: `/hooked/${item}`, body: some, headers },
      { method: "PATCH", path: `/holders/${holder}`, body: this.#holderBody(), headers },
      { method: "PUT", path: `/items/${item}`, body, headers },
      { method: "PUT", path: `/holders/${holder}`, body: this.#holderBody(), headers },
      { method: "PUT", path: `/hooked/${random.one(CODES)}`, body: keyed, headers },
      { method: "POST", path: `/items/${item}/shout`, body: {}, headers },
      { method: "POST", path: `/items/${item}/revert`, body: version, headers },
      { method: "POST", path: `/holders/${holder}/revert`, body: version, headers },
      { method: "POST", path: `/items/${item}/restore`, headers },
      { method: "POST", path: `/holders/${holder}/restore`, headers },
    ]);
  }

  #writeAll(): Partial<TwinRequest> {
    const random = this.#random;
    const path = `/${random.one(["items", "hooked"])}?${this.#q()}`;
    const body = random.one([{ genre: random.one(GENRES) }, { sequel: this.#item }]);
    return { method: "PATCH", path, body };
  }

  #remove(): Partial<TwinRequest> {
    const random = this.#random;
    const [item, holder, headers] = [this.#item, this.#holder, this.#match()];
    // Most removals of many name an entity, so that the database does not become empty.
    const named = encodeURIComponent(JSON.stringify({ _id: { $in: [item, this.#item] } }));
    const q = random.chance(0.2) ? this.#q() : `q=${named}`;
    return random.one([
      { method: "DELETE", path: `/items/${item}`, headers },
      { method: "DELETE", path: `/hooked/${item}`, headers },
      { method: "DELETE", path: `/holders/${holder}`, headers },
      { method: "DELETE", path: `/items?${q}` },
      { method: "DELETE", path: `/hooked?${q}` },
    ]);
  }

  /** Returns a request that few clients send. */
  #odd(): Partial<TwinRequest> {
    const random = this.#random;
    const id = this.#item;
    return random.one<Partial<TwinRequest>>([
      { method: "GET", path: `/items/${id}`, headers: { "if-none-match": '"0.x"' } },
      { method: "POST", path: `/items/${id}` },
      {
        method: "GET",
        path: `/items?q={"_id":"${id}"}&limit=1`,
        headers: { prefer: "count=exact" },
      },
      { method: "GET", path: `/items/${id}/history?after=${id}` },
      { method: "GET", path: `/items/${id}/history?trash=only` },
      { method: "DELETE", path: `/items/${id}?trash=only` },
      { method: "DELETE", path: "/items?trash=only" },
      { method: "OPTIONS", path: `/items/${id}` },
    ]);
  }

  #host(): Partial<TwinRequest> {
    return { method: "GET", path: `/host?${this.#random.chance(0.6) ? this.#q() : ""}` };
  }
}
