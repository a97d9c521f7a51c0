import { assert, assertEquals, assertRejects } from "@std/assert";
import { ApiError } from "@mongrove/mongrove/client";
import { test } from "../harness/testing.ts";
import { openStudio } from "./studio.ts";

async function statusOf(call: Promise<unknown>): Promise<number> {
  return (await assertRejects(() => call, ApiError)).status;
}

test("part() works on embedded entities, to any depth", async () => {
  await using studio = await openStudio();
  const { films } = studio;
  const film = await films.create({ name: "A" });
  const reviews = films.part("reviews", film._id);
  const review = await reviews.create({ text: "Good", stars: 4 });
  assertEquals([review.text, "__v" in review], ["Good", false]);
  const comments = reviews.part("comments", review._id);
  const comment = await comments.create({ text: "Yes" });
  assertEquals((await comments.all()).items, [comment]);
  assertEquals((await comments.update(comment._id, { text: "No" })).text, "No");
  assertEquals((await reviews.one(review._id)).comments?.map(({ text }) => text), ["No"]);
  await comments.removeAll({ q: {} });
  await reviews.remove(review._id);
  assertEquals((await films.one(film._id)).reviews, []);
});

test("part() works on references", async () => {
  await using studio = await openStudio();
  const { films, people } = studio;
  const film = await films.create({ name: "A" });
  const cast = films.part("cast", film._id);
  const person = await cast.create({ name: "P" });
  assertEquals([(await cast.one(person._id)).__v, (await people.one(person._id)).name], [0, "P"]);
  assertEquals((await films.one(film._id)).cast, [person._id]);
  assertEquals(await Array.fromAsync(cast.each({ q: { name: "P" } })), [person]);
});

test("part() works on a single entity, embedded and referenced", async () => {
  await using studio = await openStudio();
  const { films } = studio;
  const { _id } = await films.create({ name: "A" });
  const place = films.part("place", _id);
  assertEquals(await statusOf(place.one()), 404);
  assertEquals((await place.create({ city: "Rome" })).city, "Rome");
  assertEquals((await place.update({ city: "Oslo" })).city, "Oslo");
  assertEquals((await place.one({ q: { city: "Oslo" } })).city, "Oslo");
  await place.remove();
  assertEquals(await statusOf(place.one()), 404);
  const director = films.part("director", _id);
  const { _id: id } = await director.create({ name: "D" });
  assertEquals([(await director.one())._id, (await films.one(_id)).director], [id, id]);
});

test("a part takes ifMatch by the tag of its answer, and has no version without it", async () => {
  await using studio = await openStudio();
  const { films } = studio;
  const film = await films.create({ name: "A", reviews: [{ text: "Good" }] });
  const reviews = films.part("reviews", film._id);
  const id = film.reviews?.[0]?._id;
  assert(id);
  const review = await reviews.one(id);
  await films.update(film._id, { name: "B" });
  const late = reviews.update(id, { text: "Bad" }, { ifMatch: review });
  assertEquals(await statusOf(late), 412);
  const copy = { ...review };
  await assertRejects(() => reviews.remove(id, { ifMatch: copy }), TypeError, "neither an ETag");
  await reviews.update(id, { text: "Bad" }, { ifMatch: await reviews.one(id) });
});
