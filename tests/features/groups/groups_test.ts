import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { getModel } from "../../../mod.ts";
import { Book, Receipt } from "../../fixtures/receipts.ts";
import { test } from "../../harness/testing.ts";
import { asQuery, type ErrorBody, mount } from "../../support/support.ts";
import { onlyStrict } from "../../support/only_strict.ts";

const RECEIPTS = [
  { tenant: "a", state: "open", rank: 1, size: 4, at: new Date("2024-02-29T23:59:59.999Z") },
  { tenant: "a", state: "open", rank: 2, size: 1, at: new Date("2024-03-01T00:00:00.000Z") },
  { tenant: "b", state: "open", rank: 3, at: new Date("2025-03-01T12:00:00.000Z") },
  { tenant: "b", state: "closed", rank: 5, grade: "x", margin: 7 },
  { tenant: "b", state: null, rank: 7, grade: "y", margin: 9 },
  { tenant: "b", rank: 9 },
];

/** Serves receipts. */
async function mountReceipts(options = {}) {
  const app = await mount([Receipt, Book], options);
  const docs = await getModel(Receipt).create(RECEIPTS);
  return Object.assign(app, { ids: docs.map(({ _id }) => String(_id)) });
}

test("group, sum and avg answer groups in the place of entities, in their order", async () => {
  await using app = await mountReceipts();
  assertEquals(await app.read<unknown>("/receipts?group=state&sum=rank,size&avg=rank"), [
    { state: null, count: 2, sum: { rank: 16, size: 0 }, avg: { rank: 8 } },
    { state: "closed", count: 1, sum: { rank: 5, size: 0 }, avg: { rank: 5 } },
    { state: "open", count: 3, sum: { rank: 6, size: 5 }, avg: { rank: 2 } },
  ]);
  assertEquals(await app.read<unknown>("/receipts?group=at,state"), [
    { at: null, state: null, count: 2 },
    { at: null, state: "closed", count: 1 },
    { at: "2024-02", state: "open", count: 1 },
    { at: "2024-03", state: "open", count: 1 },
    { at: "2025-03", state: "open", count: 1 },
  ]);
  assertEquals(await app.read<unknown>("/receipts?sum=rank"), [{ count: 6, sum: { rank: 27 } }]);
  assertEquals(await app.read<unknown>("/receipts?avg=size&q={%22rank%22:100}"), []);
});

test("groups are sorted by what they have in common, by their number, and by sums", async () => {
  await using app = await mountReceipts();
  const states = async (query: string) => {
    const rows = await app.read<{ state: unknown }[]>(`/receipts?group=state&sum=rank${query}`);
    return rows.map(({ state }) => state);
  };
  assertEquals(await states("&sort=-state"), ["open", "closed", null]);
  assertEquals(await states("&sort=-sum.rank"), [null, "open", "closed"]);
  assertEquals(await states("&sort=sum.rank,-state"), ["closed", "open", null]);
  assertEquals(await states("&sort=-count&avg=size"), ["open", null, "closed"]);
  assertEquals(await states("&avg=size&sort=-avg.size,-count"), ["open", null, "closed"]);
});

test("groups that sort leaves equal are in the order of their fields", async () => {
  await using app = await mount([Receipt, Book]);
  const states = Array.from({ length: 40 }, (_, index) => String.fromCharCode(97 + index));
  await getModel(Receipt).create(states.toReversed().map((state) => ({ state })));
  const rows = await app.read<{ state: string }[]>("/receipts?group=state&sort=-count");
  assertEquals(rows.map(({ state }) => state), states);
});

test("groups are of what q, the scope, search and hooks select", async () => {
  await using app = await mountReceipts();
  const tenant = { headers: { "x-tenant": "a" } };
  assertEquals(await app.read<unknown>("/receipts?group=state", tenant), [{
    ...{ state: "open", count: 2 },
  }]);
  const q = asQuery({ $or: [{ rank: { $gt: 6 } }, { size: 4 }] });
  assertEquals(await app.read<unknown>(`/receipts${q}&sum=rank`), [{
    ...{ count: 3, sum: { rank: 17 } },
  }]);
  assertEquals(await app.read<unknown>("/receipts?search=CLO&group=state"), [{
    ...{ state: "closed", count: 1 },
  }]);
  const limited = (state: object) => ({ headers: { "x-state": JSON.stringify(state) } });
  const below = limited({ filter: { rank: { $lt: 4 } }, options: { limit: 1, sort: "rank" } });
  assertEquals(await app.read<unknown>("/limited?group=state", below), [{
    ...{ state: "open", count: 3 },
  }]);
});

