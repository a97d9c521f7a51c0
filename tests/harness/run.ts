import { buildAdminPage } from "./tasks/admin_task.ts";
import { runCheck } from "./tasks/check_task.ts";
import { runDemo } from "./tasks/demo_task.ts";
import { runCoverage, runOk } from "./tasks/ok_task.ts";
import { publishDry } from "./tasks/pack/stage_package.ts";
import { runPack } from "./tasks/pack_task.ts";
import type { DenoResult } from "./tasks/run_deno.ts";
import { runTask } from "./tasks/test_folder.ts";
import { runTests } from "./tasks/test_task.ts";
import { runWeight } from "./tasks/weight_task.ts";

const COMMANDS: Record<string, (args: string[]) => Promise<number>> = {
  test: async (args) => (await runTests(args)).code,
  demo: runDemo,
  admin: () => print(buildAdminPage()),
  pack: runPack,
  "publish:dry": () => print(publishDry()),
  check: async (args) => (await runCheck(args)).code,
  coverage: runCoverage,
  ok: runOk,
  weight: runWeight,
};

async function print(result: Promise<DenoResult>): Promise<number> {
  const { code, output } = await result;
  console.log(output);
  return code;
}

await runTask(async ([name = "", ...args]) => {
  const command = COMMANDS[name];
  if (!command) {
    const names = Object.keys(COMMANDS).join(", ");
    throw new TypeError(`Cannot run "${name}": the commands are ${names}`);
  }
  return await command(args);
});
