/** The measurements: all servers in all scenarios, round after round. @module */
import { reasonOf, say } from "../tests/harness/say.ts";
import { checkAnswers } from "./check.ts";
import type { BenchDatabase } from "./database.ts";
import { type Figure, medians, type ModelFigure, type Sample, sumUp } from "./figures.ts";
import type { Phase, Report } from "./load.ts";
import { fire, type RunningServer, startServer, type Workspace } from "./programs.ts";
import { type Effort, MODEL_COUNTS, READ_ONE, readList, type Scenario } from "./scenarios.ts";
import { BASELINE, besideOf, hasFeature, OURS } from "./servers.ts";

export interface Bench {
  readonly workspace: Workspace;
  readonly database: BenchDatabase;
  readonly effort: Effort;
  /** Failures, and other facts that a reader of the figures needs. */
  readonly notes: string[];
  readonly interrupted: AbortSignal;
}

/** Measures the scenarios on all servers. Failures are left out, with a note. */
export async function measureScenarios(
  bench: Bench,
  scenarios: readonly Scenario[],
): Promise<Figure[]> {
  if (scenarios.length === 0) return [];
  const samples = await measureRounds(bench, scenarios);
  const figures = sumUp(samples, scenarios);
  for (const { server, scenario, bytes } of figures) {
    const baseline = figures.find((each) =>
      each.scenario === scenario && each.server === besideOf(server, BASELINE)
    );
    // An `id` instead of an `_id`, or a missing version, is less
    if (baseline === undefined || Math.abs(bytes / baseline.bytes - 1) <= 0.03) continue;
    const lengths = `${Math.round(bytes)} bytes, not ${Math.round(baseline.bytes)}`;
    bench.notes.push(`the answers of ${server} in ${scenario} have ${lengths}`);
  }
  return figures;
}

async function measureRounds(bench: Bench, scenarios: readonly Scenario[]): Promise<Sample[]> {
  const { effort: { rounds }, interrupted } = bench;
  const servers: RunningServer[] = [];
  const samples: Sample[] = [];
  const failed = new Set<string>();
  try {
    await startAll(bench, servers);
    for (let round = 0; round < rounds; round++) {
      for (const scenario of scenarios) {
        say(`Round ${round + 1} of ${rounds}: ${scenario.title}`);
        const able = servers.filter(({ server: { id, kind } }) =>
          hasFeature(kind, scenario.feature) && !failed.has(`${id} ${scenario.name}`)
        );
        // Another server is the first in each round
        const start = round % Math.max(1, able.length);
        for (const running of [...able.slice(start), ...able.slice(0, start)]) {
          interrupted.throwIfAborted();
          try {
            samples.push(await measureCell(bench, running, scenario, round));
          } catch (error) {
            failed.add(`${running.server.id} ${scenario.name}`);
            addNote(bench, `${running.server.id} failed at "${scenario.title}"`, error);
          }
        }
      }
    }
  } finally {
    await Promise.all(servers.map((running) => running.stop()));
  }
  return samples.filter(({ server, scenario }) => !failed.has(`${server} ${scenario}`));
}

/** Starts the servers, and keeps those with correct answers. */
async function startAll(bench: Bench, servers: RunningServer[]): Promise<void> {
  const { workspace, database } = bench;
  for (const [index, server] of workspace.servers.entries()) {
    let running: RunningServer | undefined;
    try {
      running = await startServer(server, workspace, { uri: database.uri });
      await checkAnswers(running, { index, uri: database.uri });
      servers.push(running);
    } catch (error) {
      await running?.stop();
      addNote(bench, `${server.id} is left out`, error);
    }
  }
  await database.emptyCreated();
}

function addNote({ notes, interrupted }: Bench, what: string, error: unknown): void {
  interrupted.throwIfAborted();
  notes.push(`${what}: ${reasonOf(error)}`);
  say(notes.at(-1) ?? "");
}

/** Measures a server in a scenario once. */
async function measureCell(
  bench: Bench,
  usual: RunningServer,
  scenario: Scenario,
  round: number,
): Promise<Sample> {
  const { effort: { cellMs, firstMs, laterMs }, database, workspace } = bench;
  const { fresh = false, most, name, traffic } = scenario;
  const warmUp = { cpuMs: round === 0 ? firstMs : laterMs, most };
  let phases: Phase[] = [warmUp, { cpuMs: cellMs, most }];
  let running = usual;
  if (fresh) {
    // Memory and first byte are those of the first answer, which is a phase
    const { paths } = readList(1_000);
    phases = [{ cpuMs: laterMs, paths }, { cpuMs: 0, most: 1 }, { cpuMs: cellMs / 2, most: 3 }];
    running = await startServer(usual.server, workspace, { uri: database.uri });
  }
  const report = await send(bench, running, scenario, phases)
    .finally(() => fresh && running.stop());
  if (traffic.method === "POST") await database.emptyCreated();
  const [, ...counted] = report.phases;
  const sum = (key: "requests" | "cpuMs" | "databaseMs" | "ms" | "bytes") =>
    counted.reduce((total, phase) => total + phase[key], 0);
  const requests = sum("requests");
  const { firstByteMs = NaN, p99Ms = NaN, peakMb = NaN } = counted[0] ?? {};
  return {
    scenario: name,
    server: usual.server.id,
    round,
    cpuMs: sum("cpuMs") / requests,
    databaseMs: sum("databaseMs") / requests,
    perSecond: 1_000 * requests / sum("ms"),
    firstByteMs,
    p99Ms,
    peakMb,
    bytes: sum("bytes") / requests,
  };
}

async function send(
  { workspace, database }: Bench,
  { server: { kind }, port, pid }: RunningServer,
  { traffic, connections }: Scenario,
  phases: readonly Phase[],
): Promise<Report> {
  const page = traffic.page && kind.askPage(traffic.page);
  return await fire(workspace, {
    port,
    pid,
    databasePid: database.pid,
    connections,
    phases,
    method: page?.method ?? (traffic.method === "UPDATE" ? kind.update : traffic.method),
    paths: page ? [page.path] : traffic.paths,
    bodies: page ? [page.body].filter((body) => body !== "") : traffic.bodies,
    headers: traffic.headers ?? {},
  });
}

/** Measures starts and requests of Mongrove with growing numbers of models. */
export async function measureModels(bench: Bench): Promise<ModelFigure[]> {
  const { effort: { rounds, firstMs, cellMs }, interrupted, workspace, database } = bench;
  const one = { name: "models", title: "one", connections: 4, traffic: READ_ONE };
  const figures: ModelFigure[] = [];
  for (const models of MODEL_COUNTS) {
    for (const server of workspace.servers.filter(({ kind }) => kind.name === OURS)) {
      const starts: Omit<ModelFigure, "server" | "models">[] = [];
      while (starts.length < rounds) {
        interrupted.throwIfAborted();
        say(`Round ${starts.length + 1} of ${rounds}: ${models} models`);
        const running = await startServer(server, workspace, { uri: database.uri, models });
        const phases = [{ cpuMs: firstMs }, { cpuMs: cellMs }];
        const report = await send(bench, running, one, phases).finally(running.stop);
        const { cpuMs = NaN, requests = NaN } = report.phases[1] ?? {};
        const { cpuMs: startCpuMs, peakMb: startMb } = report.before;
        starts.push({ startMs: running.startMs, startCpuMs, startMb, cpuMs: cpuMs / requests });
      }
      const keys = ["startMs", "startCpuMs", "startMb", "cpuMs"] as const;
      figures.push({ server: server.id, models, ...medians(starts, keys) });
    }
  }
  return figures;
}
