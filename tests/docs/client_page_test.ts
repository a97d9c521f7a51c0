import { assertEquals } from "@std/assert";
import { openDatabase } from "../harness/database.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { serve } from "../harness/serve.ts";
import { longTest } from "../harness/testing.ts";
import { runCommand } from "../reach/support/run_command.ts";
import { importApp } from "./recipes/open_recipe.ts";
import { makeProject } from "./tutorial/make_project.ts";
import { readSteps } from "./tutorial/read_steps.ts";

const PAGES = ["docs/client.md", "docs/live.md"];
const BASE = "http://127.0.0.1:3000";

async function stepsOf(page: string) {
  return readSteps(await Deno.readTextFile(new URL(`../../${page}`, import.meta.url)));
}

/** What the comments below each `console.log()` say. */
function expected(code: string): string[] {
  return [...code.matchAll(/console\.log\(.*\);\n *\/\/ (.*)/g)].map(([, line = ""]) => line);
}

for (const page of PAGES) {
  longTest(`${page} shows what its files print`, async (t) => {
    const steps = await stepsOf(page);
    await using project = await makeProject();
    const files = Object.assign({}, ...steps.map((step) => step.files)) as Record<string, string>;
    await project.write(files);
    const app = await importApp(project);
    const mongo = await sharedReplicaSet();
    await using _database = await openDatabase(mongo);
    await using served = await serve(app);
    for (const [name, code] of Object.entries(files)) {
      await project.write({ [name]: code.replace(BASE, served.url) });
    }
    for (const [name, code] of Object.entries(files).slice(2)) {
      await t.step(name, async () => {
        const args = ["run", "--quiet", "--no-lock", "--allow-net", "--allow-env", name];
        const printed = await runCommand(Deno.execPath(), args, { cwd: project.folder });
        assertEquals(printed.split("\n").filter(Boolean), expected(code));
      });
    }
  });
}
