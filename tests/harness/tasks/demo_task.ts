import { openTaskMongo } from "../mongo/task_mongo.ts";
import { say } from "../say.ts";
import { ensureAdminPage, isAdminPageBuilt } from "./admin_task.ts";
import { runDeno } from "./run_deno.ts";

const LOOK_MS = 500;

/**
 * The demo has the flags that the library needs, and `--allow-read` for swagger-ui-dist. Mongoose asks the system for
 * its name and its memory, and waits in silence without the permission.
 */
export async function runDemo(args: string[]): Promise<number> {
  await using mongo = await openTaskMongo();
  const demo = runDeno([
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
  const ended = demo.then(() => true);
  if (!await isAdminPageBuilt({ isQuick: true }) && await listens(ended)) {
    await Promise.race([buildAdminPage(), ended]);
  }
  return (await demo).code;
}

/** Building the page takes longest, and would delay the demo. */
async function listens(ended: Promise<boolean>): Promise<boolean> {
  const port = Number(Deno.env.get("PORT") ?? 3000);
  while (true) {
    const connection = await Deno.connect({ port, hostname: "127.0.0.1" }).catch(() => undefined);
    connection?.close();
    if (connection) return true;
    const pause = new Promise<boolean>((done) => setTimeout(done, LOOK_MS, false));
    if (await Promise.race([ended, pause])) return false;
  }
}

async function buildAdminPage(): Promise<void> {
  say("Building the admin page, once: /admin shows it in a minute");
  const { code, output } = await ensureAdminPage({ isQuick: true });
  say(code === 0 ? "The admin page is built" : `Cannot build the admin page: ${output}`);
}
