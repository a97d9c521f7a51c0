import { assertEquals } from "@std/assert";
import { openDatabase } from "../harness/database.ts";
import { test } from "../harness/testing.ts";
import { startApp } from "./support/start_app.ts";
import { ANSWERS, converse } from "./support/todo_conversation.ts";
import { tryCommand } from "./support/run_command.ts";
import { openWorkspace } from "./support/workspace.ts";

const { denoProject: cwd, denoEnv } = openWorkspace();

const PERMISSIONS = ["--allow-env", "--allow-net", "--allow-sys"];

test("deno run serves the README's application with the package from JSR", async () => {
  await using database = await openDatabase();
  const env = { ...denoEnv, MONGODB_URI: database.uri };
  const run = [Deno.execPath(), "run", "--no-prompt", ...PERMISSIONS, "main.ts"] as const;
  await using app = await startApp(run, { cwd, env });
  assertEquals(await converse(app.url), ANSWERS);
});

test("deno check accepts the README's application with the package from JSR", async () => {
  const result = await tryCommand(Deno.execPath(), ["check", "main.ts"], { cwd, env: denoEnv });
  assertEquals(result.code, 0, result.output);
});
