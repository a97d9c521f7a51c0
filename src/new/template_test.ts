import { assertStringIncludes } from "@std/assert";
import settings from "../../deno.json" with { type: "json" };
import { filesOf } from "./template.ts";

Deno.test("a new application gets this version of the package, and what it works with", () => {
  const { "deno.json": made = "" } = filesOf("app", "deno");
  assertStringIncludes(made, `"jsr:@mongrove/mongrove@^${settings.version}"`);
  assertStringIncludes(made, `"${settings.imports.mongoose}"`);
  assertStringIncludes(made, `"${settings.imports.express}"`);
});
