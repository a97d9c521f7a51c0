import { assert, assertEquals } from "@std/assert";
import { AsyncLocalStorage } from "node:async_hooks";
import { tracingChannel } from "node:diagnostics_channel";
import mongoose from "mongoose";
import { action, all, arrayProp, create, FrameworkModel, one, prop } from "../../mod.ts";
import { removeAll, replace, rest, RestError, update, updateAll } from "../../mod.ts";
import type { Entity, FrameworkRequest, RequestTrace, StatementTrace } from "../../mod.ts";
import { startMongo } from "../harness/mongo/start_mongo.ts";
import { openReplicaSet } from "../support/shared_replica_set.ts";
import { test } from "../harness/testing.ts";
import { mountOnReplicaSet } from "../support/mount_on_replica_set.ts";
import { mount } from "../support/support.ts";
import { until } from "../support/until.ts";

/** A text that requests, entities and errors hold, and that no message may hold. */
const SECRET = "s3cret";

class TracedPart extends FrameworkModel {
  @prop()
  text!: string;
}

const fail = action("fail", {
  on: "one",
  run: (_req, _traced: Entity<Traced>) => {
    throw new Error(SECRET);
  },
});
const refuse = action("refuse", {
  on: "one",
  run: (_req, _traced: Entity<Traced>) => {
    throw new RestError(409, SECRET);
  },
});

@rest({
  route: "/traced",
  methods: [
    all(),
    one(),
    create({ many: 9 }),
    update(),
    replace(),
    updateAll({ fields: ["name"] }),
    removeAll(),
    fail,
    refuse,
  ],
})
class Traced extends FrameworkModel {
  @prop()
  name!: string;
  @arrayProp({ items: TracedPart, embedded: true })
  @rest({ methods: [all(), create(), update()] })
  parts!: TracedPart[];
}

const look = { postFetch: <T>(_req: unknown, entity: T) => entity };

const changed = { ...look, fields: ["name"] } as const;

@rest({ route: "/hooked", methods: [all(look), one(look), create(look), updateAll(changed)] })
class TracedHooked extends FrameworkModel {
  @prop()
  name!: string;
}

/** Subscribes to both channels as a tracer does: with a store, in which a statement finds its request. */
function listen() {
  const store = new AsyncLocalStorage<object>();
  /** Messages that have begun, with those that they were inside of. */
  const parents = new Map<object, object | undefined>();
  const requests: RequestTrace[] = [];
  const statements: StatementTrace[] = [];
  const texts: string[] = [];
  const subscriptions = ["request", "statement"].map((name) => {
    const { start, asyncEnd } = tracingChannel<object, object>(`mongrove:${name}`);
    start.bindStore(store, (message) => {
      parents.set(message, store.getStore());
      return message;
    });
    const onEnd = (message: unknown) => {
      texts.push(JSON.stringify(message));
      if (name === "request") requests.push(message as RequestTrace);
      else statements.push(message as StatementTrace);
    };
    asyncEnd.subscribe(onEnd);
    return { start, asyncEnd, onEnd };
  });
  return {
    store,
    parents,
    texts,
    /** Gives what has ended since the last time, once all that had begun has ended. */
    async take() {
      await until(() => requests.length > 0 && parents.size === texts.length);
      // Models of other tests build their indexes on the default connection.
      const own = statements.splice(0).filter(({ attributes }) =>
        /^traced/.test(String(attributes["db.collection.name"]))
      );
      return { requests: requests.splice(0), statements: own };
    },
    [Symbol.dispose]() {
      for (const { start, asyncEnd, onEnd } of subscriptions) {
        start.unbindStore(store);
        asyncEnd.unsubscribe(onEnd);
      }
    },
  };
}

const ID = "6720c1f5a4f3b2d1c0e9f8a7";

const Q = `?q=${JSON.stringify({ name: SECRET })}`;

