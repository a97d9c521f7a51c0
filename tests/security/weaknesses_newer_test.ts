import { assert, assertEquals, assertNotMatch } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import type { Express } from "express-types";
import { all, FrameworkModel, getModel, one, prop, rest } from "../../mod.ts";
import { watchCommands } from "../support/both_paths.ts";
import { Account, assertRefused, openShop, SECRET, type Shop } from "../fixtures/shop.ts";
import { test } from "../harness/testing.ts";
import { asQuery, type EntityBody, mount, NOBODY } from "../support/support.ts";

// Weaknesses published since spring 2026, and those of parsers of query strings, each as an attack on an application of ours.

test("CVE-2026-85625: no condition is compiled to code, where a prototype holds one too", async () => {
  await using shop = await openShop();
  await getModel(Account).updateOne({ name: "own" }, { boss: shop.own });
  const { prototype } = Object as unknown as { prototype: Record<string, unknown> };
  const plain = await shop.get("/accounts?populate=boss,notes");
  prototype.$where = "globalThis.hasRun = true";
  const reply = await shop.get("/accounts?populate=boss,notes").finally(() =>
    delete prototype.$where
  );
  assertEquals([reply.status, reply.text], [200, plain.text]);
  assertEquals((globalThis as { hasRun?: unknown }).hasRun, undefined);
});

/** Expressions that have cost a server of MongoDB its memory, its processor or its life. */
const COSTLY = [
  { $expr: { $trim: { input: "$name", chars: "x".repeat(2000) } } },
  { $expr: { $reduce: { input: "$locks", initialValue: {}, in: { a: "$$value" } } } },
  { $lookup: { from: "accounts", pipeline: [], as: "all" } },
  { $graphLookup: { from: "accounts", startWith: "$boss", as: "all" } },
];

test("CVE-2026-1849, CVE-2026-4148, CVE-2026-8202: no client sends an expression or a stage", async () => {
  await using shop = await openShop();
  for (const condition of COSTLY) {
    await assertRefused(shop, asQuery(condition));
    await assertRefused(shop, asQuery({ name: condition }));
    await assertRefused(shop, asQuery({ $and: [{ $or: [condition] }] }));
  }
  for (const path of ["$name", "$$ROOT", "name.$", "boss.$id"]) {
    for (const parameter of ["sort", "select", "populate"]) {
      const { status } = await shop.get(`/accounts?${parameter}=${encodeURIComponent(path)}`);
      assertEquals(status, 400, `${parameter}=${path}`);
    }
  }
});

/** Nests conditions, each as often as told in the one around it. */
function nested(depth: number, wrap: (...inner: object[]) => object, width = 1): object {
  const inner = (): object => depth === 0 ? { name: "a" } : nested(depth - 1, wrap, width);
  return wrap(...Array.from({ length: width }, inner));
}

test("CVE-2026-1850, GHSA-cgxm-vr2f-6fj8: no nesting of operators takes more than it may", async () => {
  await using shop = await openShop();
  const wide = ["$or", "$and", "$nor"].map((name) =>
    nested(7, (...inner) => ({ [name]: inner }), 2)
  );
  for (const filter of wide) await assertRefused(shop, asQuery(filter));
  const ways: [wrap: (inner: object) => object, deepest: number][] = [
    [(inner) => ({ $nor: [inner, { rank: 1 }] }), 18],
    [(inner) => ({ $or: [{ name: "b" }, { $and: [inner, { rank: 1 }] }] }), 8],
    [(inner) => ({ $nor: [{ $or: [inner, { name: "c" }] }] }), 8],
  ];
  for (const [wrap, deepest] of ways) {
    const { status } = await shop.get(`/accounts${asQuery(nested(deepest, wrap))}`);
    assertEquals(status, 200, `${wrap}`);
    await assertRefused(shop, asQuery(nested(deepest + 1, wrap)));
  }
});

/** Headers as long as a server of Node lets them be, of what makes expressions go back. */
const HEADERS: Readonly<Record<string, readonly string[]>> = {
  "if-match": ['"', '"1.', ',W/"1.a', ' "1"', "W/"],
  "if-none-match": ['"', '"1.', ",", ' "1.a",', "W/"],
  prefer: ["count =", " count", 'count="', ";,", "\t"],
  "content-type": ["application/json;", ";charset=", "a/", " "],
  accept: ["application/json,", ";q=", "*/"],
};

test("CVE-2026-47138: no header of any length holds a request up", async () => {
  await using shop = await openShop();
  for (const [name, pieces] of Object.entries(HEADERS)) {
    const calls = pieces.flatMap((piece) => {
      const headers = { [name]: `${piece.repeat(12_000 / piece.length)}!` };
      return ["GET", "PATCH"].flatMap((method) =>
        Array.from({ length: 20 }, () => {
          const raw = method === "PATCH" ? { raw: "{}" } : {};
          const type = { "content-type": "application/json" };
          return shop.send(method, `/accounts/${shop.own}`, {
            ...raw,
            headers: { ...type, ...headers },
          });
        })
      );
    });
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    assert(statuses.every((status) => status < 500));
  }
});

