import { assert, assertEquals, assertMatch } from "@std/assert";
import mongoose from "mongoose";
import type { Connection } from "mongoose";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  rest,
} from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";
import { startMongo } from "../../harness/mongo/start_mongo.ts";
import { longTest, test } from "../../harness/testing.ts";
import { failCommand, named } from "./many.ts";
import { type EntityBody, type ErrorBody, mount, type Mounted } from "../../support/support.ts";
import { until } from "../../support/until.ts";
import { openReplicaSet } from "../../support/shared_replica_set.ts";

class Part extends FrameworkModel {
  @prop({ required: true })
  name!: string;
}

const MANY = { many: 1000 };

@rest({ route: "/direct", methods: [all(), create(MANY)] })
class Direct extends Part {}

@rest({ route: "/hooked", methods: [all(), create<Hooked>({ ...MANY, preSave: pass })] })
class Hooked extends Part {}

@rest({ route: "/holders", methods: [one(), create()] })
class Holder extends FrameworkModel {
  @rest({ methods: [all(), create(MANY)] })
  @arrayProp({ items: Part })
  parts?: Ref<Part>[];
  @rest({ methods: [all(), create(MANY)] })
  @arrayProp({ items: Part, embedded: true })
  notes?: Part[];
}

const NAMES = ["a", "b", "c", "d"];

/** What stands in the way of a command: whether a new try can succeed. */
const FAULTS: Readonly<Record<string, { readonly [key: string]: unknown }>> = {
  "transient": { errorCode: 112, errorLabels: ["TransientTransactionError"] },
  "asks to repeat": { errorCode: 262 },
  "refused": { errorCode: 8000 },
  "too large": { errorCode: 257 },
  "breaks": { closeConnection: true },
  "breaks, always": { closeConnection: true, mode: "alwaysOn" },
  "hangs": { blockConnection: true, blockTimeMS: 1500, mode: "alwaysOn" },
  "write concern": { writeConcernError: { code: 100, errmsg: "Not enough data-bearing nodes" } },
};

/** The commands of a bulk, by where it writes. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  "/direct": ["insert", "commitTransaction"],
  "/hooked": ["insert", "commitTransaction"],
  "/parts": ["update", "insert", "commitTransaction"],
  "/notes": ["update"],
};

/** Faults that a server has no open transaction after, but that of a fail point has. */
const NOT_OF_COMMITS = ["refused", "too large"];

const APP = "bulks";

/** Serves all models of this file, whose commands can be made to fail; the tests look by a connection of their own. */
async function openApp(maxTimeMS: number) {
  const mongo = await openReplicaSet();
  const app = await mount([Direct, Hooked, Holder], {
    ...{ mongo: `${mongo.uri}&appName=${APP}`, limits: { timeMS: maxTimeMS }, onError: () => {} },
  });
  const models = [Direct, Hooked, Part, Holder];
  await Promise.all(models.map((each) => getModel(each).createCollection()));
  const host = await mongoose.createConnection(mongo.uri, { dbName: app.database.name })
    .asPromise();
  return {
    ...app,
    host,
    async [Symbol.asyncDispose]() {
      await host.close();
      await app[Symbol.asyncDispose]();
      await mongo.stop();
    },
  };
}

type App = Awaited<ReturnType<typeof openApp>>;

/** What is stored by a bulk: on a reference, identifiers and entities. */
async function look({ host }: App, { path, id }: Place): Promise<string> {
  const count = (name: string) => host.collection(name).countDocuments();
  if (path === "/direct" || path === "/hooked") return `${await count(`${path.slice(1)}s`)}`;
  const holder = await host.collection("holders").findOne({ _id: id as never });
  if (path === "/notes") return `${holder?.notes?.length ?? 0}`;
  return `${holder?.parts?.length ?? 0} ${await count("parts")}`;
}

interface Place {
  readonly path: string;
  readonly id: unknown;
}

async function fail({ host }: App, command: string, data: object = {}): Promise<void> {
  await failCommand(host, [command], { appName: APP, ...data });
}

/** Resolves when no transaction is open any more: the driver may still repeat a commit. */
async function untilIdle({ host }: App): Promise<void> {
  const pipeline = [{ $currentOp: { idleSessions: true } }, {
    $match: { transaction: { $exists: true } },
  }];
  const admin = host.getClient().db("admin");
  await until(async () => (await admin.aggregate(pipeline).toArray()).length === 0);
}

/** Sends a bulk while one of its commands fails; gives what came of it. */
async function suffer(
  app: App,
  { path, command, fault }: {
    readonly path: string;
    readonly command: string;
    readonly fault: string;
  },
): Promise<{ readonly status: number; readonly stored: string }> {
  for (const name of ["directs", "hookeds", "parts"]) await app.host.collection(name).deleteMany();
  const { insertedId: id } = await app.host.collection("holders").insertOne({ __v: 0 });
  const url = path === "/parts" || path === "/notes" ? `/holders/${id}${path}` : path;
  await until(async () => (await app.get("/direct")).status === 200);
  await fail(app, command, FAULTS[fault]);
  const { status } = await app.post(url, named(...NAMES));
  await fail(app, command, { mode: "off" });
  await untilIdle(app);
  return { status, stored: await look(app, { path, id }) };
}

