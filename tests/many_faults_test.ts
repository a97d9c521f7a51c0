import { assert, assertEquals, assertMatch } from "@std/assert";
import mongoose from "mongoose";
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
} from "../mod.ts";
import { pass } from "./both_paths.ts";
import { longTest, test } from "./harness/testing.ts";
import { failCommand, named, openReplicaSet } from "./many.ts";
import { type EntityBody, type ErrorBody, mount } from "./support.ts";
import { until } from "./until.ts";

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
    ...{ mongo: `${mongo.uri}&appName=${APP}`, maxTimeMS, onError: () => {} },
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
    await fail(app, "insert", { errorCode: 50 });
    const long = await app.post<ErrorBody>(path, named(...NAMES));
    assertEquals([long.status, long.body.code], [503, "UNAVAILABLE"]);
    assertMatch(long.body.message, /send less in one request/);
    await fail(app, "insert", { blockConnection: true, blockTimeMS: 3000 });
    const late = await app.post<ErrorBody>(path, named(...NAMES));
    assertEquals([late.status, late.body.code], [503, "UNAVAILABLE"]);
    assertMatch(late.body.message, /send less in one request/);
    await untilIdle(app);
    assertEquals(await app.read<EntityBody[]>(path), []);
  }
});
