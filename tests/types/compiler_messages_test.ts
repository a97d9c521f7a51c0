import { assertEquals, assertStringIncludes } from "@std/assert";
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

// Whether a comparison of types ends depends on the order of files, so a module of another package is checked first.
longTest(
  "operations of a model that is a type parameter compile, in any order of files",
  async () => {
    const folder = await Deno.makeTempDir({ prefix: "mongrove-generic-" });
    try {
      const file = join(folder, "generic.ts");
      await Deno.writeTextFile(
        file,
        `import { assert } from "@std/assert";
import { all, type FrameworkModel, one, remove } from "${new URL("mod.ts", ROOT).href}";
export function readable<M extends FrameworkModel & { owner: string }>() {
  assert(true);
  return [all<M>({ lean: true }), one<M>({ lean: true }), remove<M>()];
}
`,
      );
      const config = new URL("deno.json", ROOT).pathname;
      const { code, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["check", "--quiet", "--config", config, file],
        stdin: "null",
      }).output();
      assertEquals(code, 0, new TextDecoder().decode(stderr));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);

let said: Promise<(string | undefined)[]> | undefined;

for (const [index, { name, says }] of MISTAKES.entries()) {
  longTest(`the compiler says what is wrong with ${name} in the first line`, async () => {
    const message = (await (said ??= check()))[index] ?? "no message";
    for (const part of [says].flat()) assertStringIncludes(message, part);
  });
}