const NONE: Readonly<Record<string, string>> = { "/parts": "0 0" };
const ALL: Readonly<Record<string, string>> = { "/parts": "4 4" };

longTest("create({ many }) writes all or nothing, whatever fails", async (t) => {
  await using app = await openApp(500);
  for (const [path, commands] of Object.entries(COMMANDS)) {
    for (const command of commands) {
      for (const fault of Object.keys(FAULTS)) {
        if (command === "commitTransaction" && NOT_OF_COMMITS.includes(fault)) continue;
        await t.step(`${path}: ${command} ${fault}`, async () => {
          const { status, stored } = await suffer(app, { path, command, fault });
          const all = ALL[path] ?? "4";
          const none = NONE[path] ?? "0";
          assert(stored === all || stored === none, `${status}: ${stored}`);
          if (status === 201) assertEquals(stored, all);
          else assert([413, 500, 503].includes(status), `${status}`);
          // Without a write or a commit under way, an error means that nothing is written.
          const isSure = command === "insert" || command === "update" && path === "/parts";
          if (status !== 201 && isSure) assertEquals(stored, none);
        });
      }
    }
  }
});

test("create({ many }) that is too much for one transaction says how to split it", async () => {
  await using app = await openApp(300);
  for (const path of ["/direct", "/hooked"]) {
    await fail(app, "insert", { errorCode: 257 });
    const large = await app.post<ErrorBody>(path, named(...NAMES));
    assertEquals([large.status, large.body.code], [413, "PAYLOAD_TOO_LARGE"]);
    assertMatch(large.body.message, /send less in one request/);
    for (const errorCode of [50, 290]) {
      await fail(app, "insert", { errorCode });
      const long = await app.post<ErrorBody>(path, named(...NAMES));
      assertEquals([long.status, long.body.code], [503, "UNAVAILABLE"]);
      assertMatch(long.body.message, /send less in one request/);
    }
    await fail(app, "insert", { blockConnection: true, blockTimeMS: 3000 });
    const late = await app.post<ErrorBody>(path, named(...NAMES));
    assertEquals([late.status, late.body.code], [503, "UNAVAILABLE"]);
    assertMatch(late.body.message, /send less in one request/);
    await untilIdle(app);
    assertEquals(await app.read<EntityBody[]>(path), []);
  }
});

const BULK = 20;

/** Bulks that are sent, and the status of each by the name of its entities. */
class Traffic {
  readonly statuses = new Map<string, number>();
  isOver = false;

  get made(): number {
    return [...this.statuses.values()].filter((status) => status === 201).length;
  }

  async send(app: Mounted, path: string): Promise<void> {
    while (!this.isOver) {
      const name = crypto.randomUUID();
      const { status } = await app.post(path, named(...Array.from({ length: BULK }, () => name)));
      this.statuses.set(name, status);
    }
  }
}

async function stepDown(connection: Connection): Promise<void> {
  const command = { replSetStepDown: 3, secondaryCatchUpPeriodSecs: 2, force: true };
  await connection.getClient().db("admin").command(command).catch(() => {});
}

/** How often each name is stored, by where it was sent. */
async function countNames(path: string, id: unknown): Promise<Map<string, number>> {
  const held = await getModel(Holder).findById(id).lean();
  const entities = path === "/notes"
    ? held?.notes as { name: string }[]
    : await getModel(path === "/direct" ? Direct : path === "/hooked" ? Hooked : Part).find()
      .lean();
  const counts = new Map<string, number>();
  for (const { name } of entities) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** Checks that what is stored of a bulk is all of it, and that it is there if the answer says so. */
function checkStored(
  counts: ReadonlyMap<string, number>,
  statuses: ReadonlyMap<string, number>,
): void {
  assertEquals([...new Set(counts.values())], [BULK]);
  for (const [name, status] of statuses) {
    assert(status === 201 || status === 503, `${status}`);
    if (status === 201) assertEquals(counts.get(name), BULK);
  }
}

longTest("create({ many }) writes all or nothing while primaries step down", async () => {
  await using mongo = await startMongo({ replicaSet: 3 });
  await using app = await mount([Direct, Hooked, Holder], {
    ...{
      mongo: `${mongo.uri}&heartbeatFrequencyMS=500`,
      limits: { timeMS: 5000 },
      onError: () => {},
    },
  });
  for (const each of [Direct, Hooked, Part, Holder]) await getModel(each).createCollection();
  const { _id } = await app.created("/holders", {});
  const paths = ["/direct", "/hooked", "/parts", "/notes"];
  const all = paths.map(() => new Traffic());
  const sent = paths.flatMap((path, index) => {
    const url = path.endsWith("s") ? `/holders/${_id}${path}` : path;
    return [0, 1].map(() => all[index]?.send(app, url));
  });
  for (const made of [10, 20]) {
    await until(() => all.every((traffic) => traffic.made >= made));
    await stepDown(mongoose.connection);
  }
  await until(() => all.every((traffic) => traffic.made >= 30));
  for (const traffic of all) traffic.isOver = true;
  await Promise.all(sent);
  for (const [index, path] of paths.entries()) {
    checkStored(await countNames(path, _id), all[index]?.statuses ?? new Map());
  }
  const holder = await getModel(Holder).findById(_id).lean();
  assertEquals(holder?.parts?.length, await getModel(Part).countDocuments());
});
