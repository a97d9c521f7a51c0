import { openTaskMongo } from "../mongo/task_mongo.ts";
import { needAdminPage } from "./admin_task.ts";
import { runDeno } from "./run_deno.ts";

/**
 * Runs the demo with the flags that the library needs, and `--allow-read`, with which it reads the files of
 * swagger-ui-dist. Builds the admin page before, unless it is built already. Mongoose asks the system for its name and its memory, and waits in
 * silence where it may not.
 *
 * @param args Arguments of the demo.
 * @returns The exit code.
 */
export async function runDemo(args: string[]): Promise<number> {
  await needAdminPage();
  await using mongo = await openTaskMongo();
  const { code } = await runDeno([
    "run",
    "--quiet",
    "--no-prompt",
    "--allow-env",
    "--allow-net",
    "--allow-sys",
    "--allow-read",
    "examples/movies/main.ts",
    ...args,
  ], { env: mongo.env });
  return code;
}
