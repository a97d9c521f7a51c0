import { assert, assertEquals } from "@std/assert";
import { test } from "../harness/testing.ts";
import { report } from "../harness/report.ts";
import { until } from "../support/until.ts";
import { ROUNDS } from "./support/effort.ts";
import { LOT } from "./support/models.ts";
import { openApp } from "./support/open_app.ts";
import { openReplicaSet, type ReplicaSet, restart, signal } from "./support/replica_set.ts";

const COLLECTIONS = { "/lots": "lots", "/guarded-lots": "guarded_lots" } as const;

/** What a client was told of a lot. */
interface Told {
  readonly path: keyof typeof COLLECTIONS;
  readonly lot: string;
  /** Whether it was created; `undefined` where no answer says so. */
  created?: boolean;
  /** The texts that it may have: the last one that was acknowledged, and those without an answer since. */
  texts: string[];
  /** How often it was changed, and how often that is not known. */
  changes: number;
  unknown: number;
}

interface Journal {
  readonly lots: Told[];
  readonly statuses: Map<number, number>;
  readonly wrong: unknown[];
}

type App = Awaited<ReturnType<typeof openApp>>;

/** Creates a lot and changes it three times, all at once each time. */
async function work(app: App, journal: Journal): Promise<void> {
  const lot = crypto.randomUUID();
  const path = Math.random() < 0.5 ? "/lots" : "/guarded-lots";
  const told: Told = { path, lot, texts: ["0"], changes: 0, unknown: 0 };
  journal.lots.push(told);
  const count = (status: number) =>
    journal.statuses.set(status, (journal.statuses.get(status) ?? 0) + 1);
  const bodies = Array.from({ length: LOT }, (_, key) => ({ lot, key: `${key}`, text: "0" }));
  const { status, body } = await app.post<unknown[]>(path, bodies);
  count(status);
  if (status === 201) told.created = true;
  else if (status !== 503) journal.wrong.push({ status, body });
  if (status !== 201) return;
  if (body.length !== LOT) journal.wrong.push({ length: body.length });
  for (const text of ["1", "2", "3"]) await change(app, journal, { told, text });
}

async function change(
  app: App,
  { statuses, wrong }: Journal,
  { told, text }: { readonly told: Told; readonly text: string },
): Promise<void> {
  const q = encodeURIComponent(JSON.stringify({ lot: told.lot }));
  const { status, body } = await app.patch<object>(`${told.path}?q=${q}`, { text });
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
  if (status === 200) {
    assertEquals(body, { matched: LOT, modified: LOT });
    told.texts = [text];
    told.changes++;
  } else if (status === 503) {
    told.texts.push(text);
    told.unknown++;
    // A change without an answer may still come, and meets documents that were read before it.
  } else if (status !== 409 || told.unknown === 0) wrong.push({ status, body });
}

const CLIENTS = 8;

async function suffer(app: App, harm: () => Promise<void>): Promise<Journal> {
  const journal: Journal = { lots: [], statuses: new Map(), wrong: [] };
  let isOver = false;
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (!isOver) await work(app, journal);
  });
  const created = () => journal.lots.filter((told) => told.created).length;
  const enough = async () => {
    const before = created();
    await until(() => created() >= before + 3 * CLIENTS, { seconds: 120 });
  };
  for (let left = ROUNDS; left > 0; left--) {
    await enough();
    await harm();
    await enough();
  }
  isOver = true;
  await Promise.all(clients);
  return journal;
}

interface StoredLot {
  readonly _id: string;
  readonly count: number;
  readonly texts: string[];
  readonly versions: number[];
}

/** Finds lots that are stored by halves, and answers that were not true. */
async function findFaults({ connection }: ReplicaSet, { lots }: Journal): Promise<unknown[]> {
  const stored = new Map<string, StoredLot>();
  for (const name of Object.values(COLLECTIONS)) {
    const groups = connection.collection(name).aggregate<StoredLot>([{
      $group: {
        _id: "$lot",
        count: { $sum: 1 },
        texts: { $addToSet: "$text" },
        versions: { $addToSet: "$__v" },
      },
    }]);
    for await (const group of groups) stored.set(group._id, group);
  }
  return lots.filter(({ lot, created, texts, changes, unknown }) => {
    const found = stored.get(lot);
    if (found === undefined) return created === true;
    const [version = -1] = found.versions;
    const isWhole = found.count === LOT && found.texts.length === 1 && found.versions.length === 1;
    const isTrue = texts.includes(String(found.texts[0])) && version >= changes &&
      version <= changes + unknown;
    return !isWhole || !isTrue;
  }).map((told) => ({ ...told, stored: stored.get(told.lot) }));
}

test("what is written together is all there or nothing is, while the primary", async (t) => {
  await using set = await openReplicaSet();
  await using app = await openApp(set.uri);
  const killed = async (name: Deno.Signal, undo: typeof restart) => {
    const member = await set.primary();
    signal(member, name);
    await new Promise((resolve) => setTimeout(resolve, 12_000));
    await undo(member);
    await set.whole();
  };
  const harms = {
    "steps down": () => set.stepDown(),
    "is killed": () => killed("SIGKILL", restart),
    hangs: () => killed("SIGSTOP", (member) => Promise.resolve(signal(member, "SIGCONT"))),
  };
  for (const [name, harm] of Object.entries(harms)) {
    await t.step(name, async () => {
      const journal = await suffer(app, async () => void await harm());
      await set.whole();
      const { rejections, failures } = await app.state();
      assertEquals([journal.wrong, rejections, failures], [[], [], []]);
      assertEquals(await findFaults(set, journal), []);
      const answers = [...journal.statuses].map(([status, count]) => `${count} × ${status}`);
      assert(journal.lots.some(({ created }) => created));
      await report(`Lots of ${LOT} while the primary ${name}: ${answers.join(", ")}`);
    });
  }
});