test("groups of fewer entities than minCount are left out, and more than max are a 409", async () => {
  await using app = await mountReceipts();
  assertEquals(await app.read<unknown>("/few?group=state&sum=rank"), [{
    ...{ state: "open", sum: { rank: 6 } },
  }]);
  const states = ["a", "b", "c"].flatMap((state) => [{ state }, { state }, { state }]);
  await getModel(Receipt).create(states);
  const { status, body } = await app.get("/few?group=state");
  assertEquals([status, body], [409, {
    code: "CONFLICT",
    message: "There are more than 3 groups: narrow them by q, or group by less",
    limit: 3,
  }]);
  assertEquals((await app.read<unknown[]>(`/few${asQuery({ state: "a" })}&group=state`)).length, 1);
});

const REFUSED: [query: string, parameter: string, allowed: string | undefined][] = [
  ["group=", "group", "fields out of state, rank, at, day, year, when, done, owner"],
  ["group=tenant", "group", "fields out of state, rank, at, day, year, when, done, owner"],
  ["group=_id", "group", "fields out of state, rank, at, day, year, when, done, owner"],
  ["group=$state", "group", "fields out of state, rank, at, day, year, when, done, owner"],
  ["group=state,", "group", "fields out of state, rank, at, day, year, when, done, owner"],
  ["group=state.x", "group", "fields out of state, rank, at, day, year, when, done, owner"],
  ["group=at:day", "group", "fields out of state, rank, at, day, year, when, done, owner"],
  ["group=__proto__", "group", "fields out of state, rank, at, day, year, when, done, owner"],
  ["group=constructor", "group", "fields out of state, rank, at, day, year, when, done, owner"],
  ["group[$ne]=state", "group", "fields separated by commas"],
  ["group=%ff", "group", "percent-encoded UTF-8"],
  ["sum=state", "sum", "fields out of price, rank, cents, size"],
  ["avg=$rank", "avg", "fields out of price, rank, cents, size"],
  ["group=state&limit=5", "limit", "no group, sum or avg beside it"],
  ["group=state&skip=5", "skip", "no group, sum or avg beside it"],
  ["sum=rank&select=state", "select", "no group, sum or avg beside it"],
  ["group=state&populate=owner", "populate", undefined],
  ["group=state&sort=rank", "sort", "fields out of state, count"],
  ["group=state&sort=_id", "sort", "fields out of state, count"],
  ["group=state&sort=sum.rank", "sort", "fields out of state, count"],
  ["group=state&sum=rank&sort=rank", "sort", "fields out of state, count, sum.rank"],
  ["sum=rank&sort=sum:rank", "sort", "fields out of count, sum.rank"],
  ["sum=rank&sort=count,-count", "sort", "each field once"],
  ["sort=count", "sort", "fields out of _id, rank"],
];

for (const [query, parameter, allowed] of REFUSED) {
  test(`a list with groups refuses ?${query}`, async () => {
    await using app = await mount([Receipt, Book]);
    const message = allowed === undefined
      ? `Parameter "${parameter}" is not allowed`
      : `Parameter "${parameter}" takes ${allowed}`;
    const { status, body } = await app.get(`/receipts?${query}`);
    assertEquals([status, body], [400, {
      ...{ code: "BAD_FORMAT", message, parameter },
      ...allowed !== undefined && { allowed },
    }]);
  });
}

test("a list without its own order takes sort for groups only", async () => {
  await using app = await mountReceipts();
  assertEquals((await app.get("/few?group=state&sort=-state")).status, 200);
  const { status, body } = await app.get<ErrorBody>("/few?sort=state");
  assertEquals([status, body.message], [400, 'Parameter "sort" is not allowed']);
  assertEquals((await app.read<unknown[]>("/receipts?limit=2")).length, 2);
});

test("a strict route takes the parameters of groups, where they are declared", async () => {
  await using app = await mountReceipts({ strict: onlyStrict("parameters") });
  assertEquals((await app.get("/receipts?group=state&sum=rank&avg=size&sort=count")).status, 200);
  assertEquals((await app.get("/few?group=state&avg=rank")).status, 400);
  assertEquals((await app.get("/receipts?group=state&having=1")).status, 400);
});

test("conditions by distance go with no groups", async () => {
  await using app = await mountReceipts();
  const near = { filter: { at: { $near: [0, 0] } } };
  const { status, body } = await app.get<ErrorBody>("/limited?group=state", {
    headers: { "x-state": JSON.stringify(near) },
  });
  assertEquals([status, body.message], [
    400,
    'Parameter "group" takes no conditions by distance beside it',
  ]);
});