/** What is near the name of a hidden field, or of what is in one. */
const NEAR = ["passwor", "Password", "pasword", "key", "keys.ap", "key.cod", "locks.cod", "draf"];

test("CVE-2026-47248: no message proposes the name of a hidden field", async () => {
  await using shop = await openShop();
  const told: string[] = [];
  for (const name of NEAR) {
    const queries = [
      asQuery({ [name]: { $gt: "" } }),
      ...["sort", "select", "populate", "search", "limit"].map((each) => `?${each}=${name}`),
    ];
    for (const query of queries) told.push((await shop.get(`/accounts${query}`)).text);
    for (const [method, path] of [["POST", ""], ["PATCH", `/${shop.own}`]] as const) {
      const body = { [name]: { $set: 1 }, rank: "x" };
      told.push((await shop.send(method, `/accounts${path}`, { body })).text);
    }
  }
  for (const text of told) assertNotMatch(text, /password|keys\.api|\.code|draft/);
});

/** All that an application of ours answers about accounts. */
async function answersOf(shop: Shop): Promise<string[]> {
  const own = `/accounts/${shop.own}`;
  const [note, lock] = [
    await shop.post<EntityBody>(`${own}/notes`, { text: "n", draft: SECRET }),
    await shop.post<EntityBody>(`${own}/locks`, { label: "l", code: SECRET }),
  ];
  const reads = ["/accounts", own, `${own}/notes`, `${own}/locks`]
    .flatMap((path) => [path, `${path}?select=name`, `${path}?populate=boss,notes`]);
  const stale = { headers: { "if-match": '"99"' } };
  const replies = [
    note,
    lock,
    ...await Promise.all(reads.map((path) => shop.get(path))),
    await shop.get(`${own}/notes/${note.body._id}`),
    await shop.patch(`${own}/locks/${lock.body._id}`, { label: "m" }),
    await shop.patch(own, { name: "m" }),
    await shop.patch(own, { name: "n" }, stale),
    await shop.post("/accounts", { name: "o", password: SECRET }),
    await shop.post("/accounts", { name: {}, password: SECRET }),
  ];
  return replies.map(({ text }) => text);
}

test("CVE-2026-39381: no route of an entity shows what another one hides", async () => {
  await using shop = await openShop();
  await getModel(Account).updateOne({ name: "own" }, {
    boss: shop.own,
    notes: [shop.foreign.notes],
    locks: [{ label: "l", code: SECRET }],
  });
  const answers = await answersOf(shop);
  for (const text of answers) assertNotMatch(text, /s3cret|"(password|keys|draft)":/);
});

/** A value of each parameter that a list may have. */
const VALUES = {
  ...{ q: "%7B%7D", sort: "name", select: "name", populate: "boss", search: "o" },
  ...{ limit: "1", skip: "0", after: NOBODY },
};

test("CVE-2025-15284, CVE-2026-2391: lists in a query string are no parameters, whoever has parsed it", async () => {
  const prepare = (app: Express) => {
    app.set("query parser", "extended");
    app.use(express.json());
  };
  await using shop = await openShop({ prepare });
  for (const [name, value] of Object.entries(VALUES)) {
    for (
      const piece of [`${name}[]=${value}&`, `${name}[9]=${value}&`, `${name}[a][b]=${value}&`]
    ) {
      for (const query of [`?${piece}`, `?${piece.repeat(12_000 / piece.length)}`]) {
        const replies = [
          await shop.get(`/accounts${query}`),
          await shop.delete(`/accounts${query}`),
        ];
        assertEquals(replies.map(({ status }) => status), [400, 400], piece);
      }
    }
  }
  const commas = ",".repeat(12_000);
  for (const name of ["sort", "select", "populate"]) {
    assertEquals((await shop.get(`/accounts?${name}=name${commas}`)).status, 400, name);
  }
  assertEquals((await shop.get("/accounts")).body, [await shop.read(`/accounts/${shop.own}`)]);
});

test("CVE-2026-35441: what is asked for again and again is read once", async () => {
  await using shop = await openShop();
  await getModel(Account).updateOne({ name: "own" }, { boss: shop.own });
  const sent = await watchCommands(shop.database.uri);
  for (const [parameter, names] of [["populate", "boss,notes"], ["select", "name,rank"]] as const) {
    const once = await shop.get(`/accounts?${parameter}=${names}`);
    const commands = sent.splice(0).map(({ name }) => name);
    const again = await shop.get(`/accounts?${parameter}=${Array(1000).fill(names).join()}`);
    assertEquals([again.status, again.text], [200, once.text]);
    assertEquals(sent.splice(0).map(({ name }) => name), commands);
  }
});

