import { assert, assertEquals } from "@std/assert";
import { client, type EntityBody } from "../support/client.ts";
import { test } from "../harness/testing.ts";
import { until } from "../support/until.ts";
import { isLong, report } from "../harness/report.ts";
import { openApp } from "./support/open_app.ts";
import { openReplicaSet, type ReplicaSet, restart, signal } from "./support/replica_set.ts";

/** How many clients change the same counter. */
const RIVALS = isLong ? 28 : 6;

/** How often each of them increments it, at least. */
const TIMES = isLong ? 2 : 5;

type Api = ReturnType<typeof client>;

/** A counter, as a client sees it: its note names every increment that has happened. */
type CounterBody = EntityBody & { readonly count?: number; readonly note?: string };

/** Creates an account for each place, so that only the rivals of one place meet; gives the paths. */
async function makeCounters(api: Api): Promise<Record<string, string>> {
  const make = async () => {
    const made = await api.created("/plain", { single: {}, parts: [{ inner: [{}] }] });
    return { path: `/plain/${made._id}`, part: (made.parts as EntityBody[])[0] };
  };
  const [root, hooked, embedded, nested, seen, single, referred] = await Promise.all(
    Array.from({ length: 7 }, make),
  ) as Awaited<ReturnType<typeof make>>[] & { length: 7 };
  const { _id: link } = await api.created(`${referred?.path}/links`, {});
  const [inner] = nested?.part?.inner as EntityBody[];
  return {
    "a root": `${root?.path}`,
    "a root with hooks": `${hooked?.path}`.replace("/plain", "/hooked"),
    "an embedded part": `${embedded?.path}/parts/${embedded?.part?._id}`,
    "a nested part": `${nested?.path}/parts/${nested?.part?._id}/inner/${inner?._id}`,
    "a part with hooks": `${seen?.path}/seen/${seen?.part?._id}`,
    "a single part": `${single?.path}/single`,
    "a reference": `${referred?.path}/links/${link}`,
  };
}

/** What the increments of one place have led to. */
class Tally {
  readonly statuses: Record<number, number> = {};
  readonly tokens: string[] = [];
  readonly #counters: Api;

  constructor(url: string) {
    this.#counters = client(url);
  }

  /** The increments that have happened, as the counter itself says. */
  async read() {
    for (;;) {
      const { status, body, headers } = await this.#counters.get<CounterBody>();
      this.#add(status);
      if (status !== 200) continue;
      const { count = 0, note = "" } = body;
      return { count, tokens: note === "" ? [] : note.split(" "), etag: headers.get("etag") ?? "" };
    }
  }

  /** Reads, changes and writes, until the write has happened. After a 503 the next read tells. */
  async increment(): Promise<void> {
    const token = crypto.randomUUID().slice(0, 8);
    for (;;) {
      const { count, tokens, etag } = await this.read();
      if (tokens.includes(token)) break;
      const body = { count: count + 1, note: [...tokens, token].join(" ") };
      const { status } = await this.#counters.patch("", body, { headers: { "if-match": etag } });
      this.#add(status);
      if (status === 200) break;
    }
    this.tokens.push(token);
  }

  #add(status: number): void {
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
  }
}

/** Asserts that exactly the increments have happened that succeeded, each once. */
async function assertExact(tally: Tally): Promise<void> {
  const { count, tokens } = await tally.read();
  assert(tokens.length >= RIVALS * TIMES);
  assertEquals(count, tally.tokens.length);
  assertEquals(tokens.toSorted(), tally.tokens.toSorted());
  const others = Object.keys(tally.statuses).filter((status) =>
    !["200", "412", "503"].includes(status)
  );
  assertEquals(others, []);
}

/** Takes the primary away; resolves when there is a whole replica set again. */
const FAULTS: Readonly<Record<string, (set: ReplicaSet) => Promise<void>>> = {
  ...isLong && { "steps down": async (set) => void await set.stepDown() },
  "is killed": async (set) => {
    const member = await set.primary();
    signal(member, "SIGKILL");
    await until(async () => await set.primary().catch(() => member) !== member, { seconds: 60 });
    await restart(member);
  },
};

test(`${7 * RIVALS} clients read, change and write by If-Match while the primary`, async (t) => {
  await using set = await openReplicaSet();
  await using app = await openApp(set.uri);
  for (const [name, fault] of Object.entries(FAULTS)) {
    await t.step(name, (t) => suffer(t, { app, set, name, fault }));
  }
});

/** Lets a fault happen while clients count. */
async function suffer(t: Deno.TestContext, { app, set, name: fault, fault: happen }: {
  readonly app: Awaited<ReturnType<typeof openApp>>;
  readonly set: ReplicaSet;
  readonly name: string;
  readonly fault: (set: ReplicaSet) => Promise<void>;
}): Promise<void> {
  await until(async () => (await app.get("/counters")).status === 200, { seconds: 60 });
  const places = Object.entries(await makeCounters(app));
  const tallies = places.map(([name, path]) => [name, new Tally(app.url + path)] as const);
  let done = false;
  const run = async (tally: Tally) => {
    for (let left = TIMES; left > 0 || !done; left--) await tally.increment();
  };
  const running = tallies.flatMap(([, tally]) => Array.from({ length: RIVALS }, () => run(tally)));
  await until(() => tallies.every(([, { tokens }]) => tokens.length >= 6), { seconds: 300 });
  await happen(set);
  await set.whole();
  done = true;
  await Promise.all(running);
  for (const [name, tally] of tallies) {
    await t.step(
      `no increment of ${name} is lost or doubled`,
      () => assertExact(tally),
    );
    await report(`The primary ${fault}, If-Match on ${name}: ${JSON.stringify(tally.statuses)}`);
  }
  const { rejections, failures } = await app.state();
  assert(tallies.some(([, { statuses }]) => statuses[412] !== undefined));
  assertEquals([rejections, failures], [[], []]);
}
