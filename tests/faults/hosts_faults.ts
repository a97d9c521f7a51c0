import { assert, assertEquals } from "@std/assert";
import { isLong, report } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import { until } from "../support/until.ts";
import { bundleApp } from "./support/bundle_app.ts";
import { CLIENTS, ROUNDS } from "./support/effort.ts";
import { Follower, hasList } from "./support/follower.ts";
import { between, type Disturbance, type Hosts, openHosts, whyNoHosts } from "./support/hosts.ts";
import { type HostsSet, MEMBERS, openHostsSet } from "./support/hosts_set.ts";
import type { Journal } from "./support/journal.ts";
import { startLoad } from "./support/load.ts";
import { openApp } from "./support/open_app.ts";
import { pause } from "./support/others.ts";
import { compare, findHalves } from "./support/stored.ts";

/** The host of the application. */
const APP = "app";

/** A way of 25 ms is 50 ms there and back. */
const FAR = { late: { ms: 25, loss: 0.02 } } as const;

/** Requests that have to succeed before and after. */
const ENOUGH = 10 * CLIENTS;

/** The contract says 15 s for an answer; the machine may be busy. */
const PATIENCE_S = 30;

/** How long hosts do not reach each other: longer than a request may take. */
const CUT_MS = isLong ? 30_000 : 12_000;

/** With the default of 30 s, the driver sees only after 40 s that nothing arrives from a member any more. */
const SETTINGS = "connectTimeoutMS=5000";

type App = Awaited<ReturnType<typeof openApp>>;

interface Place {
  readonly hosts: Hosts;
  readonly set: HostsSet;
  /** What runs the application, for the report. */
  readonly runtime: string;
}

type Command = readonly [string, ...string[]];

/** What runs applications in the place of Deno, by their file. */
type Commands = Readonly<Partial<Record<"app.ts" | "live_app.ts", Command>>>;

/** Starts an application on its host. */
function openAt({ hosts, set }: Place, main: keyof Commands, command?: Command): Promise<App> {
  const place = { address: hosts.addressOf(APP), on: (run: Command) => hosts.on(APP, run) };
  return openApp(`${set.uri}&${SETTINGS}`, { main, place, ...command && { command } });
}

/** What happens in the middle of a load. */
type Event = (place: Place) => Promise<void>;

/** Loses what one host sends to another, for a while. */
function cut(way: (primary: string) => Disturbance["cut"] & object): Event {
  return async ({ hosts, set }) => {
    await hosts.disturb({ cut: way(await set.primary()) });
    await pause(CUT_MS);
    await hosts.disturb({});
  };
}

const EVENTS: Readonly<Record<string, Event>> = {
  "over 50 ms and 2 % loss": async ({ hosts }) => await hosts.disturb(FAR),
  "while no answer of the primary arrives": cut((primary) => [[primary, APP]]),
  ...isLong && {
    "while no request arrives at the primary": cut((primary) => [[APP, primary]]),
    "while the primary does not reach the other members": cut((primary) =>
      between([primary], MEMBERS.filter((name) => name !== primary))
    ),
  },
  "whose names get other addresses": ({ hosts }) => hosts.move(MEMBERS),
};

interface Suffered {
  readonly journal: Journal;
  /** How long it took until requests succeeded again, in seconds. */
  readonly normal: number;
}

/** Lets something happen under load. */
async function suffer(app: App, place: Place, event: Event): Promise<Suffered> {
  const { journal, stop } = await startLoad(app, CLIENTS);
  const enough = async () => {
    const moment = performance.now();
    await until(() => journal.successesSince(moment) >= ENOUGH, { seconds: 120 });
  };
  try {
    await enough();
    await event(place);
    const over = performance.now();
    await until(() => journal.successesSince(over) > 0, { seconds: 120 });
    const normal = (performance.now() - over) / 1000;
    await enough();
    return { journal, normal };
  } finally {
    await stop();
    await place.hosts.disturb({});
    await place.set.whole();
  }
}

/** Asserts the promises of docs/reliability.md. */
async function judge(t: Deno.TestContext, app: App, { place, name, event }: {
  readonly place: Place;
  readonly name: string;
  readonly event: Event;
}): Promise<void> {
  const { connection } = place.set;
  await connection.dropDatabase();
  const before = await app.state();
  const { journal, normal } = await suffer(app, place, event);
  const told = `${journal.report()}, normal after ${normal.toFixed(1)} s`;
  await report(`Members ${name}, on ${place.runtime}: ${told}`);
  await t.step("every answer is a success or a 503, and comes in time", async () => {
    const { pid, rejections, failures } = await app.state();
    assertEquals([pid, rejections, failures], [before.pid, [], []]);
    assertEquals(journal.unexpected([503]), []);
    assert(journal.slowest < PATIENCE_S, `${journal.slowest} s`);
  });
  await t.step(
    "what was acknowledged is there, exactly once, and nothing is half done",
    async () => {
      assertEquals(await compare(connection, journal), []);
      assertEquals(await findHalves(connection, journal), []);
    },
  );
}

