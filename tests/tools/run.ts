/**
 * The task `tools`: holds the OpenAPI document, its page, the client and the examples against tools that others wrote.
 * What they need is fetched into a cache outside of the repository. `--long` generates more requests, `--picture` takes
 * the pictures for the docs.
 *
 * @module
 */
import { needAdminPage } from "../harness/tasks/admin_task.ts";
import { runReported, runTask } from "../harness/tasks/test_folder.ts";
import { findChromium } from "./support/find_chromium.ts";
import { PICTURE } from "./support/picture.ts";
import { openPythonClient, openSchemathesis } from "./support/python_tools.ts";

/** Fetches at one time what the tests would fetch one after the other. */
async function prepare(): Promise<void> {
  await Promise.all([findChromium(), openSchemathesis(), openPythonClient()]);
}

await runTask(async (given) => {
  await needAdminPage();
  const args = given.filter((arg) => arg !== "--picture");
  const env: Record<string, string> = args.length < given.length ? { [PICTURE]: "1" } : {};
  return await runReported("tools", { args, env, prepare });
});
