import { assert, assertEquals, assertRejects } from "@std/assert";
import mongoose, { type Connection } from "mongoose";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type Ref,
  rest,
  update,
} from "../../../mod.ts";
import { startMongo } from "../../harness/mongo/start_mongo.ts";
import { openReplicaSet } from "../../support/shared_replica_set.ts";
import { test } from "../../harness/testing.ts";
import { mountOnReplicaSet } from "../../support/mount_on_replica_set.ts";
import { mount } from "../../support/support.ts";
import { until } from "../../support/until.ts";
import { type BatchBody, rows, sendBatch } from "./shop.ts";

const batch = { path: "/batch", max: 20 };

let gate: Promise<void> | undefined;
let reached = () => {};
const runs: string[] = [];
let late: Promise<unknown> | undefined;
/** Whether the hook that waits sends no statement afterwards, and leaves the log out. */
let isQuiet = false;

@rest({
  route: "/logs",
  methods: [
    create<Log>({
      async preSave(req, log) {
        runs.push(log.text);
        if (log.text !== "wait") return log;
        reached();
        await gate;
        if (isQuiet) req.res?.status(200).json({});
        if (isQuiet) return null;
        late = getModel(Log).create({ text: "late" });
        await late;
        return log;
      },
    }),
    all({
      page: { max: 10 },
      preFetch({ framework }: FrameworkRequest) {
        framework.options.readPreference = "secondaryPreferred";
        return true;
      },
    }),
  ],
})
class Log extends FrameworkModel {
  @prop({ required: true })
  text!: string;
}

/** Lets a hook wait. Returns the function that lets it go on, and a promise of its run. */
function close(): { readonly open: () => void; readonly waiting: Promise<void> } {
  runs.length = 0;
  late = undefined;
  let open = () => {};
  gate = new Promise((resolve) => open = resolve);
  const waiting = new Promise<void>((resolve) => reached = resolve);
  return { open, waiting };
}

async function openTransactions(): Promise<number> {
  const { transactions } = await mongoose.connection.db?.command({ serverStatus: 1 }) as {
    transactions: { currentOpen: number };
  };
  return Number(transactions.currentOpen);
}

const TWO = rows(
  ["POST", "/logs", { text: "a" }],
  ["POST", "/logs", { text: "wait" }],
  ["POST", "/logs", { text: "b" }],
);

test("a batch beyond its time limit is a 503, and its hooks write nothing afterwards", async () => {
  const reported: unknown[] = [];
  await using app = await mountOnReplicaSet([Log], {
    batch,
    limits: { timeMS: 300 },
    onError: (_req, error, context) => void reported.push([Object(error).status, context]),
  });
  const { open } = close();
  const { status, headers, body } = await sendBatch(app, TWO);
  assertEquals([status, body.code, body.failed], [503, "UNAVAILABLE", "r1"]);
  assert(headers.has("retry-after"));
  assertEquals(reported, [[503, {
    method: "POST",
    route: "/batch",
    class: "",
    operation: "batch",
  }]]);
  await until(async () => await openTransactions() === 0);
  open();
  await until(() => late !== undefined);
  await assertRejects(() => late as Promise<unknown>, Error, "was undone");
  assertEquals([runs, await getModel(Log).countDocuments()], [["a", "wait"], 0]);
});

test("a statement that takes too long is not repeated in a batch", async () => {
  await using mongo = await openReplicaSet();
  await using app = await mount([Log], { batch, mongo: mongo.uri, onError: () => {} });
  await getModel(Log).init();
  const data = { failCommands: ["insert"], errorCode: 50 };
  const fail = { configureFailPoint: "failCommand", mode: { times: 1 }, data };
  const send = () => sendBatch(app, rows(["POST", "/logs", { text: "a" }]));
  await mongoose.connection.getClient().db("admin").command(fail);
  const { status, body } = await send();
  assertEquals([status, body.code, body.failed], [503, "UNAVAILABLE", "r0"]);
  assertEquals([(await send()).status, await getModel(Log).countDocuments()], [200, 1]);
});

test("a batch beyond its time limit does not go on when a hook ends", async () => {
  await using app = await mountOnReplicaSet([Log], {
    batch,
    limits: { timeMS: 300 },
    onError: () => {},
  });
  const { open, waiting } = close();
  isQuiet = true;
  assertEquals((await sendBatch(app, TWO)).status, 503);
  await waiting;
  open();
  await new Promise((resolve) => setTimeout(resolve, 100));
  isQuiet = false;
  assertEquals([runs, await getModel(Log).countDocuments()], [["a", "wait"], 0]);
});

test("a batch whose client leaves is undone, and its next requests do not run", async () => {
  await using app = await mountOnReplicaSet([Log], { batch, onError: () => {} });
  const { open, waiting } = close();
  const leaving = new AbortController();
  const sent = fetch(`${app.url}/batch`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ requests: TWO }),
    signal: leaving.signal,
  }).catch(() => {});
  await waiting;
  leaving.abort();
  await sent;
  await new Promise((resolve) => setTimeout(resolve, 50));
  open();
  await until(async () => await openTransactions() === 0);
  assertEquals([runs, await getModel(Log).countDocuments()], [["a", "wait"], 0]);
});

@rest({
  route: "/naps",
  methods: [one({
    async postFetch(_req, nap) {
      reached();
      await getModel(Nap).findOne({ $where: "sleep(60000) || true" });
      return nap;
    },
  })],
})
class Nap extends FrameworkModel {}

