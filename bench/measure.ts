/** The measurements: all servers in all scenarios, round after round. @module */
import { say } from "../tests/harness/say.ts";
import { checkAnswers } from "./check.ts";
import type { BenchDatabase } from "./database.ts";
import { type Cell, mediansOf, type Sample, sumUp } from "./figures.ts";
import { fire, type Phase } from "./load.ts";
import { addNote, cpuTime, memoryOf, type RunningServer } from "./programs.ts";
import { startServer, type Workspace } from "./programs.ts";
import { type Effort, READ_ONE, readList, type Scenario } from "./scenarios.ts";
import { BASELINE, besideOf, hasFeature, type Server, trafficOf } from "./servers.ts";

export interface Bench {
  readonly workspace: Workspace;
  readonly database: BenchDatabase;
  readonly effort: Effort;
}

type Titled = Pick<Scenario, "name" | "title" | "feature">;

/** Measures servers in scenarios, round after round. A server that fails in a scenario is left out of it, with a note. */
export async function measureRounds<S extends Titled, T extends Cell>(
  { effort: { rounds }, workspace: { notes, servers } }: Bench,
  scenarios: readonly S[],
  measure: (server: Server, scenario: S, round: number) => Promise<T | undefined>,
): Promise<T[]> {
  const samples: T[] = [];
  const failed = new Set<string>();
  const idOf = ({ server, scenario }: Cell) => `${server} failed at "${scenario}"`;
  for (let round = 0; round < rounds; round++) {
    for (const scenario of scenarios) {
      say(`Round ${round + 1} of ${rounds}: ${scenario.title}`);
      const able = servers.filter((server) => hasFeature(server, scenario.feature));
      // Another server is the first in each round
      const start = round % Math.max(1, able.length);
      for (const server of [...able.slice(start), ...able.slice(0, start)]) {
        const id = idOf({ server: server.id, scenario: scenario.name });
        try {
          const sample = failed.has(id) ? undefined : await measure(server, scenario, round);
          if (sample) samples.push(sample);
        } catch (error) {
          failed.add(id);
          addNote(notes, id, error);
        }
      }
    }
  }
  return samples.filter((sample) => !failed.has(idOf(sample)));
}

/** Measures the scenarios on all servers whose answers are right. */
export async function measureScenarios(bench: Bench, scenarios: readonly Scenario[]) {
  if (scenarios.length === 0) return [];
  const { workspace: { servers, notes }, database } = bench;
  await using stack = new AsyncDisposableStack();
  const running = new Map<Server, RunningServer>();
  for (const [index, server] of servers.entries()) {
    try {
      const started = stack.use(await startServer(server, bench));
      await checkAnswers(started, index, database.uri);
      running.set(server, started);
    } catch (error) {
      addNote(notes, `${server.id} is left out`, error);
    }
  }
  await database.emptyCreated();
  const samples = await measureRounds(bench, scenarios, (server, scenario, round) => {
    const usual = running.get(server);
    return usual ? measureCell(bench, usual, { ...scenario, round }) : Promise.resolve(undefined);
  });
  const figures = sumUp(samples, scenarios);
  for (const { server, scenario, bytes } of figures) {
    const baseline = figures.find((each) =>
      each.scenario === scenario && each.server === besideOf(server, BASELINE)
    );
    // An `id` instead of an `_id`, or a missing version, is less
    if (baseline === undefined || Math.abs(bytes / baseline.bytes - 1) <= 0.03) continue;
    const lengths = `${Math.round(bytes)} bytes, not ${Math.round(baseline.bytes)}`;
    notes.push(`the answers of ${server} in ${scenario} have ${lengths}`);
  }
  return figures;
}

/** Measures a server in a scenario once. */
async function measureCell(
  bench: Bench,
  usual: RunningServer,
  { name, round, fresh = false, most, ...traffic }: Scenario & { readonly round: number },
): Promise<Sample> {
  const { effort: { cellMs, firstMs, laterMs }, database } = bench;
  const { server } = usual;
  await using started = fresh ? await startServer(server, bench) : null;
  const warmUp: Phase = started
    ? { cpuMs: laterMs, paths: readList(1_000).paths }
    : { cpuMs: round === 0 ? firstMs : laterMs, most };
  // Memory and first byte of a new process are those of the first answer, which is a phase
  const phases = started
    ? [warmUp, { cpuMs: 0, most: 1 }, { cpuMs: cellMs / 2, most: 3 }]
    : [warmUp, { cpuMs: cellMs, most }];
  const target = { ...started ?? usual, databasePid: database.pid };
  const measured = await fire(target, trafficOf(server, traffic), phases);
  if (traffic.method === "POST") await database.emptyCreated();
  return { scenario: name, server: server.id, round, ...measured };
}

/** The medians of starts of a process with a number of models, and of requests for an entity of the last model. */
export type ModelFigure = Awaited<ReturnType<typeof measureModels>>[number];

/** Measures starts and requests of Mongrove with growing numbers of models. */
export async function measureModels(bench: Bench) {
  const { firstMs, cellMs } = bench.effort;
  const scenarios = [1, 10, 50, 100, 200].map((models) => {
    return { name: `${models}`, title: `${models} models`, feature: "models" };
  });
  const samples = await measureRounds(bench, scenarios, async (server, { name }) => {
    await using running = await startServer(server, bench, { BENCH_MODELS: name });
    const { pid, port, startMs } = running;
    const [startCpuMs, startMb] = [cpuTime(pid), memoryOf(pid, "VmHWM")];
    const phases = [{ cpuMs: firstMs }, { cpuMs: cellMs }];
    const { cpuMs } = await fire({ pid, port, databasePid: 0 }, READ_ONE, phases);
    return { scenario: name, server: server.id, startMs, startCpuMs, startMb, cpuMs };
  });
  return mediansOf(samples, ["startMs", "startCpuMs", "startMb", "cpuMs"])
    .map(({ scenario, ...figure }) => ({ models: Number(scenario), ...figure }));
}
