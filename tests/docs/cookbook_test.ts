import { assertEquals } from "@std/assert";
import { openDatabase } from "../harness/database.ts";
import { longTest } from "../harness/testing.ts";
import { startApp } from "../reach/support/start_app.ts";
import { makeProject } from "./tutorial/make_project.ts";
import { parseAnswer } from "./tutorial/parse_answer.ts";
import { readSteps } from "./tutorial/read_steps.ts";
import { Rehearsal } from "./tutorial/rehearsal.ts";

const page = await Deno.readTextFile(new URL("../../docs/cookbook.md", import.meta.url));
const [start, ...recipes] = readSteps(page);

const RUN = ["run", "--quiet", "--no-prompt", "--no-lock", "--no-check"];
const PERMISSIONS = ["--allow-env", "--allow-net", "--allow-sys"];
const COMMAND = [Deno.execPath(), ...RUN, ...PERMISSIONS, "main.ts"] as const;

for (const { title, files, turns } of recipes.filter(({ files }) => "app.ts" in files)) {
  longTest(`docs/cookbook.md shows what its files answer: ${title}`, async () => {
    assertEquals(turns.length > 0, true);
    await using database = await openDatabase();
    await using project = await makeProject();
    await project.write({ ...start?.files, ...files });
    const env = { MONGODB_URI: database.uri };
    await using app = await startApp(COMMAND, { cwd: project.folder, env });
    const rehearsal = new Rehearsal();
    for (const { line, answer } of turns) {
      assertEquals(
        parseAnswer(await rehearsal.play(app.url, line, answer)),
        parseAnswer(answer),
        line,
      );
    }
  });
}
