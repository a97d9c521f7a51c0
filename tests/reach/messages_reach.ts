import { assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import {
  type CompilerMessage,
  firstMessages,
  MISTAKES,
  writeMistakes,
} from "../types/compiler/mistakes.ts";
import { test } from "../harness/testing.ts";
import { tryCommand } from "./support/run_command.ts";
import { openWorkspace } from "./support/workspace.ts";

const { nodeProject: cwd, nodes } = openWorkspace();

const { text, starts } = writeMistakes("@mongrove/mongrove");
await Deno.writeTextFile(join(cwd, "mistakes.ts"), text);
const config = { extends: "./tsconfig.json", include: ["mistakes.ts"] };
await Deno.writeTextFile(join(cwd, "mistakes.json"), JSON.stringify(config));

/** Gives what a tsc says first about each mistake. */
async function check(compiler: string): Promise<(string | undefined)[]> {
  const tsc = `node_modules/${compiler}/bin/tsc`;
  const args = [tsc, "-p", "mistakes.json", "--noEmit", "--skipLibCheck", "--pretty", "false"];
  const { output } = await tryCommand(nodes[1].path, args, { cwd });
  const messages = output.matchAll(/^mistakes\.ts\((\d+),(\d+)\): error TS\d+: (.*)/gm)
    .map(([, line, column, text = ""]): CompilerMessage => ({
      line: Number(line),
      column: Number(column),
      text,
    }));
  return firstMessages([...messages], starts);
}

for (
  const [name, compiler] of [["tsc 5.9", "typescript-oldest"], ["the newest tsc", "typescript"]]
) {
  const said = check(compiler ?? "");
  for (const [index, mistake] of MISTAKES.entries()) {
    test(`${name} says what is wrong with ${mistake.name} in the first line`, async () => {
      const message = (await said)[index] ?? "no message";
      for (const part of [mistake.says].flat()) assertStringIncludes(message, part);
    });
  }
}
