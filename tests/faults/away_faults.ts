import { assert, assertEquals } from "@std/assert";
import { test } from "../harness/testing.ts";
import { asQuery } from "../support/support.ts";
import { openTunnel, reopenTunnel } from "../support/tunnel.ts";
import { until } from "../support/until.ts";
import { isLong, report } from "../harness/report.ts";
import { openApp } from "./support/open_app.ts";

const BASE = Deno.env.get("MONGODB_URI") ?? "";

/** How long the database is away in the middle. */
const AWAY_MS = isLong ? 60_000 : 10_000;

/** The contract says 15 s for an answer, and the driver looks for its server every 10 s; the machine may be busy. */
const PATIENCE_S = 30;

/** A list that stays short. */
const NOTHING = `/visits${asQuery({ text: "none" })}`;

type App = Awaited<ReturnType<typeof openApp>>;

/** Gives a way to the database that is not open, and opens it on the same port. */
function prepareTunnel() {
  const { uri, [Symbol.dispose]: close } = openTunnel(BASE);
  close();
  return { uri, open: () => openTunnel(BASE, Number(new URL(uri).port)) };
}

/** Sends requests until a moment; gives how long each took, in seconds, and the statuses. */
async function sendUntil(app: App, { end, headers = {} }: { end: number; headers?: object }) {
  const statuses = new Set<number>();
  const took: number[] = [];
  do {
    const begun = performance.now();
    const options = { headers: { ...headers } };
    const calls = [app.get(NOTHING, options), app.post("/visits", { text: "a" }, options)];
    for (const { status } of await Promise.all(calls)) statuses.add(status);
    took.push((performance.now() - begun) / 1000);
  } while (performance.now() < end);
  return { statuses: [...statuses], took: took.sort((a, b) => a - b) };
}

/** Resolves when requests succeed again; gives the seconds that it took. */
async function untilNormal(app: App, headers = {}): Promise<number> {
  const begun = performance.now();
  const isNormal = async () => (await app.get(NOTHING, { headers })).status === 200;
  await until(isNormal, { seconds: PATIENCE_S });
  return (performance.now() - begun) / 1000;
}

test("every request is answered 503 in time while the database is away", async (t) => {
  const { uri, open } = prepareTunnel();
  await using app = await openApp(uri);
  const step = async (name: string, end: number) => {
    const { statuses, took } = await sendUntil(app, { end });
    using _tunnel = open();
    assertEquals(statuses, [503]);
    assert(Number(took.at(-1)) < PATIENCE_S, `${took.at(-1)} s`);
    const normal = await untilNormal(app);
    await report(
      `The database away ${name}: every answer a 503 within ${took.at(-1)?.toFixed(1)} s, ` +
        `normal ${normal.toFixed(1)} s after it was back`,
    );
  };
  await t.step("at the start", () => step("at the start", 0));
  await t.step("in the middle", () => step("in the middle", performance.now() + AWAY_MS));
  const { rejections, failures } = await app.state();
  assertEquals([rejections, failures], [[], []]);
});

/** The names of the tenants whose database is there. */
const OTHERS = Array.from({ length: 48 }, (_, index) => `there_${index}`);

/** Sends requests of several tenants for three seconds: four clients, each as one tenant after the other. */
async function askAs(app: App, tenants: readonly string[]) {
  const end = performance.now() + 3000;
  const statuses = new Set<number>();
  const took: number[] = [];
  const ask = async (tenant: string) => {
    const one = await sendUntil(app, { end: 0, headers: { "x-tenant": tenant } });
    one.statuses.forEach((status) => statuses.add(status));
    took.push(...one.took);
  };
  await Promise.all([0, 1, 2, 3].map(async (first) => {
    for (let turn = first; performance.now() < end; turn += 4) {
      await ask(tenants[turn % tenants.length] ?? "");
    }
  }));
  return { statuses: [...statuses].sort(), took: took.sort((a, b) => a - b) };
}

test("tenants whose database is there do not notice that another one is away", async (t) => {
  const { hostname, port } = new URL(BASE);
  const there = `mongodb://${hostname}:${port}/`;
  const [dead, hanging] = [openTunnel(BASE), openTunnel(BASE)];
  const others = Object.fromEntries(OTHERS.map((name) => [name, there]));
  await using app = await openApp(there, {
    tenants: { ...others, dead: dead.uri, hanging: hanging.uri },
  });
  for (const tenant of [...OTHERS, "dead", "hanging"]) {
    await untilNormal(app, { "x-tenant": tenant });
  }
  const before = await askAs(app, OTHERS);
  for (const name of ["dead", "hanging"] as const) {
    await t.step(`a tenant whose database is ${name}`, async () => {
      if (name === "dead") dead[Symbol.dispose]();
      else hanging.block();
      const [others, harmed] = await Promise.all([askAs(app, OTHERS), askAs(app, [name])]);
      assertEquals([others.statuses, harmed.statuses], [[200, 201], [503]]);
      const slowest = Number(harmed.took.at(-1));
      assert(slowest < PATIENCE_S, `${slowest} s`);
      if (name === "hanging") hanging[Symbol.dispose]();
      using _tunnel = await reopenTunnel(BASE, name === "dead" ? dead : hanging);
      const normal = await untilNormal(app, { "x-tenant": name });
      const own = `503s within ${slowest.toFixed(1)} s, normal ${normal.toFixed(1)} s after`;
      const all = `the others ${told(before)}, then ${told(others)}; its own ${own} it was back`;
      await report(`One of 50 tenants ${name}: ${all}`);
    });
  }
});

/** The median and the 99th of 100, in milliseconds. */
function told({ took }: { took: readonly number[] }): string {
  const at = (share: number) => (1000 * Number(took[Math.floor(took.length * share)])).toFixed(0);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`;
}
