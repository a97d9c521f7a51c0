import { assertEquals } from "@std/assert";
import { test } from "../harness/testing.ts";
import { report } from "../harness/report.ts";
import { say } from "../harness/say.ts";
import { until } from "../support/until.ts";
import { ROUNDS } from "./support/effort.ts";
import { FilesJudge } from "./support/files_judge.ts";
import { openApp } from "./support/open_app.ts";
import {
  hasEnded,
  openReplicaSet,
  type ReplicaSet,
  restart,
  signal,
} from "./support/replica_set.ts";
import { onDisk, openSmallDisk } from "./support/small_disk.ts";

const ENTITIES = 8;
const ELECTION_MS = 2000;
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const openFiles = (set: ReplicaSet) => openApp(set.uri, { main: "files_app.ts" });

type App = Awaited<ReturnType<typeof openFiles>>;

/** What harms the application or its database while clients store files. Returns the application that goes on. */
type Harm = (app: App, set: ReplicaSet) => Promise<App>;

const HARMS: Record<string, Harm> = {
  "the primary is killed": async (app, set) => {
    const member = await set.primary();
    signal(member, "SIGKILL");
    await until(async () => await set.primary().catch(() => member) !== member, { seconds: 60 });
    await restart(member);
    await set.whole();
    return app;
  },
  "the application is killed": async (app, set) => {
    app.child.kill("SIGKILL");
    await app.child.status;
    return await openFiles(set);
  },
};

for (const [name, harm] of Object.entries(HARMS)) {
  test(`no entity has a broken file, and no bytes stay, while ${name}`, async () => {
    await using set = await openReplicaSet(ELECTION_MS);
    let app = await openFiles(set);
    const judge = new FilesJudge();
    await judge.prepare(app.url, ENTITIES);
    let isOver = false;
    const sending = judge.send(() => app.url, () => isOver);
    for (let round = 0; round < 3 * ROUNDS; round++) {
      await pause(1000 + Math.random() * 1000);
      app = await harm(app, set);
    }
    await pause(2000);
    isOver = true;
    await sending;
    await app.post("/tidy");
    await judge.judge(app.url, set.connection);
    assertEquals(judge.wrong, []);
    const { failures, rejections } = await app.state();
    assertEquals([failures, rejections], [[], []]);
    await app[Symbol.asyncDispose]();
    await report(`Files, ${name}: ${JSON.stringify(judge.statuses)}`);
  });
}

/** Fills the disk of a database until it refuses a write, or ends. */
async function fill({ connection }: ReplicaSet): Promise<void> {
  const filler = connection.collection("filler");
  for (;;) {
    const bytes = new Uint8Array(1_000_000);
    for (let at = 0; at < bytes.length; at += 50_000) {
      crypto.getRandomValues(bytes.subarray(at, at + 50_000));
    }
    try {
      await filler.insertOne({ bytes }, { timeoutMS: 5000 });
    } catch {
      return;
    }
  }
}

test("no entity has a broken file, and no bytes stay, after the disk was full", async () => {
  await using disk = await openSmallDisk(500);
  if (disk === undefined) return say("Skipped: this user may not mount a small disk");
  await using set = await onDisk(disk, () => openReplicaSet(ELECTION_MS, 1));
  await using app = await openFiles(set);
  const judge = new FilesJudge();
  await judge.prepare(app.url, ENTITIES);
  let isOver = false;
  const sending = judge.send(() => app.url, () => isOver);
  const member = await set.primary();
  await pause(1000);
  await fill(set);
  // WiredTiger ends the process, and requests are a 503 until the database is back
  await until(() => hasEnded(member), { seconds: 120 });
  await until(() => (judge.statuses[503] ?? 0) > ENTITIES, { seconds: 120 });
  assertEquals((await app.get("/scans")).status, 503);
  await disk.grow(2000);
  await restart(member);
  await until(async () => (await app.get("/scans")).status === 200, { seconds: 60 });
  await pause(2000);
  isOver = true;
  await sending;
  await app.post("/tidy");
  await judge.judge(app.url, set.connection);
  assertEquals(judge.wrong, []);
  const { failures, rejections } = await app.state();
  assertEquals([failures, rejections], [[], []]);
  await report(`Files, the disk is full: ${JSON.stringify(judge.statuses)}`);
});
