import { assertEquals } from "@std/assert";
import { test } from "../../harness/testing.ts";
import { openLive } from "../live/live.ts";
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
