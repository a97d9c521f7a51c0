import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Connection } from "mongoose";
import { test } from "../harness/testing.ts";
import { until } from "../support/until.ts";
import { isLong, report } from "../harness/report.ts";
import { bundleApp } from "./support/bundle_app.ts";
import { type Harm, HARMS } from "./support/harms.ts";
import { type AppState, openApp } from "./support/open_app.ts";
import { openOthers, pause } from "./support/others.ts";
import { peakOf } from "./support/peak_of.ts";
import { prepareHarm } from "./support/prepare_harm.ts";
import { countHeld } from "./support/stored.ts";

const BASE = Deno.env.get("MONGODB_URI") ?? "";
const DATABASE = `faults_clients_${crypto.randomUUID().slice(0, 8)}`;

/** How many entities the list has, and how long their texts are: more than the buffers of a connection hold. */
const [ENTITIES, LENGTH] = isLong ? [100_000, 200] : [10_000, 2000];

/** A client has this time for 64 KB of an answer. */
const SEND_MS = isLong ? 20_000 : 3000;

/** How long other clients are measured before a harm, and during one that the application does not end. */
const SPAN_MS = isLong ? 5000 : 2000;

/** Idle connections are the host's to end: the harm undone, they are gone. */
const PATIENCE_S = 60;

type App = Awaited<ReturnType<typeof openApp>>;

const countCursors = (host: Connection) => countHeld(host, DATABASE);

/** Waits until a harm is over; gives how the application was meanwhile. */
async function last({ isCut }: Harm, app: App, host: Connection) {
  await pause(isCut ? SEND_MS / 2 : SPAN_MS);
  const asked = performance.now();
  // The application collects its garbage for that
  const [during, held] = [await app.state(), await countCursors(host)];
  const known = { during, held, except: [asked, performance.now()] as const };
  if (!isCut) return { ...known, over: asked };
  assert(held > 0, "nobody reads");
  await pause(SEND_MS / 2);
  // To ask often would slow down the others
  const isOver = async () => await countCursors(host) === 0;
  await until(isOver, { seconds: PATIENCE_S, everyMs: 1000 });
  return { ...known, over: performance.now() };
}

/** What JavaScript may hold of a list that nobody reads on, besides the bytes of a batch. */
const OBJECTS = 40_000;

/** The most that the process may ever have of the memory of the machine. */
const PEAK = 1.5e9;

/** What it may hold of a connection without a list. */
const CONNECTION = 5000;

/** Asserts that an application holds nothing more than before, and the database nothing for it. */
async function assertBack(app: App, { before, host }: { before: AppState; host: Connection }) {
  const isBack = async () => (await app.state()).sockets <= before.sockets + 8;
  await until(isBack, { seconds: PATIENCE_S });
  await until(async () => await countCursors(host) === 0, { seconds: PATIENCE_S });
  const after = await app.state();
  assertEquals([after.pid, after.rejections, after.failures], [before.pid, [], []]);
  const growth = Math.round((after.heapUsed - before.heapUsed) / 1e6);
  assert(growth < 20, `${growth} MB more`);
  return after;
}

/** Harms an application, and measures other clients before and until it is over. */
async function measure(app: App, host: Connection, [name, harm]: readonly [string, Harm]) {
  await using clients = await prepareHarm(name, app.url);
  const others = openOthers(app);
  const from = performance.now();
  await pause(SPAN_MS);
  const begun = performance.now();
  await clients.act();
  const { over, except, ...known } = await last(harm, app, host);
  await others.end();
  return { ...known, took: others.tell({ from, begun, over, except }) };
}

interface HarmAll {
  readonly harms: Readonly<Record<string, Harm>>;
  /** How the application runs, in a word. */
  readonly how?: string;
  readonly v8Flags?: readonly string[];
  readonly command?: readonly [string, ...string[]];
}

/** Harms an application in one way after the other. */
async function harmAll(t: Deno.TestContext, { harms, how, ...run }: HarmAll): Promise<void> {
  const host = await mongoose.createConnection(BASE, { dbName: DATABASE }).asPromise();
  const rows = Array.from({ length: ENTITIES }, () => ({ key: "k", text: "x".repeat(LENGTH) }));
  await host.collection("visits").insertMany(rows);
  await using app = await openApp(BASE, { database: DATABASE, sendMs: SEND_MS, ...run });
  await until(async () => (await app.post("/visits", { key: "k", text: "a" })).status === 201);
  for (const [name, harm] of Object.entries(harms)) {
    await t.step(name, async () => {
      const before = await app.state();
      const { took, during, held } = await measure(app, host, [name, harm]);
      const grown = during.heapUsed - before.heapUsed;
      const others = Math.max(0, during.sockets - held);
      const most = held * OBJECTS + others * CONNECTION + 4e6;
      assert(grown < most, `${grown} bytes for ${held} lists, and ${others} other connections`);
      const after = await assertBack(app, { before, host });
      const peak = await peakOf(after.pid);
      assert(peak < PEAK, `${peak} bytes`);
      const heaps = [before, during, after].map(({ heapUsed }) => Math.round(heapUsed / 1e6));
      await report(
        `${name}${how ? `, ${how}` : ""}: ${took}; ${held} cursors, heap ${heaps.join(", ")} MB, ` +
          `peak ${Math.round(peak / 1e6)} MB`,
      );
    });
  }
  await host.dropDatabase();
  await host.close();
}

test("clients that harm an application leave nothing behind, and others are answered", async (t) => {
  await harmAll(t, { harms: HARMS });
});

// What a setting gives is only told
if (isLong) {
  test("others wait less where the collector of garbage begins later", async (t) => {
    const slow = Object.entries(HARMS).filter(([name]) => name.includes(" read "));
    assertEquals(slow.length, 2, "these clients have other names now");
    const how = "--initial-old-space-size=512";
    await harmAll(t, { harms: Object.fromEntries(slow), how, v8Flags: [how] });
  });

  test("clients that harm an application on Node leave nothing behind either", async (t) => {
    await using node = await bundleApp();
    await harmAll(t, { harms: HARMS, how: "on Node", command: node.command });
  });
}