/** What stands for the state of a document in Mongoose, or for a value of the driver. */
const STATE = {
  ...{
    isNew: false,
    $isNew: false,
    _doc: { role: "admin", tenant: "b" },
    $__: { wasPopulated: 1 },
  },
  ...{ $locals: { role: "admin" }, $session: 1, $op: "remove", errors: {}, schema: {} },
  ...{ collection: "others", db: {}, save: 1, validate: 1, toBSON: { role: "admin" }, $where: {} },
};

test("CVE-2026-34220: no object of a client passes for one of Mongoose or the driver", async () => {
  await using shop = await openShop();
  for (const [name, value] of Object.entries(STATE)) {
    await assertRefused(shop, asQuery({ [name]: value }));
    await assertRefused(shop, asQuery({ name: { [name]: value } }));
  }
  const before = JSON.parse(await shop.stored());
  const made = await shop.created<EntityBody>("/accounts", { name: "n", ...STATE });
  await shop.updated(`/accounts/${made._id}`, { ...STATE, name: "m", free: { a: 1 } });
  const shown = await shop.read<EntityBody>(`/accounts/${made._id}`);
  assertEquals([shown.name, shown.role, shown.tenant, shown.__v], ["m", "user", "a", 1]);
  const stored = JSON.parse(await shop.stored());
  assertEquals(stored[0].slice(0, -1), before[0]);
  assertNotMatch(JSON.stringify(stored), /admin|wasPopulated|others/);
});

/** Makes a model whose readers lose what they were allowed to see. */
function buildPapers() {
  const may = { fetch: true, see: true, send: true };
  const postFetch = <P>(_req: unknown, paper: P) => may.see ? paper : null;
  const preSend = <P>(_req: unknown, paper: P) => may.send ? paper : null;
  const methods = [one({ preFetch: () => may.fetch, postFetch, preSend }), all({ postFetch })];
  class Page extends FrameworkModel {
    @prop()
    text?: string;
  }
  @rest({ route: "/papers", methods })
  class Paper extends FrameworkModel {
    @prop()
    text?: string;
    @rest({ methods: [one()] })
    @prop({ type: Page })
    page?: Page;
  }
  return { Paper, may };
}

test("GHSA-97pr-9hgg-3p8r: who may see an entity no more is told nothing of it, with its tag either", async () => {
  const { Paper, may } = buildPapers();
  await using app = await mount([Paper]);
  const { _id } = await getModel(Paper).create({ text: "a", page: { text: "b" } } as never);
  const paper = `/papers/${_id}`;
  const refusals = [
    [paper, "fetch", 403],
    [paper, "see", 404],
    [paper, "send", 404],
    [`${paper}/page`, "fetch", 403],
    [`${paper}/page`, "see", 404],
    ["/papers", "see", 200],
  ] as const;
  for (const [path, right, expected] of refusals) {
    const { headers } = await app.get(path);
    const tagged = { headers: { "if-none-match": headers.get("etag") ?? "" } };
    assertEquals((await app.get(path, tagged)).status, 304, path);
    may[right] = false;
    const { status, text } = await app.get(path, tagged);
    may[right] = true;
    assertEquals(status, expected, `${path} ${right}`);
    assertNotMatch(text, /"text"/);
    assertEquals((await app.get(path, tagged)).status, 304, path);
  }
});

/** A call of the driver or of Mongoose that passes the driver's time limit. */
const TIMED_CALL =
  /\.(?:command|find|findOne\w*|update\w*|insert\w*|delete\w*|replaceOne|aggregate|watch|bulkWrite|count\w*|distinct|startSession|withTransaction|transaction)\([^;]*\btimeoutMS\b/;

async function* sourcesIn(folder: URL): AsyncGenerator<URL> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) yield* sourcesIn(new URL(`${name}/`, folder));
    else if (name.endsWith(".ts") && !name.endsWith("_test.ts")) yield new URL(name, folder);
  }
}

test("CVE-2026-119179: no statement has the driver's time limit, and no driver is allowed that obeys it", async () => {
  const wrong: string[] = [];
  for await (const source of sourcesIn(new URL("../../src/", import.meta.url))) {
    if (source.pathname.includes("/src/client/")) continue;
    if (TIMED_CALL.test(await Deno.readTextFile(source))) wrong.push(source.pathname);
  }
  assertEquals(wrong, []);
  const { default: { imports } } = await import("../../deno.json", { with: { type: "json" } });
  const [, minor] = /^npm:mongoose@\^9\.(\d+)\.\d+$/.exec(imports.mongoose) ?? [];
  assert(Number(minor) >= 12, "Mongoose 9.12 is the first one with driver 7.8");
});
