import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Buffer } from "node:buffer";
import { brotliDecompressSync, gzipSync } from "node:zlib";
import { longTest } from "../../testing.ts";
import { ROOT, runDeno } from "../run_deno.ts";
import { ADMIN_PAGE, stagePackage } from "./stage_package.ts";

/** The most bytes of the page's script, compressed as browsers take it at worst. */
const MAX_BYTES = 400_000;

Deno.test("deno publish refuses a clone, which may have no admin page", async () => {
  const args = ["publish", "--dry-run", "--allow-dirty", "--no-check", "--token=none"];
  const { code, output } = await runDeno(args, { capture: true, cwd: ROOT.pathname });
  assertEquals(code, 1);
  assertStringIncludes(output, "excluded-module");
});

longTest("the package for JSR has the script of the admin page, and may be published", async () => {
  const files = await stagePackage();
  const [, page = ""] = /^export const PAGE = "([^"]+)";/.exec(files.get(ADMIN_PAGE) ?? "") ?? [];
  const script = brotliDecompressSync(Buffer.from(page, "base64"));
  const bytes = gzipSync(script, { level: 9 }).length;
  assert(bytes > 300_000 && bytes < MAX_BYTES, `${bytes} bytes`);
  const { publish } = JSON.parse(files.get("deno.json") ?? "{}");
  assert(publish.exclude.includes("!**"));
});
