import { say } from "../../tests/harness/say.ts";
import { BY_MODELS } from "../plan/growth.ts";
import { READ_ONE, type Scenario } from "../plan/scenarios.ts";
import { OURS, type Server } from "../plan/servers.ts";
import { startServer } from "../setup/running_server.ts";
import { type ModelFigure, toMedian } from "../figures/model_figure.ts";
import type { Bench } from "./bench.ts";
import { measureCell } from "./measure_cell.ts";

/** The traffic; every start is a process's first, so each one warms up in full. */
const ONE: Scenario = {
  name: "models",
  title: "one",
  connections: 4,
  traffic: READ_ONE,
};

/** Measures starts and requests of Mongrove with more and more models, in rounds. */
export async function measureModels(bench: Bench): Promise<ModelFigure[]> {
  const servers = bench.workspace.servers.filter(({ kind }) => kind.name === OURS);
  const figures: ModelFigure[] = [];
  for (let round = 0; round < bench.effort.rounds; round++) {
    for (const models of BY_MODELS) {
      bench.interrupted.throwIfAborted();
      say(`Round ${round + 1} of ${bench.effort.rounds}: ${models} models`);
      for (const server of servers) figures.push(await measureOnce(bench, server, models));
    }
  }
  const groups = Map.groupBy(figures, ({ server, models }) => `${server} ${models}`);
  return [...groups.values()].map(toMedian);
}

async function measureOnce(bench: Bench, server: Server, models: number): Promise<ModelFigure> {
  const options = { uri: bench.database.uri, models };
  const running = await startServer(server, bench.workspace, options);
  try {
    const { cpuMs: startCpuMs, peakMb: startMb } = await bench.load.probe(running.ready.pid);
    const { cpuMs } = await measureCell(bench, running, ONE, 0);
    return { server: server.id, models, startMs: running.startMs, startCpuMs, startMb, cpuMs };
  } finally {
    await running.stop();
  }
}
