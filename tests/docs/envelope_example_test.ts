import { assertEquals } from "@std/assert";
import { app as books } from "../../examples/envelope/app.ts";
import { test } from "../harness/testing.ts";
import { NOBODY } from "../support/support.ts";
import { openApp } from "./recipes/open_recipe.ts";

test("examples/envelope puts entities into envelopes, and leaves errors as they are", async () => {
  await using app = await openApp(books);
  type Envelope = { data: { title: string; supplier?: string } | { title: string }[] };
  const { status, body } = await app.post<Envelope>("/books", { title: "Emma", supplier: "S-1" });
  assertEquals([status, Object.keys(body)], [201, ["data"]]);
  assertEquals(Object.keys(body.data).sort(), ["__v", "_id", "title"]);
  const { data: [first] = [], ...others } = await app.read<{ data: { title: string }[] }>("/books");
  assertEquals([first?.title, others], ["Emma", { total: 1 }]);
  const missing = await app.get<{ code: string }>(`/books/${NOBODY}`);
  assertEquals([missing.status, missing.body.code], [404, "NOT_FOUND"]);
});