const TENANT = { headers: { "x-tenant": "T1" } } as const;

/** Asserts what an application answers that reaches a secondary only. */
async function assertApart(app: App): Promise<number> {
  const calls = [app.get("/pages", TENANT), app.post("/tickets", { state: "apart" }, TENANT)];
  const begun = performance.now();
  for (const { status, headers, body } of await Promise.all(calls)) {
    assertEquals([status, (body as { code: string }).code], [503, "UNAVAILABLE"]);
    assert(Number(headers.get("retry-after")) > 0, "without Retry-After");
  }
  const took = (performance.now() - begun) / 1000;
  assert(took < PATIENCE_S, `${took} s`);
  const health = await app.read<{ live: boolean; ready: boolean }>("/health");
  assertEquals([health.live, health.ready], [true, false]);
  return took;
}

/** Opens live lists of an application, which have what GETs show. */
async function follow(app: App) {
  const followers = ["/tickets", "/pages?sort=level&limit=5"].map((path) => {
    const follower = new Follower(app.url + path, TENANT.headers);
    follower.isPatient = true;
    return follower;
  });
  const same = () =>
    until(async () => (await Promise.all(followers.map(hasList))).every(Boolean), {
      everyMs: 250,
    });
  const stop = () => Promise.all(followers.map((each) => each.stop()));
  await same();
  return { same, [Symbol.asyncDispose]: async () => void await stop() };
}

/** Lets an application reach one secondary only; it has to be as before without a restart. */
async function reachOneOnly(app: App, { hosts, set, runtime }: Place): Promise<void> {
  const post = () => app.post("/tickets", { state: "open", level: 1 }, TENANT);
  await until(async () => (await post()).status === 201);
  const isReady = async () => (await app.read<{ ready: boolean }>("/health")).ready;
  await until(isReady);
  await using live = await follow(app);
  const primary = await set.primary();
  const others = MEMBERS.filter((name) => name !== primary).slice(1);
  await hosts.disturb({ cut: between([APP], [primary, ...others]) });
  const took: number[] = [];
  try {
    for (let left = ROUNDS; left > 0; left--) took.push(await assertApart(app));
  } finally {
    await hosts.disturb({});
  }
  const healed = performance.now();
  await until(async () => (await post()).status === 201);
  const normal = (performance.now() - healed) / 1000;
  await until(isReady);
  await live.same();
  const resumed = (performance.now() - healed) / 1000;
  const { rejections, failures } = await app.state();
  assertEquals([rejections, failures], [[], []]);
  const [slowest, ...times] = [Math.max(...took), normal, resumed].map((each) => each.toFixed(1));
  const told = `every answer a 503 within ${slowest} s, normal after ${times[0]} s`;
  await report(`A secondary only, on ${runtime}: ${told}, live lists after ${times[1]} s`);
}

/** Has an application on one host suffer, and members on three. */
async function onHosts(
  t: Deno.TestContext,
  runtime: string,
  commands: Commands = {},
): Promise<void> {
  await using hosts = await openHosts([APP, ...MEMBERS]);
  await using set = await openHostsSet(hosts);
  const place = { hosts, set, runtime };
  await t.step("an application that reaches one secondary only", async () => {
    await using app = await openAt(place, "live_app.ts", commands["live_app.ts"]);
    await reachOneOnly(app, place);
  });
  await using app = await openAt(place, "app.ts", commands["app.ts"]);
  for (const [name, event] of Object.entries(EVENTS)) {
    await t.step(`members ${name}`, (t) => judge(t, app, { place, name, event }));
  }
}

const why = await whyNoHosts();
if (why !== undefined) await report(`Members on other hosts: not tested, because ${why}`);

(why === undefined ? test : Deno.test.ignore)(
  `${CLIENTS} clients write while members on other hosts are far or away`,
  async (t) => {
    await t.step("on Deno", (t) => onHosts(t, "Deno"));
    if (!isLong) return;
    await t.step("on Node", async (t) => {
      await using app = await bundleApp("app.ts");
      await using live = await bundleApp("live_app.ts");
      await onHosts(t, "Node", { "app.ts": app.command, "live_app.ts": live.command });
    });
  },
);
