import { openTaskMongo } from "../mongo/task_mongo.ts";
import { runDeno } from "./run_deno.ts";

/**
 * Runs the demo with the flags that the library needs, and those that its pages need: it reads the files of
 * swagger-ui-dist, and has Deno build the admin page. Mongoose asks the system for its name and its memory, and waits in
 * silence where it may not.
 *
 * @param args Arguments of the demo.
 * @returns The exit code.
 */
export async function runDemo(args: string[]): Promise<number> {
  await using mongo = await openTaskMongo();
  const { code } = await runDeno([
    "run",
    "--quiet",
    "--no-prompt",
    "--allow-env",
    "--allow-net",
    "--allow-sys",
    "--allow-read",
    "--allow-run",
    "examples/admin/main.ts",
    ...args,
  ], { env: mongo.env });
  return code;
}
