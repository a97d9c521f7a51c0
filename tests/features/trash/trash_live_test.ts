import { assertEquals } from "@std/assert";
import { all, create, FrameworkModel, one, prop, remove, rest } from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { mountLive, openLive } from "../live/live.ts";
import { until } from "../../support/until.ts";
import { KEEPER, serveBooks } from "./books.ts";

test("a live list drops an entity that goes into the trash, and gets it back", async () => {
  await using app = await serveBooks();
  const { _id } = await app.created("/books", { name: "a", code: "x" });
  await using all = await openLive(`${app.url}/books`);
  await using gone = await openLive(`${app.url}/books?trash=only`, KEEPER.headers);
  await Promise.all([all.ready(), gone.ready()]);
  assertEquals([all.items.length, gone.items.length], [1, 0]);
  await app.delete(`/books/${_id}`);
  await until(() => all.items.length === 0 && gone.items.length === 1);
  await app.post(`/books/${_id}/restore`, undefined, KEEPER);
  await until(() => all.items.length === 1 && gone.items.length === 0);
  assertEquals(all.taken(), "put ready drop put");
});

/** The users who see the trash of slips. */
const seers = new Set(["ann", "bob"]);

@rest({
  route: "/slips",
  methods: [all({ live: true }), one(), create(), remove()],
  trash: { see: (req) => seers.has(String(req.headers["x-user"])) },
})
class Slip extends FrameworkModel {
  @prop()
  name?: string;
}

test("a live list of the trash ends when its reader may no longer see the trash", async () => {
  await using app = await mountLive([Slip], {
    limits: { live: { renewMS: 200 } },
  });
  const { _id } = await app.created("/slips", { name: "a" });
  await using ann = await openLive(`${app.url}/slips?trash=only`, { "x-user": "ann" });
  await using bob = await openLive(`${app.url}/slips?trash=only`, { "x-user": "bob" });
  await Promise.all([ann.ready(), bob.ready()]);
  seers.delete("ann");
  await until(() => ann.hasEnded);
  await app.delete(`/slips/${_id}`);
  await until(() => bob.items.length === 1);
  assertEquals([ann.items, bob.hasEnded], [[], false]);
});
