import { assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { test } from "../harness/testing.ts";
import { runCommand } from "./support/run_command.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

async function bench(...args: string[]): Promise<string> {
  const command = ["run", "-q", "-A", "bench/run.ts", ...args, "--quick"];
  return await runCommand(Deno.execPath(), command, { cwd: ROOT });
}

test("the bench measures servers whose answers are right, without a note", async () => {
  for (
    const args of [["one", "--peer=express_lean"], ["options", "none one", "--peer=express_lean"]]
  ) {
    const output = await bench(...args);
    assertEquals(output.match(/left out|failed|Note:.*/g), null, args.join(" "));
  }
});
