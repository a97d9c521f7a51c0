import { openTaskMongo } from "../mongo/task_mongo.ts";
import { runDeno } from "./run_deno.ts";

/** What `--admin` needs besides: it has Deno build its page. */
const ADMIN = ["--allow-read", "--allow-run", "examples/admin/main.ts"];

/**
 * Runs the demo with the flags that the library needs. Mongoose asks the system
 * for its name and its memory, and waits in silence where it may not.
 *
 * @param args `--admin` serves an admin page too. The others are arguments of the demo.
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
    ...args.includes("--admin") ? ADMIN : ["examples/movies/main.ts"],
    ...args.filter((arg) => arg !== "--admin"),
  ], { env: mongo.env });
  return code;
}
