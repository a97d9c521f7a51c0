import { assert, assertEquals, assertRejects } from "@std/assert";
import { ApiError, etagOf } from "@mongrove/mongrove/client";
import { test } from "../harness/testing.ts";
import { openStudio } from "./studio.ts";

async function lost(call: Promise<unknown>): Promise<void> {
  const { status, code } = await assertRejects(() => call, ApiError);
  assertEquals([status, code], [412, "PRECONDITION_FAILED"]);
}

test("ifMatch takes an answer, its copy, an entity of a list, a tag and a star", async () => {
  await using studio = await openStudio();
  const { films } = studio;
  const made = await films.create({ name: "A" });
  const { items: [listed] } = await films.all();
  assert(listed);
  const tag = etagOf(made) ?? "";
  const stale = [made, { ...made }, structuredClone(made), listed, tag];
  await films.update(made._id, { name: "B" }, { ifMatch: made });
  for (const ifMatch of stale) {
    await lost(films.update(made._id, { name: "C" }, { ifMatch }));
    await lost(films.remove(made._id, { ifMatch }));
  }
  const again = await films.one(made._id);
  assertEquals(again.name, "B");
  for (const ifMatch of [{ ...again }, "*"]) {
    assertEquals((await films.update(made._id, {}, { ifMatch })).name, "B");
  }
  await films.remove(made._id, { ifMatch: await films.one(made._id) });
});

test("one() gives the known answer back while nothing has changed", async () => {
  const statuses: number[] = [];
  await using studio = await openStudio({
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      statuses.push(response.status);
      return response;
    },
  });
  const { films } = studio;
  const { _id } = await films.create({ name: "A" });
  const known = await films.one(_id);
  assert(Object.is(await films.one(_id, { known }), known));
  const part = await films.one(_id, { select: ["name"], known });
  assertEquals(Object.keys(part), ["_id", "name"]);
  await films.update(_id, { name: "B" });
  const fresh = await films.one(_id, { known });
  assertEquals([fresh.name, known.name], ["B", "A"]);
  assertEquals((await films.one(_id, { known: { ...known } })).name, "B");
  assertEquals(statuses, [201, 200, 304, 200, 200, 200, 200]);
});

test("q binds an update and a removal", async () => {
  await using studio = await openStudio();
  const { films } = studio;
  const { _id } = await films.create({ name: "A", year: 1 });
  const status = async (call: Promise<unknown>) =>
    (await assertRejects(() => call, ApiError)).status;
  assertEquals(await status(films.update(_id, { year: 3 }, { q: { year: 2 } })), 404);
  assertEquals(await status(films.remove(_id, { q: { year: 2 } })), 404);
  assertEquals((await films.update(_id, { year: 2 }, { q: { year: 1 } })).year, 2);
  await films.remove(_id, { q: { year: 2 } });
});
