import { reasonOf, say } from "../../tests/harness/say.ts";
import type { Sample } from "../figures/sample.ts";
import type { Scenario } from "../plan/scenarios.ts";
import { type RunningServer, startServer } from "../setup/running_server.ts";
import type { Bench } from "./bench.ts";
import { checkAnswers } from "./check_answers.ts";
import { measureCell } from "./measure_cell.ts";

/**
 * Runs all servers through all scenarios, round after round, one server after the other, so that
 * whatever else the machine does meets all of them.
 *
 * @param bench The bench.
 * @param scenarios The scenarios.
 * @returns A sample of each server, scenario and round; what failed is left out, with a note.
 */
export async function measureRounds(
  bench: Bench,
  scenarios: readonly Scenario[],
): Promise<Sample[]> {
  const { effort } = bench;
  const servers = await startAll(bench);
  const samples: Sample[] = [];
  const failed = new Set<string>();
  try {
    for (let round = 0; round < effort.rounds; round++) {
      for (const scenario of scenarios) {
        say(`Round ${round + 1} of ${effort.rounds}: ${scenario.title}`);
        const able = servers.filter(({ ready }) => isAble(ready.features, scenario));
        for (const running of rotate(able, round)) {
          const name = `${running.server.id} ${scenario.name}`;
          if (failed.has(name)) continue;
          bench.interrupted.throwIfAborted();
          try {
            samples.push(await measureCell(bench, running, scenario, round));
          } catch (error) {
            bench.interrupted.throwIfAborted();
            failed.add(name);
            addNote(bench, `${running.server.id} failed at "${scenario.title}"`, error);
          }
        }
      }
    }
  } finally {
    await stopAll(servers);
  }
  return samples.filter(({ server, scenario }) => !failed.has(`${server} ${scenario}`));
}

/** Starts the servers, and keeps those that answer what they should. */
async function startAll(bench: Bench): Promise<RunningServer[]> {
  const servers: RunningServer[] = [];
  for (const [index, server] of bench.workspace.servers.entries()) {
    try {
      const running = await startServer(server, bench.workspace, { uri: bench.database.uri });
      const reason = await checkAnswers(running, index).catch(reasonOf);
      if (reason === undefined) servers.push(running);
      else {
        await running.stop();
        throw new Error(`its answers are wrong: ${reason}`);
      }
    } catch (error) {
      if (bench.interrupted.aborted) await stopAll(servers);
      bench.interrupted.throwIfAborted();
      addNote(bench, `${server.id} is left out`, error);
    }
  }
  await bench.database.emptyCreated();
  return servers;
}

async function stopAll(servers: readonly RunningServer[]): Promise<void> {
  await Promise.all(servers.map((running) => running.stop()));
}

function addNote({ notes }: Bench, what: string, error: unknown): void {
  const note = `${what}: ${reasonOf(error)}`;
  notes.push(note);
  say(note);
}

function isAble(features: readonly string[], { feature }: Scenario): boolean {
  return feature === undefined || features.includes(feature);
}

/** No server is always the first, or always behind the same one. */
function rotate<T>(values: readonly T[], by: number): T[] {
  const start = values.length === 0 ? 0 : by % values.length;
  return [...values.slice(start), ...values.slice(0, start)];
}
