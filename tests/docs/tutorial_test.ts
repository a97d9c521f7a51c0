import { assertEquals } from "@std/assert";
import { openDatabase } from "../harness/database.ts";
import { longTest } from "../harness/testing.ts";
import { makeProject } from "./tutorial/make_project.ts";
import { parseAnswer } from "./tutorial/parse_answer.ts";
import { readSteps } from "./tutorial/read_steps.ts";
import { Rehearsal } from "./tutorial/rehearsal.ts";
import { startApp } from "../reach/support/start_app.ts";

const page = await Deno.readTextFile(new URL("../../docs/tutorial.md", import.meta.url));

const RUN = ["run", "--quiet", "--no-prompt", "--no-lock"];
const PERMISSIONS = ["--allow-env", "--allow-net", "--allow-sys"];

/** Identifiers of one process come after those of another from the next second on. */
function nextSecond(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1010 - Date.now() % 1000));
}

longTest("docs/tutorial.md shows what its files answer, step by step", async (t) => {
  await using database = await openDatabase();
  await using project = await makeProject();
  const rehearsal = new Rehearsal();
  for (const { title, files, turns } of readSteps(page)) {
    await t.step(title, async () => {
      await project.write(files);
      if (turns.length === 0) return;
      await nextSecond();
      const command = [Deno.execPath(), ...RUN, ...PERMISSIONS, "main.ts"] as const;
      const env = { MONGODB_URI: database.uri };
      await using app = await startApp(command, { cwd: project.folder, env });
      for (const { line, answer } of turns) {
        assertEquals(
          parseAnswer(await rehearsal.play(app.url, line, answer)),
          parseAnswer(answer),
          line,
        );
      }
    });
  }
});