test("groups of what a parent refers to are of that alone", async () => {
  await using app = await mountReceipts();
  const [one, two, , four] = app.ids;
  const book = await getModel(Book).create({ receipts: [one, two, four, two] as never });
  assertEquals(await app.read<unknown>(`/books/${book._id}/receipts?group=state`), [
    { state: "closed", count: 1 },
    { state: "open", count: 2 },
  ]);
});

test("groups have a tag, answer HEAD, and are not sent again", async () => {
  await using app = await mountReceipts();
  const { headers, text } = await app.get("/receipts?group=state");
  const tag = headers.get("etag") ?? "";
  assertEquals(headers.get("content-type"), "application/json; charset=utf-8");
  const again = await app.get("/receipts?group=state", { headers: { "if-none-match": tag } });
  assertEquals([again.status, again.text], [304, ""]);
  const head = await app.send("HEAD", "/receipts?group=state");
  assertEquals(head.headers.get("content-length"), String(text.length));
});

test("what a function hides from a reader is not told of groups, and is as undeclared", async () => {
  await using app = await mountReceipts();
  const boss = { headers: { "x-role": "boss" } };
  assertEquals(await app.read<unknown>("/by-role?group=grade&sum=margin", boss), [
    { grade: null, count: 4, sum: { margin: 0 } },
    { grade: "x", count: 1, sum: { margin: 7 } },
    { grade: "y", count: 1, sum: { margin: 9 } },
  ]);
  const refusal = async (path: string) => (await app.get<ErrorBody>(path)).body.message;
  assertEquals(
    await refusal("/by-role?group=grade"),
    'Parameter "group" takes fields out of state',
  );
  assertEquals(await refusal("/by-role?sum=margin"), 'Parameter "sum" takes fields out of rank');
  assertEquals(
    await refusal("/by-role?group=state&sort=sum.margin"),
    'Parameter "sort" takes fields out of state, count',
  );
  // Nothing of it is left: a list of entities would be another answer than the one that was asked for.
  for (const name of ["group=grade", "avg=margin", "sum=margin", "sort=count"]) {
    const [parameter] = name.split("=");
    assertEquals(await refusal(`/secret?${name}`), `Parameter "${parameter}" is not allowed`);
  }
  assertEquals((await app.get("/secret?avg=margin&group=grade", boss)).status, 200);
});

test("what the projection of a hook leaves out of a list is not told of its groups", async () => {
  await using app = await mountReceipts();
  const read = async (query: string, projection: unknown) => {
    const headers = { "x-state": JSON.stringify({ projection }) };
    const { status, body } = await app.get<ErrorBody>(`/limited?${query}`, { headers });
    return status === 200 ? status : body.message;
  };
  assertEquals(await read("group=state", { rank: 0 }), 200);
  assertEquals(await read("group=rank", { rank: 0 }), 'Field "rank" is unknown');
  assertEquals(await read("group=state&sum=rank", { rank: 0 }), 'Field "rank" is unknown');
  assertEquals(await read("avg=rank", "state size"), 'Field "rank" is unknown');
  assertEquals(await read("group=state&avg=size", "state size"), 200);
  assertEquals(await read("group=state", { state: "$grade" }), 'Field "state" is unknown');
});

test("options of hooks are those of the aggregation", async () => {
  await using app = await mountReceipts();
  await getModel(Receipt).create([{ state: "OPEN", rank: 1 }]);
  const headers = {
    "x-state": JSON.stringify({
      options: { collation: { locale: "en", strength: 2 }, lean: true },
    }),
  };
  const q = asQuery({ state: "oPeN" });
  assertEquals(await app.read<unknown>(`/limited${q}&sum=rank`, { headers }), [{
    ...{ count: 4, sum: { rank: 7 } },
  }]);
});

test("one statement reads the groups, under the time limit, without the disk", async () => {
  await using app = await mountReceipts();
  const sent: [string, unknown][] = [];
  mongoose.set("debug", (collection: string, method: string, ...args: unknown[]) => {
    sent.push([`${collection}.${method}`, args]);
  });
  try {
    await app.read("/receipts?group=state");
  } finally {
    mongoose.set("debug", false);
  }
  assertEquals(sent.map(([name]) => name), ["receipts.aggregate"]);
  const [[, [, options]]] = sent as [[string, [unknown, Record<string, unknown>]]];
  assertEquals([options.allowDiskUse, options.maxTimeMS], [false, 10_000]);
});
