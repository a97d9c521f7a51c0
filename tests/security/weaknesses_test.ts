import { assert, assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { getModel } from "../../mod.ts";
import { Account, assertRefused, filtered, openShop, SECRET, type Shop } from "../fixtures/shop.ts";
import { test } from "../harness/testing.ts";
import { asQuery, type EntityBody, type ErrorBody } from "../support/support.ts";

// Published weaknesses of software like this one, each as an attack on an application of ours: those of reads.

/** Asserts that a list answers a query string as it would without. */
async function assertIgnored(shop: Shop, query: string): Promise<void> {
  const plain = await shop.get("/accounts");
  const asked = await shop.get(`/accounts${query}`);
  assertEquals([asked.status, asked.text], [plain.status, plain.text], query);
  const totals = [asked, plain].map(({ headers }) => headers.get("x-total-count"));
  assertEquals(totals, ["1", "1"], query);
}

const CODE = `sleep(100) || this.password == "${SECRET}"`;

/** Conditions that run code in the database. */
const RUNNING = [
  { $where: CODE },
  { $expr: { $function: { body: CODE, args: [], lang: "js" } } },
  { $expr: { $accumulator: { init: CODE, accumulate: CODE, merge: CODE, lang: "js" } } },
  { $jsonSchema: { properties: { password: { enum: [SECRET] } } } },
];

test("GHSA-5r4m-2pw8-7gvw: no operator runs code, however deep it stands", async () => {
  await using shop = await openShop();
  for (const condition of RUNNING) {
    await assertRefused(shop, asQuery(condition));
    await assertRefused(shop, asQuery({ $or: [{ name: "own" }, { $and: [condition] }] }));
    await assertRefused(shop, asQuery({ name: { $not: condition } }));
    await assertRefused(shop, asQuery({ free: { $elemMatch: condition } }));
    await assertRefused(shop, asQuery({ free: condition }));
  }
});

test("GHSA-5r4m-2pw8-7gvw: a filter in brackets goes past no check", async () => {
  await using shop = await openShop();
  for (const inner of ["[$where]=1", "[name][$regex]=^o", "[password][$regex]=^s", "[]=1"]) {
    await assertRefused(shop, `?q${inner}`);
    await assertRefused(shop, `?q=%7B%7D&q${inner}`);
  }
});

test("GHSA-cgjx-mwpx-47jv: no parameter lists the values of a hidden field", async () => {
  await using shop = await openShop();
  for (const name of ["fields", "projection", "aggregate"]) {
    await assertIgnored(shop, `?${name}=password`);
  }
  for (const name of ["select", "group", "distinct"]) {
    const { status, text } = await shop.get(`/accounts?${name}=password`);
    assertEquals([status, text.includes(SECRET)], [400, false]);
  }
});

test("CVE-2024-53900, CVE-2025-23061: no client says what populating matches", async () => {
  await using shop = await openShop();
  for (const match of [{ $where: CODE }, { $or: [{ $where: CODE }] }]) {
    const text = encodeURIComponent(JSON.stringify({ path: "boss", match }));
    for (const query of [`?populate=${text}`, "?populate=boss,role", "?populate=boss.password"]) {
      const { status, text } = await shop.get(`/accounts${query}`);
      assertEquals(status, 400, text);
    }
  }
  const { status } = await shop.get(`/accounts?populate[match][$where]=${encodeURI(CODE)}`);
  assertEquals(status, 400);
});

/** Names of hidden fields, as different software has let them through. */
const HIDDEN = ["password", "keys", "keys.api", "key.code", "locks.code", "locks.0.code"];

test("CVE-2023-22894, CVE-2026-31872: no filter reads a hidden field, nor what is in one", async () => {
  await using shop = await openShop();
  for (const path of HIDDEN) {
    for (const condition of [SECRET, { $regex: "^s" }, { $exists: true }, { $gt: "a" }]) {
      const { status, body } = await shop.get<ErrorBody>(
        `/accounts${asQuery({ [path]: condition })}`,
      );
      assertEquals([status, body.message], [400, `Field "${path}" is unknown`]);
    }
    await assertRefused(shop, asQuery({ [path]: { $ne: null } }));
  }
});

test("CVE-2023-22894, CVE-2026-31872: no object as a whole tells of a hidden field in it", async () => {
  await using shop = await openShop();
  const whole = { label: "k", code: SECRET };
  for (const condition of [whole, { $eq: whole }, { $gt: whole }, { $in: [whole] }]) {
    const { status } = await shop.get(`/accounts${asQuery({ key: condition })}`);
    assertEquals(status, 400);
  }
});

test("CVE-2026-31872: no list is sorted, selected or searched by a hidden field", async () => {
  await using shop = await openShop();
  for (
    const path of [...HIDDEN, "role", "name,password", "-password", "name password", "$natural"]
  ) {
    for (const parameter of ["sort", "select"]) {
      const { status, body } = await shop.get<ErrorBody>(
        `/accounts?${parameter}=${encodeURIComponent(path)}`,
      );
      assertEquals([status, body.code], [400, "BAD_FORMAT"], `${parameter}=${path}`);
    }
  }
  assertEquals((await shop.get("/accounts?sort[password]=1")).status, 400);
  await assertIgnored(shop, "?sortBy=password&order=password");
});

test("CVE-2026-30962, CVE-2026-42334: no logical operator hides a field or an operator", async () => {
  await using shop = await openShop();
  const wraps = [
    (inner: object) => ({ $nor: [inner] }),
    (inner: object) => ({ $or: [{ name: "none" }, inner] }),
    (inner: object) => ({ $and: [{ $nor: [{ $or: [inner] }] }] }),
    (inner: object) => ({ locks: { $elemMatch: { $nor: [inner] } } }),
  ];
  for (const wrap of wraps) {
    await assertRefused(shop, asQuery(wrap({ password: { $ne: "x" } })));
    await assertRefused(shop, asQuery(wrap({ code: { $ne: "x" } })));
    await assertRefused(shop, asQuery(wrap({ $where: CODE })));
  }
  const { body } = await shop.get<EntityBody[]>(`/accounts${asQuery({ $nor: [{ tenant: "a" }] })}`);
  assertEquals(body, []);
});

test("GHSA-mmg8-87c5-jrc2: an object in the place of a list of conditions is refused", async () => {
  await using shop = await openShop();
  const condition = { password: { $regex: "^s" } };
  for (const operator of ["$and", "$or", "$nor"]) {
    for (const like of [{ 0: condition, length: 1 }, { 0: condition }, condition, {}]) {
      await assertRefused(shop, asQuery({ [operator]: like }));
      await assertRefused(shop, asQuery({ $or: [{ name: "own" }, { [operator]: like }] }));
    }
  }
  await assertRefused(shop, asQuery({ name: { $in: { 0: "own", length: 1 } } }));
});

test("CVE-2019-17426: no filter is empty because it looks like a value of the driver", async () => {
  await using shop = await openShop();
  for (const name of ["a", "ObjectId", "Code", "DBRef"]) {
    const like = { _bsontype: name, id: "x" };
    const filters = [like, { ...like, name: "own" }, { $or: [like] }, { name: like }];
    for (const each of [...filters, { name: { $ne: like } }, { free: like }, { _id: like }]) {
      await assertRefused(shop, asQuery(each));
    }
  }
});

test("CVE-2026-30938: a check goes on behind a nested object or a list", async () => {
  await using shop = await openShop();
  const harmless = [{ free: { a: { b: 1 } } }, { name: { $in: ["a"] } }, { $or: [{ name: "a" }] }];
  for (const first of harmless) {
    await assertRefused(shop, asQuery({ ...first, $where: CODE }));
    await assertRefused(shop, asQuery({ ...first, password: SECRET }));
    await assertRefused(shop, asQuery({ $and: [first, { ...first, $where: CODE }] }));
  }
});

test("CVE-2023-34235, CVE-2026-27886: no filter follows a reference, nor the name of a table", async () => {
  await using shop = await openShop();
  for (const path of ["boss.password", "t1.password", "boss.$password", "accounts.password"]) {
    await assertRefused(shop, asQuery({ [path]: { $regex: "^s" } }));
  }
});

test("CVE-2026-27886: a populated reference shows neither what is outside a scope nor a hidden field", async () => {
  await using shop = await openShop();
  await getModel(Account).updateOne({ name: "own" }, {
    boss: shop.other,
    notes: [shop.foreign.notes],
  });
  const query = "/accounts?populate=boss,notes";
  const [own] = (await shop.get<EntityBody[]>(query)).body;
  const headers = { "x-tenant": "b" };
  const [other] = (await shop.get<EntityBody[]>(query, { headers })).body;
  const notes = [{ _id: shop.foreign.notes, text: "n" }];
  assertEquals([own?.boss, own?.notes, other?.boss, other?.notes], [null, notes, null, notes]);
  await getModel(Account).updateOne({ name: "own" }, { boss: shop.own });
  const { text } = await shop.get(query);
  assertMatch(text, /"boss":\{[^}]*"name":"own"/);
  assertNotMatch(text, /s3cret|password|"keys"|"code"|draft/);
});

test("CVE-2026-27886: no parameter with another name is a filter, and no total tells of one", async () => {
  await using shop = await openShop();
  for (const name of ["where", "filters", "filter", "_where", "query", "conditions", "lookup"]) {
    await assertIgnored(shop, `?${name}[password][$startsWith]=x`);
    await assertIgnored(shop, `?${name}=${encodeURIComponent('{"password":"x"}')}`);
    const { status } = await shop.delete(`/accounts?${name}[name]=none`);
    assertEquals(status, 400);
  }
  const { headers } = await shop.get("/accounts", { headers: { "x-tenant": "none" } });
  assertEquals(headers.get("x-total-count"), "0");
});

test("CVE-2025-30352: a search looks into no field but those that are declared for it", async () => {
  await using shop = await openShop();
  for (const text of [SECRET, "s3", "user", ".*", "^o"]) {
    const { body, headers } = await shop.get(`/accounts?search=${encodeURIComponent(text)}`);
    assertEquals([body, headers.get("x-total-count")], [[], "0"], text);
  }
});

test("CVE-2025-46720, CVE-2026-33326: neither a cursor nor one more condition asks for what is hidden", async () => {
  await using shop = await openShop();
  const cursors = [
    shop.other,
    "0".repeat(24),
    JSON.stringify({ password: SECRET }),
    "[object Object]",
  ];
  const answers = await Promise.all(cursors.map(async (after) => {
    const { status, text } = await shop.get(
      `/accounts?sort=name&after=${encodeURIComponent(after)}`,
    );
    return [status, text.includes(SECRET)];
  }));
  assertEquals(answers, Array(4).fill([400, false]));
  const [foreign, missing] = await Promise.all(
    cursors.slice(0, 2).map((after) => shop.get(`/accounts?sort=name&after=${after}`)),
  );
  assertEquals(foreign?.text, missing?.text);
  await assertRefused(shop, asQuery({ name: "own", password: { $regex: "^s" } }));
});

test("CVE-2026-30925: no expression of a client runs in this process", async () => {
  await using shop = await openShop();
  await getModel(Account).updateOne({ name: "own" }, { name: `${"a".repeat(60)}!` });
  const run: string[] = [];
  const { exec } = RegExp.prototype;
  RegExp.prototype.exec = function (text) {
    run.push(this.source);
    return exec.call(this, text);
  };
  try {
    for (const query of [asQuery({ name: { $regex: "^(a+)+$" } }), "?search=(a%2B)%2B"]) {
      for (const [method, path] of filtered(shop)) {
        const { status } = await shop.send(method, path + query, { body: undefined });
        assert([200, 204, 400, 404, 503].includes(status), `${method} ${path}: ${status}`);
      }
    }
  } finally {
    RegExp.prototype.exec = exec;
  }
  assertEquals(run.filter((source) => source.includes("a+")), []);
  await assertRefused(shop, asQuery({ name: { $regex: "a".repeat(201) } }));
});

/** Nests a condition. */
function nested(depth: number, wrap: (inner: object) => object): object {
  let filter: object = { name: "a" };
  for (let left = depth; left > 0; left--) filter = wrap(filter);
  return filter;
}

test("CVE-2026-30946, CVE-2026-33498: a filter is limited in depth and size, whatever nests it", async () => {
  await using shop = await openShop();
  const filters = [
    nested(25, (inner) => ({ $or: [inner] })),
    nested(25, (inner) => ({ $nor: [inner] })),
    nested(25, (inner) => ({ free: { $elemMatch: inner } })),
    nested(200, (inner) => ({ free: inner })),
    { name: nested(25, (inner) => ({ $not: inner })) },
    { $or: Array.from({ length: 201 }, () => ({ name: "a" })) },
    { name: { $in: Array.from({ length: 1001 }, () => "a") } },
  ];
  for (const filter of filters) await assertRefused(shop, asQuery(filter));
  for (const limit of ["21", "0", "-1", "1e9", "NaN", ""]) {
    const { status } = await shop.get(`/accounts?limit=${limit}`);
    assertEquals(status, 400, limit);
  }
});

test("GHSA-9cp7-3q5w-j92g: a malformed expression is a 400 that says nothing of the database", async () => {
  await using shop = await openShop();
  for (const $regex of ["(", "[", "(?<", "*", "a{2,1}", "(?P<x"]) {
    const { status, text } = await shop.get(`/accounts${asQuery({ name: { $regex } })}`);
    assertEquals(status, 400, $regex);
    assertNotMatch(text, /PCRE|51091|Regular expression|errmsg|codeName|Mongo/);
  }
});

test("GHSA-5j86-7r7m-p8h6: no name is looked up in a prototype", async () => {
  await using shop = await openShop();
  for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty", "valueOf"]) {
    const q = encodeURIComponent(`{"${name}":{"$ne":1}}`);
    await assertRefused(shop, `?q=${q}`);
    await assertRefused(shop, `?q=${encodeURIComponent(`{"name":{"${name}":1,"$${name}":1}}`)}`);
    for (const parameter of ["sort", "select"]) {
      const { status } = await shop.get(`/accounts?${parameter}=${name}`);
      assertEquals(status, 400, `${parameter}=${name}`);
    }
  }
});

test("LoopBack's advisory of 06-04-2015: what is given twice is not checked once", async () => {
  await using shop = await openShop();
  const q = asQuery({ name: "none" }).slice(1);
  await assertRefused(shop, `?${q}&${q}`);
  for (const name of ["sort", "select"]) {
    for (const each of [`${name}=name&${name}=password`, `${name}=password&${name}=name`]) {
      assertEquals((await shop.get(`/accounts?${each}`)).status, 400, each);
    }
  }
});
