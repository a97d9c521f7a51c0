import { assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import settings from "../../deno.json" with { type: "json" };
import { createApp } from "./mod.ts";
import { filesOf } from "./template.ts";

Deno.test("a new application gets this version of the package, and what it works with", () => {
  const { "deno.json": made = "" } = filesOf("app", "deno");
  assertStringIncludes(made, `"jsr:@mongrove/mongrove@^${settings.version}"`);
  assertStringIncludes(made, `"${settings.imports.mongoose}"`);
  assertStringIncludes(made, `"${settings.imports.express}"`);
});

Deno.test("createApp() keeps what a package.json has, but for the script that npm init writes", async () => {
  const folder = await Deno.makeTempDir();
  const path = join(folder, "package.json");
  const scripts = { test: 'echo "Error: no test specified" && exit 1', start: "node mine.js" };
  await Deno.writeTextFile(path, JSON.stringify({ name: "mine", type: "commonjs", scripts }));
  await createApp(folder, { runtime: "node" });
  const made = JSON.parse(await Deno.readTextFile(path));
  assertEquals([made.name, made.type, made.scripts.start], ["mine", "module", "node mine.js"]);
  assertEquals(made.scripts.test, "tsx --test *.test.ts");
  await Deno.remove(folder, { recursive: true });
});
