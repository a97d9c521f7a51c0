import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { ROOT } from "../harness/tasks/run_deno.ts";
import { test } from "../harness/testing.ts";

/** Calls of functions that the oldest Node, version 22, does not have. The types of Deno have them. */
const NEWER =
  /\bPromise\.try\(|\bRegExp\.escape\(|\bError\.isError\(|\bIterator\.concat\(|\bMath\.(f16round|sumPrecise)\(|\bFloat16Array\b|\bTemporal\.|\.getOrInsert(Computed)?\(|\.(to|set|from)(Base64|Hex)\(|^\s*(await )?using \w/gm;

async function* sourcesIn(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(new URL(folder, ROOT))) {
    const path = join(folder, name);
    if (isDirectory) yield* sourcesIn(path);
    else if (name.endsWith(".ts") && !name.endsWith("_test.ts")) yield path;
  }
}

test("the sources call no function that Node 22 does not have", async () => {
  const found: string[] = [];
  for await (const path of sourcesIn("src")) {
    const text = await Deno.readTextFile(new URL(path, ROOT));
    found.push(...[...text.matchAll(NEWER)].map(([call]) => `${path}: ${call}`));
  }
  assertEquals(found, []);
});
