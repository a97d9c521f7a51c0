import { assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import {
  type CompilerMessage,
  firstMessages,
  MISTAKES,
  writeMistakes,
} from "./compiler/mistakes.ts";
import { longTest } from "../harness/testing.ts";

const ROOT = new URL("../../", import.meta.url);

/** Checks all mistakes at once, and gives what Deno says first about each. */
async function check(): Promise<(string | undefined)[]> {
  const folder = await Deno.makeTempDir({ prefix: "mongrove-mistakes-" });
  try {
    const file = join(folder, "mistakes.ts");
    const { text, starts } = writeMistakes(new URL("mod.ts", ROOT).href);
    await Deno.writeTextFile(file, text);
    const config = new URL("deno.json", ROOT).pathname;
    const { stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["check", "--quiet", "--config", config, file],
      env: { NO_COLOR: "1" },
      stdin: "null",
    }).output();
    return firstMessages(readMessages(new TextDecoder().decode(stderr)), starts);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Reads what `deno check` prints: a code, the message, the line of code, and where it is. */
function readMessages(output: string): CompilerMessage[] {
  return output.split(/^(?=TS\d+ \[ERROR\]: )/m).flatMap((block) => {
    const text = /^TS\d+ \[ERROR\]: (.*)/.exec(block)?.[1];
    const place = /^ *at file:.*mistakes\.ts:(\d+):(\d+)$/m.exec(block);
    return text && place ? [{ line: Number(place[1]), column: Number(place[2]), text }] : [];
  });
}

let said: Promise<(string | undefined)[]> | undefined;

for (const [index, { name, says }] of MISTAKES.entries()) {
  longTest(`the compiler says what is wrong with ${name} in the first line`, async () => {
    const message = (await (said ??= check()))[index] ?? "no message";
    for (const part of [says].flat()) assertStringIncludes(message, part);
  });
}