test("a batch whose client leaves ends the statement that keeps its locks", async () => {
  await using app = await mountOnReplicaSet([Log, Nap], { batch, limits: { timeMS: 60_000 } });
  const { _id } = await getModel(Nap).create({});
  const { waiting } = close();
  const leaving = new AbortController();
  const body = JSON.stringify({
    requests: rows(["POST", "/logs", { text: "a" }], ["GET", `/naps/${_id}`]),
  });
  const headers = { "content-type": "application/json" };
  const sent = fetch(`${app.url}/batch`, { method: "POST", body, headers, signal: leaving.signal });
  await waiting;
  await until(async () => await openTransactions() === 1);
  leaving.abort();
  await assertRejects(() => sent);
  await until(async () => await openTransactions() === 0);
  assertEquals(await getModel(Log).countDocuments(), 0);
});

test("work of a hook that the batch does not wait for is stored by itself", async () => {
  let work: Promise<unknown> | undefined;
  @rest({
    route: "/jobs",
    methods: [
      create({
        preSave(_req, job) {
          work = new Promise((resolve) => setTimeout(resolve, 300))
            .then(() => getModel(Job).create({ text: "later" }));
          return job;
        },
      }),
    ],
  })
  class Job extends Log {}
  await using app = await mountOnReplicaSet([Job], { batch });
  assertEquals((await sendBatch(app, rows(["POST", "/jobs", { text: "a" }]))).status, 200);
  await work;
  assertEquals(await getModel(Job).countDocuments(), 2);
});

class Part extends FrameworkModel {
  @prop()
  text?: string;
}

@rest({ route: "/plain", methods: [all({ page: { max: 5 } }), one(), create(), update()] })
class Plain extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ ref: () => Plain, exists: true })
  next?: Ref<Plain>;
  @rest({ methods: [one(), create(), update()] })
  @arrayProp({ items: Part, embedded: true })
  parts?: Part[];
}

test("a batch on a connection that reads from secondaries reads from the primary", async () => {
  await using app = await mountOnReplicaSet([Plain, Log], { batch });
  await Promise.all([Plain, Log].map((model) => getModel(model).init()));
  const uri = new URL(app.database.uri);
  uri.searchParams.set("readPreference", "secondaryPreferred");
  await mongoose.disconnect();
  await mongoose.connect(uri.href, { readConcern: { level: "majority" } });
  const { status, body } = await sendBatch(
    app,
    rows(
      ["POST", "/plain", { text: "a" }],
      ["POST", "/plain", { text: "b", next: { $result: "r0._id" } }],
      ["POST", "/plain/{r0._id}/parts", { text: "c" }],
      ["PATCH", "/plain/{r0._id}/parts/{r2._id}", { text: "d" }],
      ["GET", "/plain/{r0._id}/parts/{r2._id}"],
      ["PATCH", "/plain/{r0._id}", { next: { $result: "r1._id" } }],
      ["GET", "/plain/{r0._id}"],
      ["GET", "/plain"],
      ["POST", "/logs", { text: "e" }],
      ["GET", "/logs"],
    ),
  );
  assertEquals(status, 200, JSON.stringify(body));
  assertEquals(body.responses.map((each) => Object(each.body).length ?? each.body?.text), [
    ...["a", "b", "c", "d", "d", "a", "a"],
    ...[2, "e", 1],
  ]);
});

/** Makes a model whose connection a request names. */
function chosenModel(connections: Readonly<Record<string, Connection>>) {
  const getConnection = ({ url }: FrameworkRequest) =>
    connections[new URL(url, "http://host").searchParams.get("on") ?? ""] as Connection;
  @rest({ route: "/chosen", methods: [create()], getConnection })
  class Chosen extends FrameworkModel {
    @prop()
    text?: string;
  }
  return Chosen;
}

test("a batch uses one deployment", async () => {
  await using other = await startMongo({ replicaSet: 1 });
  await using away = {
    connection: await mongoose.createConnection(other.uri).asPromise(),
    async [Symbol.asyncDispose]() {
      await this.connection.close();
    },
  };
  const connections: Record<string, Connection> = { away: away.connection };
  await using app = await mountOnReplicaSet([Plain, chosenModel(connections)], { batch });
  connections.beside = mongoose.connection.useDb("beside", { useCache: true });
  const send = (...places: string[]) =>
    app.post<BatchBody>("/batch", {
      requests: rows(...places.map((on) => ["POST", `/chosen?on=${on}`, { text: on }] as const)),
    });
  assertEquals((await send("beside", "beside")).status, 200);
  assertEquals((await send("away", "away")).status, 200);
  const { status, body } = await send("beside", "away");
  assertEquals([status, body.failed], [400, "r1"]);
  const both = await sendBatch(
    app,
    rows(["POST", "/plain", { text: "a" }], ["POST", "/chosen?on=beside", { text: "b" }]),
  );
  assertEquals(both.status, 200);
  assertEquals(await connections.beside.collection("chosens").countDocuments(), 3);
  assertEquals(await away.connection.collection("chosens").countDocuments(), 2);
  await connections.beside.dropDatabase();
});

test("a batch can be the first request to a database of getConnection", async () => {
  const first = () => mongoose.connection.useDb("first_of_batch", { useCache: true });
  @rest({ route: "/firsts", methods: [create()], getConnection: first })
  class First extends FrameworkModel {
    @prop({ unique: true })
    name?: string;
  }
  await using app = await mountOnReplicaSet([First], { batch });
  await first().dropDatabase();
  const names = ["a", "b"].map((name) => ["POST", "/firsts", { name }] as const);
  const { status, text } = await sendBatch(app, rows(...names));
  assertEquals(status, 200, text);
  assertEquals(await first().collection("firsts").countDocuments(), 2);
  await first().dropDatabase();
});
