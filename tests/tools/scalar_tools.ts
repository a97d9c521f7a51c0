import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { loadRecipe } from "../docs/recipes/open_recipe.ts";
import { test } from "../harness/testing.ts";
import { runCommand } from "../reach/support/run_command.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { startChromium } from "./support/chromium.ts";

const FILE = "node_modules/@scalar/api-reference/dist/browser/standalone.js";

test("the recipe with Scalar sends requests to the path of the API, and asks nobody else", async () => {
  const cwd = await Deno.makeTempDir({ prefix: "mongrove-scalar-" });
  try {
    const install = ["install", "--ignore-scripts", "--no-audit", "--no-fund"];
    await runCommand("npm", [...install, "@scalar/api-reference@1"], { cwd });
    const open = await loadRecipe(
      "docs/openapi.md",
      "Scalar in the place of Swagger UI",
      (code) => code.replace(FILE, join(cwd, FILE)),
    );
    await using app = await open(await sharedReplicaSet());
    await app.created("/v1/movies", { name: "Metropolis" });
    await using chromium = await startChromium();
    await using opened = await chromium.open(`${app.url}/v1/docs`);
    const { page, foreign, complaints } = opened;
    await page.setViewport({ width: 1400, height: 1000 });
    const sent: string[] = [];
    page.on("request", (request) => void sent.push(new URL(request.url()).pathname));
    await page.locator("button ::-p-text(Test Request)").click();
    await page.locator("button ::-p-text(Send)").click();
    await page.waitForFunction(`document.body.innerText.includes("Metropolis")`);
    assert(sent.includes("/v1/movies"), sent.join());
    // Scalar warns about documents that its own types do not expect
    const refused = complaints.filter((text) => /policy|failed/i.test(text));
    assertEquals([foreign, refused], [[], []]);
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
});
