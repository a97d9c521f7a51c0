import { assertEquals, assertNotEquals } from "@std/assert";
import { iconPath } from "../../admin/icons.ts";
import type { PageDocument } from "../../src/admin/document.ts";
import { test } from "../harness/testing.ts";
import { loadRecipe } from "./recipes/open_recipe.ts";

const PAGE = "docs/admin.md";

test(`${PAGE}: the words for icons have one, and no file is named that is not published`, async () => {
  const text = await Deno.readTextFile(new URL(`../../${PAGE}`, import.meta.url));
  const [line = ""] = /`icon`: .*/.exec(text) ?? [];
  const words = [...line.matchAll(/`"(\w+)"`/g)].map(([, word]) => word ?? "");
  assertEquals(words.length, 3);
  for (const word of words) assertNotEquals(iconPath("Qq", word), undefined, word);
  assertEquals(text.match(/`(admin|src|tests)\/[^`]*`/g), null);
});

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
