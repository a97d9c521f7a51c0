import { assertEquals, assertNotEquals } from "@std/assert";
import mongoose from "mongoose";
import { getModel } from "../../mod.ts";
import { FLAT, FlatMovie, OTHERS } from "../fixtures/flat_movie.ts";
import { test } from "../harness/testing.ts";
import { type EntityBody, type ErrorBody, mount, type Mounted } from "../support/support.ts";

/** An answer and what is stored after it, without what differs from one creation to the next. */
async function created({ get, post }: Mounted, [path, body]: [string, object]) {
  const movies = getModel(FlatMovie).collection;
  await movies.deleteMany({ slug: { $ne: "taken" } });
  const reply = await post(`/${path}`, body);
  const stored = await movies.findOne({ slug: { $ne: "taken" } });
  const { _id, createdAt, updatedAt, ...shown } = reply.body;
  if (reply.status === 201) {
    assertEquals(createdAt, updatedAt);
    assertEquals(String(createdAt), (stored?.createdAt as Date).toISOString());
    assertEquals(reply.headers.get("location"), `/${path}/${_id}`);
    assertEquals((await get(`/${path}/${_id}`)).body, reply.body);
  }
  return { status: reply.status, shown, stored: stored && entries(stored) };
}

/** The values of a document, in whatever order, with their types. */
function entries(document: object): string[] {
  const { _id, createdAt, updatedAt, ...values } = document as EntityBody;
  assertNotEquals([_id, createdAt, updatedAt].includes(undefined), true);
  return Object.entries(values)
    .map(([name, value]) => mongoose.mongo.BSON.EJSON.stringify([name, value], { relaxed: false }))
    .sort();
}

test("create() stores and answers without a document what it does with one", async () => {
  await using app = await mount([FlatMovie]);
  for (const body of FLAT) {
    const fast = await created(app, ["fast", body]);
    assertEquals(fast, await created(app, ["slow", body]), JSON.stringify(body));
    assertEquals([fast.status, JSON.stringify(fast.shown).includes("SECRET")], [201, false]);
  }
});

test("create() takes a document for other bodies, and answers the same", async () => {
  await using app = await mount([FlatMovie]);
  for (const body of OTHERS) {
    const fast = await created(app, ["fast", body]);
    assertEquals(fast, await created(app, ["slow", body]), JSON.stringify(body));
  }
});

test("create() tells a conflict with or without a document", async () => {
  await using app = await mount([FlatMovie]);
  await getModel(FlatMovie).createIndexes();
  await getModel(FlatMovie).collection.insertOne({ slug: "taken" });
  const body = { name: "a", slug: "taken" };
  for (const path of ["fast", "slow"]) {
    const reply = await app.post<ErrorBody>(`/${path}`, body);
    assertEquals([reply.status, reply.body.fields], [409, ["slug"]]);
  }
});
