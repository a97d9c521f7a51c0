import { assertEquals } from "@std/assert";
import { test } from "../harness/testing.ts";
import { asQuery, type EntityBody, mount } from "../support/support.ts";
import { Trip } from "./trips.ts";

const GIVEN = {
  title: " Rome ",
  secretPrice: 7,
  price: 99,
  place: { city: "Rome", street: "Via" },
  tags: ["a"],
  extra: { any: 1 },
  counts: { a: 1 },
  reviews: [{ text: "good", stars: 5 }],
};

const SHOWN = {
  title: "Rome",
  slug: "rome",
  place: { city: "Rome" },
  tags: ["a"],
  extra: { any: 1 },
  counts: { a: 1 },
  shout: "ROME",
};

test("adopt() shows and writes the named paths, as the model does", async () => {
  await using app = await mount([Trip]);
  const made = await app.post<EntityBody>("/adopted-trips", GIVEN);
  assertEquals(made.status, 201, made.text);
  const { _id, __v, id, reviews, ...others } = made.body;
  assertEquals(others, SHOWN);
  assertEquals([id, __v], [_id, 0]);
  assertEquals((reviews as object[]).map((each) => Object.keys(each).sort()), [["_id", "text"]]);
  const stored = await app.database.connection.collection("adoptedtrips").findOne();
  assertEquals([stored?.price, stored?.secretPrice, stored?.place?.street], [10, 7, "Via"]);
  const listed = await app.get("/adopted-trips");
  assertEquals(listed.body, [made.body]);
});

test("no filter, order or search of a client reaches hidden paths and virtuals", async () => {
  await using app = await mount([Trip]);
  await app.post("/adopted-trips", GIVEN);
  const paths = ["secretPrice", "price", "code", "place.street", "reviews.stars", "label", "shout"];
  for (const path of [...paths, "reviews.moderation.note", "place", "id", "createdAt"]) {
    const conditions = ["x", { $ne: null }, { $exists: true }, { $not: { $type: "object" } }];
    const filters = conditions.map((condition) => ({ [path]: condition }));
    for (const filter of [...filters, { $or: [{ [path]: 1 }] }]) {
      const { status, text } = await app.get(`/adopted-trips${asQuery(filter)}`);
      assertEquals(status, 400, `${path} ${text}`);
    }
    assertEquals((await app.get(`/adopted-trips?sort=${path}`)).status, 400);
  }
});

test("middleware of find() hides entities from every operation", async () => {
  await using app = await mount([Trip]);
  const trips = app.database.connection.collection("adoptedtrips");
  const { body: { _id } } = await app.post<EntityBody>("/adopted-trips", GIVEN);
  await trips.updateOne({}, { $set: { private: true } });
  const path = `/adopted-trips/${_id}`;
  assertEquals((await app.get(path)).status, 404);
  assertEquals((await app.patch(path, { title: "b" })).status, 404);
  assertEquals((await app.delete(path)).status, 404);
  assertEquals((await app.get("/adopted-trips")).body, []);
  assertEquals(await trips.countDocuments({ title: "Rome" }), 1);
});
