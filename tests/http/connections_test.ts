import {
  assert,
  assertEquals,
  assertMatch,
  assertNotStrictEquals,
  assertStrictEquals,
} from "@std/assert";
import { stub } from "@std/testing/mock";
import mongoose, { type Connection } from "mongoose";
import {
  all,
  create,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  removeAll,
  rest,
  RestError,
  update,
} from "../../mod.ts";
import { Named } from "../fixtures/named.ts";
import { openDatabase } from "../harness/database.ts";
import { withDatabase } from "../harness/database_uri.ts";
import { longTest, test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";
import { callsFor, everywhere, hooked } from "../support/hooked.ts";
import { until } from "../support/until.ts";

type Json = Record<string, unknown>;

/** Opens a connection of its own, disposed with its test. */
async function connect(uri: string): Promise<Connection & AsyncDisposable> {
  const connection = await mongoose.createConnection(uri).asPromise();
  return Object.assign(connection, { [Symbol.asyncDispose]: () => connection.close() });
}

test("getConnection is called after preFetch, once per request, whatever the operation", async () => {
  const calls: string[] = [];
  const after = async <E>({ framework }: FrameworkRequest<never>, entity: E) => {
    for (let count = 0; count < 3; count++) await framework.model();
    return entity;
  };
  const hooks = everywhere({
    preFetch: () => Boolean(calls.push("preFetch")),
    postFetch: after as never,
    preSave: after as never,
    preSend: after as never,
  });
  const getConnection = () => {
    calls.push("getConnection");
    return mongoose.connection;
  };
  await using app = await mount([hooked(hooks, { getConnection })]);
  const { _id } = await app.created("/items", { name: "a" });
  for (const [, method, path] of callsFor(_id)) {
    await app.send(method, path, { body: /P/.test(method) ? { name: "b" } : undefined });
  }
  assertEquals(calls, Array(7).fill(["preFetch", "getConnection"]).flat());
});

test("getConnection is not called for a request that preFetch, q or the body stops", async () => {
  let calls = 0;
  @rest({
    route: "/stopped",
    methods: [
      all({ preFetch: (req) => req.query.ok !== undefined }),
      one({ preFetch: () => Promise.reject(new RestError(401, "No")) }),
      create(),
    ],
    getConnection: () => {
      calls++;
      return mongoose.connection;
    },
  })
  class Stopped extends FrameworkModel {}
  await using app = await mount([Stopped]);
  const path = "/stopped";
  assertEquals((await app.get(path)).status, 403);
  assertEquals((await app.get(`${path}/${"0".repeat(24)}`)).status, 401);
  assertEquals((await app.get(`${path}?ok&q={`)).status, 400);
  assertEquals((await app.post(path, [])).status, 400);
  assertEquals(calls, 0);
});

test("preFetch may ask for the model: the connection is asked for once all the same", async () => {
  let calls = 0;
  @rest({
    route: "/early",
    methods: [
      all({ preFetch: async (req) => await (await req.framework.model()).countDocuments() === 0 }),
    ],
    getConnection: () => {
      calls++;
      return mongoose.connection;
    },
  })
  class Early extends FrameworkModel {}
  await using app = await mount([Early]);
  assertEquals((await app.get("/early")).body, []);
  assertEquals(calls, 1);
});

test("getConnection serves several databases, asynchronously, from the request", async () => {
  const open: Record<string, Connection> = {};
  @rest({
    route: "/tenants/:tenant/notes",
    methods: [all(), create(), one(), removeAll()],
    getConnection: async (req) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      const connection = open[String(req.params.tenant)];
      if (connection === undefined) throw new RestError(404, { code: "NO_TENANT" });
      return connection;
    },
  })
  class TenantNote extends FrameworkModel {
    @prop()
    text?: string;
  }
  await using app = await mount([TenantNote]);
  await using a = await connect(`${app.database.uri}`);
  await using other = await openOther();
  Object.assign(open, { a, b: other.connection });
  const path = (tenant: string) => `/tenants/${tenant}/notes`;
  await Promise.all(["a", "b", "b"].map((text) => app.post(path(text), { text })));
  const texts = async (tenant: string) =>
    (await app.get<{ text: string }[]>(path(tenant))).body.map(({ text }) => text);
  assertEquals([await texts("a"), await texts("b")], [["a"], ["b", "b"]]);
  await app.delete(path("b"));
  assertEquals([await texts("a"), await texts("b")], [["a"], []]);
  const unknown = await app.get(path("c"));
  assertEquals([unknown.status, unknown.body], [404, { code: "NO_TENANT" }]);
});

