import { assertEquals } from "@std/assert";
import { type Document, readDocument } from "../support/documented.ts";
import { test } from "../harness/testing.ts";
import { loadRecipe } from "./recipes/open_recipe.ts";

const PAGE = "docs/openapi.md";

const text = await Deno.readTextFile(new URL(`../../${PAGE}`, import.meta.url));
const open = await loadRecipe(PAGE, "An example");

test(`${PAGE} shows what the document of its file says`, async () => {
  await using app = await open();
  const { schemas, operation } = readDocument(await app.read<Document>("/openapi.json"));
  const [, shown = ""] = /^```json\n([^]*?)^```$/m.exec(text) ?? [];
  const told = Object.entries(JSON.parse(shown) as Record<string, unknown>);
  assertEquals(told, told.map(([name]) => [name, schemas[name]]));
  assertEquals(Object.keys(schemas).filter((name) => /^Movie(New|Filter)?$/.test(name)), [
    ...["MovieFilter", "Movie", "MovieNew"],
  ]);
  const { summary } = operation("GET", "/movies");
  const { example } = operation("POST", "/movies").requestBody?.content["application/json"] ?? {};
  assertEquals([summary, example], ["Movies, page by page", { name: "Metropolis", year: 1927 }]);
});
