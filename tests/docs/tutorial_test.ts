import { assert, assertEquals } from "@std/assert";
import { openDatabase } from "../harness/database.ts";
import { longTest } from "../harness/testing.ts";
import { makeProject } from "./tutorial/make_project.ts";
import { parseAnswer } from "./tutorial/parse_answer.ts";
import { readSteps, type Step } from "./tutorial/read_steps.ts";
import { Rehearsal } from "./tutorial/rehearsal.ts";
import { runCommand } from "../reach/support/run_command.ts";
import { toDefine } from "../support/forms/to_define.ts";
import { startApp } from "../reach/support/start_app.ts";

const page = await Deno.readTextFile(new URL("../../docs/tutorial.md", import.meta.url));
const steps = readSteps(page);

const RUN = ["run", "--quiet", "--no-prompt", "--no-lock"];
const PERMISSIONS = ["--allow-env", "--allow-net", "--allow-sys"];

/** Identifiers of one process come after those of another from the next second on. */
function nextSecond(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1010 - Date.now() % 1000));
}

/** Gives the steps of the tutorial with models that `define()` declares. */
function rewrite(): Step[] {
  return steps.map((step) => ({
    ...step,
    files: Object.fromEntries(
      Object.entries(step.files).map(([name, text]) => [name, toDefine(text).text]),
    ),
  }));
}

/** Plays the steps of the tutorial, and compares the answers with those of the page. */
async function play(all: readonly Step[], t: Deno.TestContext): Promise<void> {
  await using database = await openDatabase();
  await using project = await makeProject();
  const rehearsal = new Rehearsal();
  for (const { title, files, turns } of all) {
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
}

longTest("docs/tutorial.md shows what its files answer, step by step", (t) => play(steps, t));

longTest("docs/tutorial.md answers the same where define() declares its models", (t) => {
  const rewritten = rewrite();
  const models = Object.entries(rewritten.at(-1)?.files ?? {}).map(([, text]) => text).join("");
  assert(rewritten.some(({ files }) => Object.values(files).join("").includes("$define(Movie")));
  assert(!/^@rest|^ +@prop/m.test(models));
  return play(rewritten, t);
});

longTest("docs/tutorial.md compiles where define() declares its models", async () => {
  await using project = await makeProject();
  const files: Record<string, string> = Object.assign({}, ...rewrite().map(({ files }) => files));
  await project.write(files);
  const args = ["check", "--quiet", "--no-lock", ...Object.keys(files)];
  await runCommand(Deno.execPath(), args, { cwd: project.folder, env: {} });
});
