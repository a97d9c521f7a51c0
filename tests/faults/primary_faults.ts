import { assert, assertEquals } from "@std/assert";
import { test } from "../harness/testing.ts";
import { until } from "../support/until.ts";
import { isLong, report } from "../harness/report.ts";
import { CLIENTS, ROUNDS } from "./support/effort.ts";
import type { Journal } from "./support/journal.ts";
import { startLoad } from "./support/load.ts";
import { type AppState, DATABASE, openApp, POOL } from "./support/open_app.ts";
import { openReplicaSet, type ReplicaSet, restart, signal } from "./support/replica_set.ts";
import { compare, countConnections, countHeld, findHalves } from "./support/stored.ts";

/** Harms the primary; what it gives undoes that. */
type Fault = (set: ReplicaSet) => Promise<() => Promise<void> | void>;

/** Sends a signal to the primary. */
function send(name: Deno.Signal, undo: typeof restart): Fault {
  return async (set) => {
    const member = await set.primary();
    signal(member, name);
    return () => undo(member);
  };
}

const FAULTS: Readonly<Record<string, Fault>> = {
  "steps down": async (set) => {
    await set.stepDown();
    return () => {};
  },
  "is killed": send("SIGKILL", restart),
  hangs: send("SIGSTOP", (member) => Promise.resolve(signal(member, "SIGCONT"))),
  ...isLong && { "ends on SIGTERM": send("SIGTERM", restart) },
};

/** Requests that have to succeed before the fault, without the primary, and after all. */
const ENOUGH = 10 * CLIENTS;

/** The contract says 15 s; the machine may be busy. */
const PATIENCE_S = 30;

/** Lets a fault happen under load; gives what the clients were told. */
async function suffer(app: App, set: ReplicaSet, { fault }: { fault: Fault }): Promise<Journal> {
  const { journal, stop } = await startLoad(app, CLIENTS);
  const enough = async () => {
    const moment = performance.now();
    await until(() => journal.successesSince(moment) >= ENOUGH, { seconds: 120 });
  };
  await enough();
  for (let left = ROUNDS; left > 0; left--) {
    const undo = await fault(set);
    await enough();
    await undo();
    await set.whole();
    await enough();
  }
  await stop();
  return journal;
}

/** How much more JavaScript may hold after a fault: the code that has run, and statistics of the driver. */
const MOST_MB = 20;

type App = Awaited<ReturnType<typeof openApp>>;

/** Asserts that the application is as it was, and holds nothing of what has ended. */
async function assertUnharmed(
  app: App,
  set: ReplicaSet,
  { before }: { before: AppState },
): Promise<string> {
  const after = await app.state();
  assertEquals([after.pid, after.rejections], [before.pid, []]);
  assert(after.sockets <= CLIENTS + 2, `${after.sockets} connections of clients`);
  const isFree = async () => await countHeld(set.connection, DATABASE) === 0;
  await until(isFree, { seconds: PATIENCE_S });
  // Besides the pool, the driver has two that watch the member
  const isSmall = async () => await countConnections(set.connection) <= POOL + 2;
  await until(isSmall, { seconds: PATIENCE_S });
  const [first = 0, last = 0] = [before, after].map(({ heapUsed }) => Math.round(heapUsed / 1e6));
  assert(last - first < MOST_MB, `the heap was ${first} MB, and is ${last} MB`);
  return `heap ${first} MB, then ${last} MB`;
}

test(`${CLIENTS} clients write while the primary of a replica set`, async (t) => {
  await using set = await openReplicaSet();
  await using app = await openApp(set.uri);
  for (const [name, fault] of Object.entries(FAULTS)) {
    await t.step(name, async (t) => {
      await set.connection.dropDatabase();
      const before = await app.state();
      const journal = await suffer(app, set, { fault });
      await t.step("every answer is a success or a 503, and comes in time", async () => {
        const { failures } = await app.state();
        assertEquals([...journal.unexpected([503]), ...failures], before.failures);
        assert(journal.slowest < PATIENCE_S, `${journal.slowest} s`);
      });
      await t.step("what was acknowledged is there, exactly once", async () => {
        assertEquals(await compare(set.connection, journal), []);
      });
      await t.step("nothing is half done", async () => {
        assertEquals(await findHalves(set.connection, journal), []);
      });
      await t.step("the process lives on, and holds nothing of it", async () => {
        const heap = await assertUnharmed(app, set, { before });
        await report(`The primary ${name}: ${journal.report()}, ${heap}`);
      });
    });
  }
});
