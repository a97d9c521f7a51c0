import { assert, assertEquals } from "@std/assert";
import { test } from "../harness/testing.ts";
import { until } from "../support/until.ts";
import { report } from "../harness/report.ts";
import { CLIENTS } from "./support/effort.ts";
import { openApp } from "./support/open_app.ts";
import { RecordedJudge, SeenVersions } from "./support/recorded_judge.ts";
import { RecordedLoad } from "./support/recorded_load.ts";
import { openReplicaSet, type ReplicaSet, restart, signal } from "./support/replica_set.ts";

/** How many writes succeed. The primary is killed after a third and after two thirds of them. */
const WRITES = 2000;

/** The time without a primary after which members elect one. */
const ELECTION_MS = 2000;

/** Kills the primary, and starts the member again when there is another primary. */
async function killPrimary(set: ReplicaSet): Promise<void> {
  const member = await set.primary();
  signal(member, "SIGKILL");
  await until(async () => await set.primary().catch(() => member) !== member, { seconds: 60 });
  await restart(member);
  await set.whole();
}

/** Lets clients write while the primary is killed twice. */
async function suffer(load: RecordedLoad, set: ReplicaSet): Promise<SeenVersions> {
  const seen = new SeenVersions(set.connection);
  let isDone = false;
  const polling = seen.poll(() => isDone);
  const running = Promise.all(Array.from({ length: CLIENTS }, () => load.send(WRITES)));
  for (const part of [1, 2]) {
    await until(() => load.successes >= part * WRITES / 3, { seconds: 120 });
    await killPrimary(set);
  }
  await running;
  isDone = true;
  await polling;
  return seen;
}

test(`every write of ${CLIENTS} clients has its record while the primary is killed twice`, async (t) => {
  await using set = await openReplicaSet(ELECTION_MS);
  await using app = await openApp(set.uri, { main: "recorded_app.ts" });
  const load = new RecordedLoad(app);
  const seen = await suffer(load, set);
  const judge = new RecordedJudge({ seen, load });
  await t.step("the records of each plan give its versions, each once", async () => {
    await judge.judgeVersions(set.connection);
    assertEquals(judge.wrong, []);
    assert(judge.judged.stored > 100, JSON.stringify(judge.judged));
  });
  await t.step("a request has all of its records or none, as it was told", async () => {
    await judge.judgeRequests(set.connection, load);
    await judge.judgeRemarks(set.connection);
    assertEquals(judge.wrong, []);
  });
  const statuses = Object.groupBy(load.sent, ({ status }) => status);
  const counts = Object.entries(statuses).map(([status, all = []]) => `${all.length} × ${status}`);
  const { rejections, failures } = await app.state();
  assertEquals([rejections, failures], [[], []]);
  const { records, stored, shown } = judge.judged;
  await report(
    `The primary is killed twice: ${counts.join(", ")}; ${records} records of plans give ` +
      `${stored} stored versions and ${shown} versions of answers`,
  );
});