/** A second database on the same server, on a connection of its own. */
async function openOther(): Promise<AsyncDisposable & { connection: Connection }> {
  const name = `mongrove_other_${crypto.randomUUID().replaceAll("-", "").slice(0, 12)}`;
  const uri = withDatabase(Deno.env.get("MONGODB_URI") ?? "", name);
  const connection = await mongoose.createConnection(uri).asPromise();
  return {
    connection,
    async [Symbol.asyncDispose]() {
      await connection.close();
      await using again = await connect(uri);
      await again.dropDatabase();
    },
  };
}

test("getModel() compiles a class once per connection, for the framework and its host alike", async () => {
  let configured = 0;
  let connection: Connection;
  let seen: unknown;
  @rest({
    route: "/compiled",
    methods: [all({
      preFetch: async (req) => {
        seen = await req.framework.model();
        return true;
      },
    })],
    getConnection: () => connection,
  })
  class Compiled extends FrameworkModel {
    static override configure(): void {
      configured++;
    }
  }
  await using app = await mount([Compiled]);
  await using first = await connect(app.database.uri);
  await using second = await connect(app.database.uri);
  for (connection of [first, second, first]) {
    assertEquals((await app.get("/compiled")).status, 200);
    assertStrictEquals(seen as object, getModel(Compiled, connection) as object);
  }
  assertNotStrictEquals(getModel(Compiled, first), getModel(Compiled, second));
  assertStrictEquals(getModel(Compiled).db, mongoose.connection);
  assertEquals(configured, 1);
});

test("getConnection gives hooks documents of the request's connection, and Mongoose's default is left alone", async () => {
  await using other = await openOther();
  const names: string[] = [];
  @rest({
    route: "/where",
    methods: [create({
      preSave: (_req, entity) => {
        names.push(entity.db.name);
        return entity;
      },
    })],
    getConnection: () => other.connection,
  })
  class Where extends FrameworkModel {}
  await using app = await mount([Where]);
  assertEquals((await app.post("/where", {})).status, 201);
  assertEquals(names, [other.connection.name]);
  assertEquals(await other.connection.collection("wheres").countDocuments(), 1);
  assertEquals(await app.database.connection.collection("wheres").countDocuments(), 0);
  assert(!mongoose.connection.modelNames().includes("Where"));
});

test("getConnection serves the same fields as the default connection, the version among them", async () => {
  @rest({
    route: "/versions",
    methods: [all(), create()],
    getConnection: () => mongoose.connection,
  })
  class Versioned extends FrameworkModel {
    static override schemaOptions = { strict: "throw" as const };
    @prop()
    name?: string;
  }
  await using app = await mount([Versioned]);
  const path = "/versions";
  const made = await app.post<Json>(path, { name: "a", _id: "x", __v: 7 });
  assertEquals([made.status, made.body.__v], [201, 0]);
  const q = encodeURIComponent(JSON.stringify({ __v: 0, _id: made.body._id }));
  const { status, body } = await app.get(`${path}?q=${q}`);
  assertEquals([status, body], [200, [made.body]]);
});

// Connections that are not there

/** Tells which of two came first; a failure comes as well as a success. */
async function firstOf<Name extends string>(events: Record<Name, Promise<unknown>>): Promise<Name> {
  const named = Object.entries<Promise<unknown>>(events).map(([name, event]) =>
    event.then(() => name as Name, () => name as Name)
  );
  return await Promise.race(named);
}

longTest(
  "a connection that never opens is answered with 503, before Mongoose gives it up",
  async () => {
    const closed = mongoose.createConnection();
    closed.set("bufferTimeoutMS", 7_000);
    @rest({
      route: "/closed",
      methods: [all(), one(), create(), update(), removeAll()],
      getConnection: () => closed,
    })
    class Closed extends Named {}
    await using app = await mount([Closed]);
    const path = `/closed/${"0".repeat(24)}`;
    const gaveUp = closed.collection("others").findOne();
    const answered = Promise.all([
      app.get<Json>("/closed"),
      app.get<Json>(path),
      app.post<Json>("/closed", { name: "a" }),
      app.patch<Json>(path, { name: "a" }),
      app.delete<Json>("/closed"),
    ]);
    assertEquals(await firstOf({ answered, gaveUp }), "answered");
    for (const { status, body, headers } of await answered) {
      assertEquals([status, body.code], [503, "UNAVAILABLE"]);
      assert(Number(headers.get("retry-after")) > 0);
    }
  },
);

