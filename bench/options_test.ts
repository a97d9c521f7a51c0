import { assertEquals, assertThrows } from "@std/assert";
import { readOptions } from "./options.ts";

function idsOf(...args: string[]): string[] {
  return readOptions(args).servers.map(({ id }) => id);
}

Deno.test("readOptions() adds the baseline of every runtime in use", () => {
  assertEquals(idsOf("--servers=mongrove"), [
    "node/bare",
    "node/mongrove",
    "deno/bare",
    "deno/mongrove",
  ]);
  assertEquals(idsOf("--servers=deno/remult"), ["deno/bare", "deno/remult"]);
});

Deno.test("readOptions() chooses a scenario and a peer", () => {
  const { only, partial } = readOptions(["one", "--peer=remult"]);
  assertEquals([only, partial], [["one"], "a part of all servers and scenarios"]);
  assertEquals(idsOf("one", "--peer=remult"), ["node/bare", "node/mongrove", "node/remult"]);
  assertEquals(idsOf("hooks", "lean-one", "--peer=deno/express_lean"), [
    "deno/bare",
    "deno/mongrove",
    "deno/express_lean",
  ]);
});

Deno.test("readOptions() tells what is left out", () => {
  assertEquals(readOptions([]).partial, "");
  assertEquals(readOptions(["--only=one"]).partial, "a part of all servers and scenarios");
  assertEquals(readOptions(["--growth", "--only=depth"]).only, ["depth"]);
  assertEquals(readOptions(["--rounds=7"]).effort.rounds, 7);
  assertEquals(readOptions(["hooks", "--only=lean-one"]).only, ["lean-one"]);
  assertEquals(readOptions(["writes", "--only=write-replace"]).suite, "writes");
});

Deno.test("readOptions() refuses what it does not know", () => {
  for (
    const arg of [
      "--rounds=0",
      "--rounds=x",
      "--only=two",
      "--servers=php",
      "--fast",
      "two",
      "hooks=1",
      "--peer=php",
      "--peer",
      "--only=write-replace",
    ]
  ) {
    assertThrows(() => readOptions([arg]), TypeError, "Cannot");
  }
});
