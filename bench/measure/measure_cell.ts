import type { Fired } from "../load/commands.ts";
import { CREATED } from "../plan/collections.ts";
import { written } from "../plan/writes.ts";
import { readList, type Scenario, type Traffic } from "../plan/scenarios.ts";
import type { ServerKind } from "../plan/servers.ts";
import { type RunningServer, startServer } from "../setup/running_server.ts";
import type { Bench } from "./bench.ts";
import { addFired, type Sample, toSample } from "../figures/sample.ts";

/** A fresh process answers no more requests than this. */
const MOST_FRESH = 4;

/**
 * Measures a server in a scenario, once.
 *
 * @param bench The bench.
 * @param running The server; where the scenario wants a fresh process, another one is started.
 * @param scenario The scenario.
 * @param round The round, from 0.
 * @returns The sample.
 * @throws {Error} If the server refuses a request or a connection breaks.
 */
export async function measureCell(
  bench: Bench,
  running: RunningServer,
  scenario: Scenario,
  round: number,
): Promise<Sample> {
  const fired = scenario.fresh
    ? await fireAtFresh(bench, running, scenario)
    : await fireAt(bench, running, scenario, round);
  const creates = [CREATED, written(CREATED)].some((name) =>
    scenario.traffic.paths[0] === `/${name}`
  );
  if (creates) await bench.database.emptyCreated();
  return toSample(fired, { scenario: scenario.name, server: running.server.id, round });
}

async function fireAt(
  bench: Bench,
  running: RunningServer,
  { traffic, connections, most }: Scenario,
  round: number,
): Promise<Fired> {
  const { load, effort } = bench;
  await openTraffic(bench, running, traffic, connections);
  await load.fire(round === 0 ? effort.firstWarmUpMs : effort.warmUpMs, most);
  const fired = await load.fire(effort.cellMs, most);
  await load.close();
  return fired;
}

/** Memory and the first byte are those of the first answer, CPU time that of all of them. */
async function fireAtFresh(
  bench: Bench,
  { server }: RunningServer,
  { traffic, connections }: Scenario,
): Promise<Fired> {
  const { load, effort, workspace, database } = bench;
  const fresh = await startServer(server, workspace, { uri: database.uri });
  try {
    await openTraffic(bench, fresh, readList(1_000), 1);
    await load.fire(effort.warmUpMs);
    await load.close();
    await openTraffic(bench, fresh, traffic, connections);
    const first = await load.fire(0, 1);
    const left = effort.cellMs - first.cpuMs;
    const fired = left <= 0 ? first : addFired(first, await load.fire(left, MOST_FRESH - 1));
    await load.close();
    return fired;
  } finally {
    await fresh.stop();
  }
}

async function openTraffic(
  { load, database }: Bench,
  { ready, server }: RunningServer,
  traffic: Traffic,
  connections: number,
): Promise<void> {
  const { method, paths, bodies } = inWordsOf(server.kind, traffic);
  await load.open({
    port: ready.port,
    pid: ready.pid,
    databasePid: database.pid,
    connections,
    method: method === "UPDATE" ? server.kind.update : method,
    paths,
    bodies,
    headers: traffic.headers ?? {},
  });
}

function inWordsOf({ askPage }: ServerKind, traffic: Traffic): Traffic {
  if (traffic.page === undefined) return traffic;
  const { method, path, body } = askPage(traffic.page);
  return { method, paths: [path], bodies: body === "" ? [] : [body] };
}
