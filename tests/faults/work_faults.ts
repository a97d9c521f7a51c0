import { assert, assertEquals } from "@std/assert";
import { withDatabase } from "../harness/database_uri.ts";
import { isLong, report } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import { until } from "../support/until.ts";
import { DATABASE } from "./support/open_app.ts";
import { openReplicaSet, restart, signal } from "./support/replica_set.ts";
import { startWorker, type Worker, type WorkerOptions } from "./support/workers.ts";

const BOXES = isLong ? 3000 : 1500;

/** How often each fault happens. */
const ROUNDS = isLong ? 3 : 1;

const LEASE_MS = 3000;

/** Without a primary, no lease is renewed. */
const LONG_LEASE_MS = 20_000;

interface StoredWork {
  readonly _id: string;
  readonly number: number;
  readonly outcome?: string;
  readonly process?: string;
}

/** A replica set with boxes, and the processes that work on it. */
async function openWork(members = 1) {
  await using stack = new AsyncDisposableStack();
  const set = stack.use(await openReplicaSet(2000, members));
  const { connection } = set;
  const boxes = connection.collection("boxes");
  const records = connection.collection<StoredWork>("mongrove_migrations");
  const runs = connection.collection<StoredWork>("mongrove_runs");
  const fill = async () => {
    await Promise.all([boxes.deleteMany({}), records.deleteMany({})]);
    await boxes.insertMany(Array.from({ length: BOXES }, () => ({ n: 0, __v: 0 })));
  };
  const opened = stack.move();
  const start = (options: Partial<WorkerOptions> = {}) => {
    const uri = withDatabase(set.uri, DATABASE);
    return opened.use(startWorker(uri, { mode: "migrate", leaseMS: LEASE_MS, ...options }));
  };
  const record = async () => await records.findOne({}, { readConcern: { level: "majority" } });
  const dispose = () => opened.disposeAsync();
  return { set, boxes, runs, fill, start, record, [Symbol.asyncDispose]: dispose };
}

type Work = Awaited<ReturnType<typeof openWork>>;

const isOver = (worker: Worker) => worker.has("ended") || worker.has("failed");

/** Waits until the processes have ended, and checks that one of them has migrated each box once. */
async function judge({ boxes, record }: Work, workers: readonly Worker[]): Promise<StoredWork> {
  await until(() => workers.every(isOver), { seconds: 120 });
  const told = workers.map(({ told }) => told.at(-1));
  const ran = told.flatMap((each) => each?.step === "ended" ? each.ran : [`${each?.step}`]);
  assertEquals(ran, ["count"], JSON.stringify(told));
  const once = { n: 1, isCounted: true, __v: 1 };
  assertEquals(await boxes.countDocuments(), BOXES);
  assertEquals(await boxes.countDocuments(once), BOXES);
  const stored = await record();
  const marking = workers.find(({ told }) => JSON.stringify(told.at(-1)).includes("count"));
  assert(stored?.outcome === "done", JSON.stringify(stored));
  assert(stored.process?.endsWith(`:${marking?.pid}`), stored.process);
  return stored;
}

/** Returns the process that has begun, when it has seen some boxes, and the others. */
async function begun(workers: readonly Worker[], boxes = 250) {
  const isFar = ({ seen }: Worker) => seen().length >= boxes;
  await until(() => workers.some(isFar));
  const holder = workers.find(isFar);
  assert(holder);
  return { holder, others: workers.filter((each) => each !== holder) };
}

test("of three processes that start at once, one migrates", async () => {
  await using work = await openWork();
  for (let round = 0; round < ROUNDS; round++) {
    await work.fill();
    const workers = [work.start(), work.start(), work.start()];
    assertEquals((await judge(work, workers)).number, 1);
    assertEquals(workers.filter(({ seen }) => seen().length > 0).length, 1);
  }
});

test("a holder that was stopped for longer than its lease marks no success", async () => {
  await using work = await openWork();
  for (let round = 0; round < ROUNDS; round++) {
    await work.fill();
    const { holder, others } = await begun([work.start(), work.start()]);
    holder.signal("SIGSTOP");
    const [next] = others;
    assert(next);
    // The old holder goes on beside the new one.
    await begun(others, 100);
    holder.signal("SIGCONT");
    const { number, process } = await judge(work, [holder, ...others]);
    assertEquals([number, process?.endsWith(`:${next.pid}`)], [2, true]);
  }
});

test("a holder that was stopped behind its last entity marks no success", async () => {
  await using work = await openWork();
  for (let round = 0; round < ROUNDS; round++) {
    await work.fill();
    const workers = [work.start(), work.start()];
    await until(() => workers.some(({ has }) => has("walked")), { seconds: 120 });
    const holder = workers.find(({ has }) => has("walked"));
    holder?.signal("SIGSTOP");
    await until(async () => Number((await work.record())?.number) >= 2);
    const stored = await work.record();
    holder?.signal("SIGCONT");
    const { number } = await judge(work, workers);
    assertEquals([stored?.outcome, number], ["running", 2]);
  }
});

test("a migration whose process is killed goes on in another one", async () => {
  await using work = await openWork();
  const repeated: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await work.fill();
    const { holder, others } = await begun([work.start(), work.start()]);
    holder.signal("SIGKILL");
    assertEquals((await judge(work, others)).number, 2);
    const before = new Set(holder.seen());
    repeated.push(others.flatMap(({ seen }) => seen()).filter((id) => before.has(id)).length);
    assert(Number(repeated.at(-1)) <= 120, String(repeated));
  }
  await report(`Work, the process is killed, ${ROUNDS} rounds: ${repeated} boxes came again`);
});

test("a migration goes on while the primary steps down and is killed", async () => {
  await using work = await openWork(3);
  const { set } = work;
  for (let round = 0; round < ROUNDS; round++) {
    await work.fill();
    const options = { leaseMS: LONG_LEASE_MS };
    const workers = [work.start(options), work.start(options)];
    await begun(workers);
    await set.stepDown();
    await begun(workers, 600);
    const primary = await set.primary();
    signal(primary, "SIGKILL");
    const { number } = await judge(work, workers);
    await report(`Work, the primary is unseated: ${number} attempts`);
    await restart(primary);
    await set.whole();
  }
});

test("repeated work goes on when its process is killed or stopped", async () => {
  await using work = await openWork();
  const workers = [0, 1, 2].map(() => work.start({ mode: "repeat" }));
  const runsOf = (some: readonly Worker[]) =>
    some.flatMap(({ told }) => told.filter(({ step }) => step === "begun")).length;
  const holder = async () => {
    const { process } = await work.runs.findOne({}) ?? {};
    return workers.find(({ pid }) => process?.endsWith(`:${pid}`));
  };
  const goesOn = async (some: readonly Worker[]) => {
    const before = runsOf(some);
    await until(() => runsOf(some) > before + 3);
  };
  for (const name of ["SIGSTOP", "SIGKILL"] as const) {
    await goesOn(workers);
    const harmed = await holder();
    harmed?.signal(name);
    await goesOn(workers.filter((each) => each !== harmed));
    harmed?.signal("SIGCONT");
  }
  const failed = workers.flatMap(({ told }) => told.filter(({ step }) => step === "failed"));
  assert(failed.every((each) => JSON.stringify(each).includes("the lease is lost")), `${failed}`);
});
