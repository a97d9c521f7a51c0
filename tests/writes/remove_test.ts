import { assertEquals } from "@std/assert";
import { getModel } from "../../mod.ts";
import type { HooksOf, ModelClass } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { hooked, type Item } from "../support/hooked.ts";
import { namesOf } from "../support/names.ts";
import { type ErrorBody, mount } from "../support/support.ts";

/** Serves items whose remove() has hooks, one of them stored. */
async function removing(hooks: HooksOf<Item> = {}, fields: Partial<Item> = { name: "Up" }) {
  const model: ModelClass<Item> = hooked({ remove: hooks });
  const app = await mount([model]);
  const { _id } = await getModel(model).create(fields as never) as Item;
  const count = () => getModel(model).countDocuments();
  return Object.assign(app, { model, count, item: `/items/${_id}` });
}

test("remove() answers 204 with nothing, and removes the entity alone", async () => {
  await using app = await removing();
  await getModel(app.model).create({ name: "Down" });
  const reply = await app.delete(app.item);
  assertEquals([reply.status, reply.text], [204, ""]);
  assertEquals(namesOf(await getModel(app.model).find()), ["Down"]);
  assertEquals((await app.delete(app.item)).status, 404);
});

test("remove() needs no body, and ignores one that is no JSON", async () => {
  await using app = await removing();
  const text = { raw: "text", headers: { "content-type": "text/plain" } };
  assertEquals((await app.delete(app.item, text)).status, 204);
});

test("remove() gives preSave the entity as previous too, and obeys its null with 403", async () => {
  const seen: unknown[] = [];
  await using app = await removing({
    preSave: (_req, held, previous) => {
      seen.push([held.name, held === previous]);
      return held.name === "free" ? held : null;
    },
  }, { name: "held" });
  const free = await getModel(app.model).create({ name: "free" });
  const refused = await app.delete<ErrorBody>(app.item);
  assertEquals([refused.status, refused.body.code], [403, "FORBIDDEN"]);
  assertEquals((await app.delete(`/items/${free._id}`)).status, 204);
  assertEquals(namesOf(await getModel(app.model).find()), ["held"]);
  assertEquals(seen, [["held", true], ["free", true]]);
});

test("remove() leaves the write to a persist hook", async () => {
  await using app = await removing({
    persist: async (_req, binned, previous) => {
      await binned.set("name", binned === previous ? "binned" : "other").save();
      return binned;
    },
  });
  const reply = await app.delete(app.item);
  assertEquals([reply.status, reply.text], [204, ""]);
  assertEquals(namesOf(await getModel(app.model).find()), ["binned"]);
});
