import { assert, assertEquals, assertRejects } from "@std/assert";
import { test } from "../harness/testing.ts";
import type { EntityBody } from "../support/client.ts";
import { loadRecipe } from "./recipes/open_recipe.ts";
import { readSteps } from "./tutorial/read_steps.ts";

const PAGE = "docs/plugins.md";

const TITLE = "Deprecate an operation";

test("the plugin of docs/plugins.md tells of operations that end, and ends them", async () => {
  await using app = await (await loadRecipe(PAGE, TITLE))();
  const created = await app.post<EntityBody>("/tickets", { title: "a" });
  assertEquals([created.status, created.headers.get("deprecation")], [201, null]);
  const closed = await app.post(`/tickets/${created.body._id}/close`);
  assertEquals(
    [closed.status, ...["deprecation", "link"].map((name) => closed.headers.get(name))],
    [200, "@1735689600", `<https://example.org/close>; rel="deprecation"`],
  );
  const archived = await app.post(`/tickets/${created.body._id}/archive`);
  assertEquals([archived.status, archived.headers.get("sunset")], [
    410,
    "Sun, 01 Jun 2025 00:00:00 GMT",
  ]);
  type Paths = Record<string, { readonly post?: { readonly deprecated?: boolean } }>;
  const { paths } = await app.read<{ readonly paths: Paths }>("/openapi.json");
  const deprecated = Object.keys(paths).filter((path) => paths[path]?.post?.deprecated);
  assertEquals(deprecated, ["/tickets/{id}/close", "/tickets/{id}/archive"]);
});

test("the plugin of docs/plugins.md refuses a misspelled operation, and has 40 lines", async () => {
  const page = await Deno.readTextFile(new URL(`../../${PAGE}`, import.meta.url));
  const { files = {} } = readSteps(page).find(({ title }) => title === TITLE) ?? {};
  const [code = ""] =
    /^interface Deprecation [^]*?^function [^]*?^}/m.exec(files["app.ts"] ?? "") ?? [];
  const lines = code.split("\n").length;
  assert(lines > 20 && lines <= 40, String(lines));
  const misspell = (code: string) => code.replace("tickets:action.close", "tickets:close");
  await assertRejects(
    () => loadRecipe(PAGE, TITLE, misspell),
    TypeError,
    `Cannot deprecate "tickets:close"`,
  );
});
