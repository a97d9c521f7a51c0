import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ROOT, runDeno } from "../run_deno.ts";
import { stagePackage } from "./stage_package.ts";

Deno.test("deno publish refuses a clone, which may have no admin page", async () => {
  const args = ["publish", "--dry-run", "--allow-dirty", "--no-check", "--token=none"];
  const { code, output } = await runDeno(args, { capture: true, cwd: ROOT.pathname });
  assertEquals(code, 1);
  assertStringIncludes(output, "excluded-module");
});

Deno.test("the package for JSR has the script of the admin page, and may be published", async () => {
  const files = await stagePackage();
  assertStringIncludes(files.get("src/admin/built/page.js") ?? "", "export const PAGE");
  const { publish } = JSON.parse(files.get("deno.json") ?? "{}");
  assert(publish.exclude.includes("!**"));
});
