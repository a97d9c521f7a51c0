import { assert, assertEquals } from "@std/assert";
import { app as reviews } from "../../examples/reviews/app.ts";
import { test } from "../harness/testing.ts";
import { NOBODY } from "../support/support.ts";
import type { EntityBody } from "../support/client.ts";
import { openApp } from "./recipes/open_recipe.ts";

const read = (path: string) => Deno.readTextFile(new URL(`../../${path}`, import.meta.url));

const ANN = { headers: { authorization: "Bearer ann-token" } };
const BOB = { headers: { authorization: "Bearer bob-token" } };

Deno.test("docs/sub_resources.md shows what is in examples/reviews", async () => {
  const [, section = ""] = (await read("docs/sub_resources.md")).split("\n## Reviews ");
  const [, code = ""] = /^```ts ignore\n([^]*?)^```$/m.exec(section) ?? [];
  assert(code !== "" && (await read("examples/reviews/app.ts")).includes(code));
});

test("examples/reviews lets authors alone change and remove their reviews", async () => {
  await using app = await openApp(reviews);
  const { _id } = await app.created<EntityBody>("/books", { title: "Emma" }, ANN);
  const path = `/books/${_id}/reviews`;
  const review = await app.created<EntityBody & { user: string }>(path, { stars: 4 }, ANN);
  assertEquals(review.user, "ann");
  const own = `${path}/${review._id}`;
  const statusOf = async (reply: Promise<{ status: number }>) => (await reply).status;
  assertEquals(await statusOf(app.patch(own, { stars: 1 }, BOB)), 403);
  assertEquals(await statusOf(app.delete(own, BOB)), 403);
  assertEquals(await statusOf(app.patch(own, { user: "bob" }, ANN)), 400);
  assertEquals(await statusOf(app.post("/books", { title: "Emma", reviews: [{}] }, ANN)), 400);
  assertEquals(await statusOf(app.patch(own, { stars: 5 }, ANN)), 200);
  assertEquals(await statusOf(app.delete(`${path}/${NOBODY}`, ANN)), 404);
  assertEquals(await statusOf(app.delete(own, ANN)), 204);
});
