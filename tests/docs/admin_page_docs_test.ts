import { assertEquals } from "@std/assert";
import type { PageDocument } from "../../src/admin/document.ts";
import { test } from "../harness/testing.ts";
import { loadRecipe } from "./recipes/open_recipe.ts";

const PAGE = "docs/admin.md";

const open = await loadRecipe(PAGE, "Mount it");

test(`${PAGE}: the page of its file shows guests less than the staff`, async () => {
  await using app = await open();
  const show = async (headers: Record<string, string>) => {
    const { models: [books] } = await app.read<PageDocument>("/admin/routes.json", { headers });
    return [
      Object.keys(books?.operations ?? {}).sort(),
      books?.operations.all?.answer.map(({ name }) => name),
    ];
  };
  assertEquals(await show({}), [["all", "one"], ["_id", "title", "__v"]]);
  assertEquals(await show({ authorization: "Bearer staff" }), [
    ["all", "create", "one", "remove", "update"],
    ["_id", "title", "price", "__v"],
  ]);
  assertEquals((await app.get("/admin/")).status, 200);
});