test("a connection that opens while a request waits for it serves that request", async () => {
  const late = mongoose.createConnection();
  @rest({ route: "/late", methods: [all()], getConnection: () => late })
  class Late extends FrameworkModel {}
  await using app = await mount([Late]);
  const waiting = app.get("/late");
  await new Promise((resolve) => setTimeout(resolve, 200));
  await late.openUri(app.database.uri);
  const { status, body } = await waiting;
  assertEquals([status, body], [200, []]);
  await late.close();
  // A closed connection is no reason, although it had no database name when it was given.
  assertEquals((await Framework.health()).reasons, []);
});

test("many requests that wait for a connection add no listener to it", async () => {
  const late = mongoose.createConnection();
  let asked = 0;
  const getConnection = () => {
    asked++;
    return late;
  };
  @rest({ route: "/many", methods: [all()], getConnection })
  class Many extends FrameworkModel {}
  await using app = await mount([Many]);
  const before = late.listenerCount("connected");
  const waiting = Array.from({ length: 30 }, () => app.get("/many"));
  await until(() => asked === waiting.length);
  assertEquals(late.listenerCount("connected"), before);
  await late.openUri(app.database.uri);
  const statuses = (await Promise.all(waiting)).map(({ status }) => status);
  assertEquals([...new Set(statuses), late.listenerCount("connected")], [200, before]);
  await late.close();
});

longTest(
  "a server that cannot be reached is answered with 503, and the process lives on",
  async () => {
    const away = mongoose.createConnection("mongodb://127.0.0.1:1/away", {
      serverSelectionTimeoutMS: 7_000,
    });
    away.on("error", () => {});
    @rest({ route: "/away", methods: [all(), create()], getConnection: () => away })
    class Away extends FrameworkModel {
      @prop({ unique: true })
      name?: string;
    }
    await using app = await mount([Away]);
    const answered = app.get<Json>("/away");
    assertEquals(await firstOf({ answered, gaveUp: away.asPromise() }), "answered");
    const { status, body } = await answered;
    assertEquals([status, body.code], [503, "UNAVAILABLE"]);
    await away.close();
  },
);

/** What a `getConnection` may do instead of giving a connection. */
const WRONG: Record<string, () => unknown> = {
  "nothing": () => undefined,
  "text": () => "mongodb://127.0.0.1",
  "a failure": () => Promise.reject(new Error("The password is x")),
  "an exception": () => {
    throw new Error("The password is x");
  },
};

for (const [what, getConnection] of Object.entries(WRONG)) {
  test(`getConnection that gives ${what} is a 500 that tells nothing`, async () => {
    using _log = stub(console, "error");
    const errors: unknown[] = [];
    @rest({ route: "/none", methods: [all()], getConnection: getConnection as () => Connection })
    class None extends FrameworkModel {}
    await using app = await mount([None], { onError: (_req, error) => void errors.push(error) });
    const { status, body, text } = await app.get<Json>("/none");
    assertEquals([status, body.code, text.includes("password")], [500, "INTERNAL", false]);
    assertEquals(errors.length, 1);
  });
}

// Index builds

test("an index that cannot be built ends no process, and the model is served", async () => {
  using log = stub(console, "warn");
  await using database = await openDatabase();
  await database.connection.collection("doubles").insertMany([{ name: "a" }, { name: "a" }]);
  @rest({ route: "/doubles", methods: [all(), create()] })
  class Double extends FrameworkModel {
    @prop({ unique: true })
    name?: string;
  }
  const model = getModel(Double);
  await model.init().catch(() => {});
  const indexes = await model.collection.indexes();
  assertEquals(indexes.map(({ name }) => name), ["_id_"]);
  assertEquals(await model.countDocuments(), 2);
  assertMatch(String(log.calls[0]?.args[0]), /^Cannot build an index of "Double": /);
});

test("an index that can be built is built, on each connection", async () => {
  await using app = await openDatabase();
  await using other = await openOther();
  class Indexed extends FrameworkModel {
    @prop({ unique: true })
    name?: string;
    @prop({ type: Number, index: true })
    year?: number;
  }
  for (const connection of [app.connection, other.connection]) {
    const model = getModel(Indexed, connection);
    await model.init();
    const names = (await model.collection.indexes()).map(({ name }) => name).sort();
    assertEquals(names, ["_id_", "name_1", "year_1"]);
  }
});
