import { assertEquals, assertNotEquals } from "@std/assert";
import mongoose from "mongoose";
import { getModel } from "../../../mod.ts";
import { watchCommands } from "../../support/both_paths.ts";
import { FLAT, OTHERS, Replaced } from "../../fixtures/replaced.ts";
import { test } from "../../harness/testing.ts";
import { type ErrorBody, mount, type Mounted } from "../../support/support.ts";

const ROUTES = ["/fast/slugs", "/slow/slugs", "/fast/ids", "/slow/ids"];

/** What is stored for a key, as text, without what differs from one request to the next. */
async function stored(key: object) {
  const found = await getModel(Replaced).collection.findOne(key);
  const { _id, createdAt, updatedAt, slug: _slug, ...values } = Object(found);
  const text = mongoose.mongo.BSON.EJSON.stringify(values, { relaxed: false });
  return { _id, createdAt, updatedAt, values: Object.entries(JSON.parse(text)).sort() };
}

/** A new key of a route: the text in the path, and what selects the entity. */
function newKey(route: string): readonly [text: string, key: object] {
  const _id = new mongoose.Types.ObjectId();
  const slug = `slug-${_id}`;
  return route.endsWith("ids") ? [String(_id), { _id }] : [slug, { slug }];
}

/** Puts a body twice, the first time where there is nothing. */
async function putTwice({ put }: Mounted, route: string, body: object) {
  const [text, key] = newKey(route);
  const first = await put(`${route}/${text}`, body);
  const before = await stored(key);
  const second = await put(`${route}/${text}`, body);
  const after = await stored(key);
  return { text, key, first, before, second, after };
}

test("replace() creates what is not there, and the second time replaces it by the same", async () => {
  await using app = await mount([Replaced]);
  for (const route of ROUTES) {
    for (const body of FLAT) {
      const { text, first, second, before, after } = await putTwice(app, route, body);
      const say = `${route} ${JSON.stringify(body)} ${first.text} ${second.text}`;
      assertEquals([first.status, second.status], [201, 200], say);
      const { createdAt, updatedAt, __v, ...shown } = first.body;
      assertEquals([__v, second.body.__v, createdAt], [0, 1, updatedAt], say);
      const { updatedAt: _later, ...again } = second.body;
      assertEquals<unknown>(again, { ...shown, createdAt, __v: 1 }, say);
      const path = route.endsWith("ids") ? `${route}/${first.body._id}` : `${route}/${text}`;
      assertEquals(first.headers.get("location"), path);
      assertEquals(second.headers.get("location"), null);
      assertEquals([after._id, after.createdAt], [before._id, before.createdAt], say);
      const unversioned = ({ values }: typeof after) => values.filter(([name]) => name !== "__v");
      assertEquals(unversioned(after), unversioned(before), say);
      await getModel(Replaced).collection.deleteMany({});
    }
  }
});

test("replace() takes a document for some bodies only", async () => {
  await using app = await mount([Replaced]);
  await getModel(Replaced).init();
  await app.put("/fast/slugs/warm", { name: "a" });
  const sent = await watchCommands(app.database.uri);
  await getModel(Replaced).init();
  await app.put("/fast/slugs/warm", { name: "a" });
  for (const route of ROUTES) {
    for (const body of FLAT) {
      const [text, key] = newKey(route);
      sent.length = 0;
      await app.put(`${route}/${text}`, body);
      const isDirect = sent.map(({ name }) => name).join() === "findAndModify";
      assertEquals(isDirect, route.startsWith("/fast"), JSON.stringify([route, body]));
      await getModel(Replaced).collection.deleteMany(key);
    }
  }
});

test("replace() stores and answers the same with documents as without", async () => {
  await using app = await mount([Replaced]);
  for (const kind of ["slugs", "ids"]) {
    for (const body of [...FLAT, ...OTHERS]) {
      const results = [];
      for (const way of ["fast", "slow"]) {
        const { first, second, before, after } = await putTwice(app, `/${way}/${kind}`, body);
        const shown = [first, second].map(({ status, body }) => {
          const { _id, slug: _slug, createdAt: _c, updatedAt: _u, ...others } = body;
          return [status, others];
        });
        results.push([shown, before.values, after.values]);
        await getModel(Replaced).collection.deleteMany({});
      }
      assertEquals(results[0], results[1], JSON.stringify(body));
    }
  }
});

test("replace() clears what the body leaves out, and keeps what clients cannot see or set", async () => {
  await using app = await mount([Replaced]);
  const full = {
    ...{ name: "n", year: 1990, rating: "bad", tags: ["a"], numbers: [9], date: new Date(9) },
    ...{ nothing: 5, free: { a: 1 }, labels: { x: "y" }, part: { name: "p" }, parts: [{}] },
    ...{ secret: "kept", mark: "kept", owner: "kept", code: "c", createdAt: new Date(1), __v: 4 },
  };
  for (const route of ROUTES) {
    const [text, key] = newKey(route);
    await getModel(Replaced).collection.deleteMany({});
    await getModel(Replaced).collection.insertOne({ slug: "s", ...full, ...key } as never);
    const { status, body } = await app.put(`${route}/${text}`, { name: "new" });
    const left = await getModel(Replaced).collection.findOne(key);
    const { _id, slug: _slug, updatedAt, ...values } = Object(left);
    assertEquals(status, 200, route);
    assertEquals(values, {
      ...{ name: "new", year: 2000, rating: "good", tags: [], numbers: [], parts: [] },
      ...{ date: new Date(5), nothing: null, secret: "kept", mark: "kept", owner: "kept" },
      ...{ createdAt: new Date(1), __v: 5 },
    }, route);
    assertNotEquals(updatedAt, undefined);
    assertEquals([body.owner, "secret" in body, "mark" in body], ["kept", false, false]);
    await app.put(`${route}/${text}`, { name: "new", mark: "set", owner: "me" });
    const { secret, mark, owner } = Object(await getModel(Replaced).collection.findOne(key));
    assertEquals([secret, mark, owner], ["kept", "set", "kept"], route);
  }
});

test("replace() refuses a body that leaves out a required field, and names all problems", async () => {
  await using app = await mount([Replaced]);
  for (const route of ROUTES) {
    const { text, first } = await putTwice(app, route, { year: 1 });
    assertEquals([first.status, await getModel(Replaced).countDocuments()], [400, 0]);
    assertEquals((await app.put(`${route}/${text}`, { name: "a" })).status, 201);
    const { status, body } = await app.put<ErrorBody>(`${route}/${text}`, { year: "x", tags: 1 });
    const names = Object.keys(body.errors ?? {}).sort();
    assertEquals<unknown>([status, names], [400, ["name", "tags", "year"]], route);
    await getModel(Replaced).collection.deleteMany({});
  }
});
