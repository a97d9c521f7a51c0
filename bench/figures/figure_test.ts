import { assertEquals } from "@std/assert";
import { sumUp } from "./figure.ts";
import type { Sample } from "./sample.ts";

function sample(server: string, round: number, cpuMs: number): Sample {
  return {
    scenario: "one",
    server,
    round,
    cpuMs,
    requests: 10,
    databaseMs: 0,
    perSecond: 1,
    firstByteMs: 1,
    p99Ms: 1,
    peakMb: 1,
    bytes: 1,
  };
}

Deno.test("sumUp() holds each round against the baseline of that round and runtime", () => {
  const [, figure] = sumUp([
    sample("node/bare", 0, 1),
    sample("node/mongrove", 0, 2),
    sample("deno/bare", 0, 100),
    sample("node/bare", 1, 2),
    sample("node/mongrove", 1, 8),
    sample("node/bare", 2, 10),
    sample("node/mongrove", 2, 30),
  ]);
  assertEquals(figure?.server, "node/mongrove");
  assertEquals([figure?.ratio, figure?.lowest, figure?.highest], [3, 2, 4]);
  assertEquals([figure?.cpuMs, figure?.rounds], [8, 3]);
});

Deno.test("sumUp() holds each round against Express on lean Mongoose where that is measured", () => {
  const samples = [
    sample("node/bare", 0, 1),
    sample("node/mongrove", 0, 2),
    sample("node/express_lean", 0, 4),
    sample("node/mongrove", 1, 9),
    sample("node/express_lean", 1, 6),
    sample("deno/mongrove", 1, 9),
  ];
  const toLean = new Map(sumUp(samples).map((figure) => [figure.server, figure.toLean]));
  assertEquals(toLean.get("node/mongrove"), 1);
  assertEquals(toLean.get("deno/mongrove"), undefined);
});