/** Requests, and how they are traced: the route, the operation, the status, and the statements. */
const TRACED: readonly (readonly [string, string, unknown, string])[] = [
  [
    "PUT",
    `/traced/${ID}`,
    { name: SECRET },
    "/traced/:id Traced.replace 201, findOneAndUpdate traceds",
  ],
  ["GET", `/traced${Q}`, undefined, "/traced Traced.all 200, find traceds"],
  ["GET", `/traced/${ID}`, undefined, "/traced/:id Traced.one 200, find traceds"],
  ["HEAD", `/traced/${ID}`, undefined, "/traced/:id Traced.one 200, find traceds"],
  [
    "PATCH",
    `/traced/${ID}`,
    { name: SECRET },
    "/traced/:id Traced.update 200, findOneAndUpdate traceds",
  ],
  ["POST", "/traced", { name: SECRET }, "/traced Traced.create 201, insertOne traceds"],
  [
    "POST",
    `/traced/${ID}/parts`,
    { text: SECRET },
    "/traced/:id/parts TracedPart.create 201, find traceds, findOneAndUpdate traceds",
  ],
  [
    "GET",
    `/traced/${ID}/parts`,
    undefined,
    "/traced/:id/parts TracedPart.all 200, find traceds, aggregate traceds",
  ],
  ["POST", `/traced/${ID}/refuse`, {}, "/traced/:id/refuse Traced.refuse 409, find traceds"],
  ["POST", `/traced/${ID}/fail`, {}, "/traced/:id/fail Traced.fail 500, find traceds"],
  ["DELETE", `/traced${Q}`, undefined, "/traced Traced.removeAll 204, deleteMany traceds"],
  ["GET", `/traced/${ID}`, undefined, "/traced/:id Traced.one 404, find traceds"],
  ["POST", "/hooked", { name: SECRET }, "/hooked TracedHooked.create 201, insertOne tracedhookeds"],
  ["GET", `/hooked${Q}`, undefined, "/hooked TracedHooked.all 200, find tracedhookeds"],
];

test("each request is traced, and each of its statements inside of it, on every way", async () => {
  using traces = listen();
  await using app = await mount([Traced, TracedHooked]);
  const told: string[] = [];
  for (const [method, path, body] of TRACED) {
    const { status } = await app.send(method, path, { body });
    const { requests: [request, ...more], statements } = await traces.take();
    assert(request !== undefined && more.length === 0);
    const { attributes, duration = -1 } = request;
    assertEquals(attributes["http.request.method"], method);
    assertEquals(attributes["http.response.status_code"], status);
    assertEquals(attributes["error.type"], status === 500 ? "500" : undefined);
    assert(duration > 0 && duration < 10);
    for (const each of statements) {
      assert(traces.parents.get(each) === request);
      assertEquals(each.attributes["db.system.name"], "mongodb");
      assertEquals(each.attributes["db.namespace"], app.database.name);
      assert(each.duration !== undefined && each.duration > 0 && each.duration <= duration);
    }
    const names = statements.map(({ attributes }) =>
      `${attributes["db.operation.name"]} ${attributes["db.collection.name"]}`
    );
    const { "http.route": route, "mongrove.model": model, "mongrove.operation": operation } =
      attributes;
    told.push([`${route} ${model}.${operation} ${status}`, ...names].join(", "));
  }
  assertEquals(told, TRACED.map(([, , , expected]) => expected));
  const texts = traces.texts.join();
  assertEquals([SECRET, ID].filter((secret) => texts.includes(secret)), []);
});

/** Has the database refuse a command twice: the driver repeats it once. */
async function refuseTwice(command: string): Promise<void> {
  await mongoose.connection.getClient().db("admin").command({
    configureFailPoint: "failCommand",
    mode: { times: 2 },
    data: { failCommands: [command], errorCode: 8000 },
  });
}

