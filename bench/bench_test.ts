import { assertEquals, assertThrows } from "@std/assert";
import { type Sample, sumUp } from "./figures.ts";
import { readOptions } from "./run.ts";

Deno.test("readOptions() adds the baseline of each runtime, and Mongrove beside a peer", () => {
  const idsOf = (...args: string[]) => readOptions(args).servers.map(({ id }) => id);
  assertEquals(idsOf("--servers=deno/remult"), ["deno/bare", "deno/remult"]);
  assertEquals(idsOf("one", "--peer=remult"), ["node/bare", "node/mongrove", "node/remult"]);
});

Deno.test("readOptions() refuses an unknown argument", () => {
  for (const arg of ["--rounds=0", "--servers=php", "--fast", "two", "--peer"]) {
    assertThrows(() => readOptions([arg]), TypeError);
  }
});

Deno.test("sumUp() divides each round by the same round of the baseline on the same runtime", () => {
  const rest = { databaseMs: 0, perSecond: 1, firstByteMs: 1, p99Ms: 1, peakMb: 1, bytes: 1 };
  const sample = (server: string, round: number, cpuMs: number): Sample => {
    return { scenario: "one", server, round, cpuMs, ...rest };
  };
  const [, figure] = sumUp([
    ...[sample("node/bare", 0, 1), sample("node/mongrove", 0, 2), sample("deno/bare", 0, 100)],
    ...[sample("node/bare", 1, 2), sample("node/mongrove", 1, 8)],
    ...[sample("node/bare", 2, 10), sample("node/mongrove", 2, 30)],
  ]);
  assertEquals(figure?.server, "node/mongrove");
  assertEquals([figure?.ratio, figure?.lowest, figure?.highest], [3, 2, 4]);
  assertEquals([figure?.cpuMs, figure?.rounds], [8, 3]);
});