test("errors of statements are traced, and statements that pass Mongoose by", async () => {
  using traces = listen();
  await using mongo = await openReplicaSet();
  await using app = await mount([Traced, TracedHooked], { mongo: mongo.uri });
  for (const path of ["/hooked", "/hooked", "/traced"]) await app.created(path, { name: SECRET });
  await traces.take();
  for (
    const [path, method, command] of [["/traced", "GET", "find"], ["/traced", "POST", "insert"]]
  ) {
    await refuseTwice(String(command));
    const { status } = await app.send(String(method), String(path), {
      ...method === "POST" && { body: {} },
    });
    const { requests: [request], statements: [statement] } = await traces.take();
    assertEquals([status, request?.attributes["error.type"]], [500, "500"]);
    assert(statement?.attributes["error.type"]?.startsWith("Mongo"));
  }
  assertEquals((await app.patch(`/hooked${Q}`, { name: "b" })).status, 200);
  const { statements } = await traces.take();
  assertEquals(statements.map(({ attributes }) => attributes["db.operation.name"]), [
    "find",
    "update",
  ]);
});

test("the path of the mount is traced without what clients send in it, in a batch too", async () => {
  using traces = listen();
  const batch = { path: "/batch" };
  await using app = await mountOnReplicaSet([TracedHooked], { at: "/v1/:tenant/:id", batch });
  const mounted = `/v1/${SECRET}/${SECRET}%20x`;
  assertEquals((await app.get(`${mounted}/hooked/${ID}`)).status, 404);
  const requests = [{ id: "a", method: "GET", path: `/hooked/${ID}` }];
  assertEquals((await app.post(`${mounted}/batch`, { requests })).status, 404);
  const told = (await traces.take()).requests.map(({ attributes }) => attributes["http.route"]);
  const one = "/v1/:tenant/:id/hooked/:id";
  assertEquals(told.toSorted(), ["/v1/:tenant/:id/batch", one, one]);
  assert(!traces.texts.join().includes(SECRET));
});

const waiting = Promise.withResolvers<void>();

/** Passes when the client has gone. */
function wait(req: FrameworkRequest): Promise<boolean> {
  waiting.resolve();
  return new Promise((resolve) => void req.res?.once("close", () => resolve(true)));
}

@rest({ route: "/waiting", methods: [all({ preFetch: wait })] })
class TracedWaiting extends FrameworkModel {}

test("a request whose client goes is traced as aborted, without a status", async () => {
  using traces = listen();
  await using app = await mount([TracedWaiting]);
  const leaving = new AbortController();
  const asked = fetch(`${app.url}/waiting`, { signal: leaving.signal }).catch(() => "gone");
  await waiting.promise;
  leaving.abort();
  assertEquals(await asked, "gone");
  const { requests: [request] } = await traces.take();
  assertEquals(request?.attributes["error.type"], "aborted");
  assertEquals(request?.attributes["http.response.status_code"], undefined);
});

const inside = { look: () => {} };

function lookInside(): boolean {
  inside.look();
  return true;
}

@rest({ route: "/looked", methods: [all({ preFetch: lookInside })] })
class TracedLooked extends FrameworkModel {}

test("hooks run inside of the trace of their request, and what no route takes is not traced", async () => {
  using traces = listen();
  await using app = await mount([TracedLooked]);
  const contexts: unknown[] = [];
  inside.look = () => void contexts.push(traces.store.getStore());
  const statuses = [await app.get("/unknown"), await app.patch("/looked", {})]
    .map(({ status }) => status);
  statuses.push((await app.get("/looked")).status);
  const { requests: [request, ...more] } = await traces.take();
  assertEquals(statuses, [404, 404, 200]);
  assertEquals([more, contexts.length], [[], 1]);
  assert(contexts[0] === request);
});

test("nothing is traced, and no listener added, where nobody has subscribed", async () => {
  await using mongo = await startMongo({ args: ["--quiet"] });
  await using app = await mount([Traced], { mongo: mongo.uri });
  assertEquals((await app.get("/traced")).status, 200);
  assertEquals(mongoose.connection.listenerCount("operation-start"), 0);
});
