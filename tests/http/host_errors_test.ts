import { assertEquals, assertStringIncludes } from "@std/assert";
import { stub } from "@std/testing/mock";
import mongoose from "mongoose";
import {
  all,
  create,
  type ErrorContext,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  type ModelClass,
  one,
  prop,
  remove,
  removeAll,
  rest,
  RestError,
  update,
} from "../../mod.ts";
import type { HookName } from "../../src/declare/hooks/hooks.ts";
import { Named } from "../fixtures/named.ts";
import { test } from "../harness/testing.ts";
import { callsFor, everywhere, hooked, hooksFor } from "../support/hooked.ts";
import { asQuery, type ErrorBody, mount } from "../support/support.ts";

const INTERNAL = { code: "INTERNAL", message: "Internal error" };

/** Another model, whose errors are the host's. */
class Ledger extends FrameworkModel {
  @prop({ hidden: true, enum: ["one"] })
  secret?: string;
  @prop({ unique: true, sparse: true })
  name?: string;
}

/** Ways to make another model fail, each with a class of error of its own. */
const FAILURES: Record<string, () => unknown> = {
  ValidationError: () => getModel(Ledger).create({ secret: "s3cret" }),
  CastError: () => getModel(Ledger).findById("s3cret"),
  MongoServerError: async () => {
    await getModel(Ledger).init();
    const _id = new mongoose.Types.ObjectId();
    await getModel(Ledger).create({ _id } as never);
    await getModel(Ledger).create({ _id } as never);
  },
  VersionError: async () => {
    const ledger = await getModel(Ledger).create({ name: crypto.randomUUID() });
    await getModel(Ledger).updateOne({ _id: ledger._id }, { $inc: { __v: 1 } });
    ledger.increment();
    await ledger.save();
  },
  DocumentNotFoundError: () => getModel(Ledger).findOne({ name: "nobody" }).orFail(),
  StrictModeError: () =>
    new (getModel(Ledger))({ other: 1 } as never, undefined, { strict: "throw" } as never),
  MongooseError: () => {
    throw new mongoose.Error("s3cret");
  },
};

/** Takes what `onError` is told. */
function listen() {
  const told: { error: unknown; context: ErrorContext }[] = [];
  const onError = (_req: FrameworkRequest, error: unknown, context: ErrorContext) => {
    told.push({ error, context });
  };
  return { told, onError };
}

/** What fails in the hooks of the two tests below. */
let fail: () => unknown = () => {};

const broken = async () => {
  await fail();
  throw new Error("did not fail");
};

const HOOKS: readonly HookName[] = [
  "preFetch",
  "fetch",
  "postFetch",
  "preSave",
  "persist",
  "preSend",
];

test("an error of another model is the host's, whichever hook fails", async (t) => {
  using _log = stub(console, "error");
  for (const hook of HOOKS) {
    const model = hooked({ update: { [hook]: broken } });
    const { told, onError } = listen();
    await using app = await mount([model], { onError });
    const { _id } = await getModel(model).create({ name: "a" });
    for (const [name, failure] of Object.entries(FAILURES)) {
      await t.step(`${hook}: ${name}`, async () => {
        fail = failure;
        told.length = 0;
        const reply = await app.patch(`/items/${_id}${asQuery({})}`, { name: "b" });
        assertEquals([reply.status, reply.body], [500, INTERNAL]);
        assertEquals(told.map(({ error }) => (error as Error).name), [name]);
      });
    }
  }
});

test("the errors of scope and getConnection are the host's", async () => {
  using _log = stub(console, "error");
  for (const option of ["scope", "getConnection"]) {
    const model = hooked({}, { [option]: broken });
    const { told, onError } = listen();
    await using app = await mount([model], { onError });
    for (const [name, failure] of Object.entries(FAILURES)) {
      if (name === "MongooseError") continue;
      fail = failure;
      told.length = 0;
      for (const [operation, method, path] of callsFor("0".repeat(24))) {
        const body = /P/.test(method) ? { body: { name: "b" } } : {};
        const reply = await app.send(method, path, { ...body });
        if (option === "scope" || operation !== "create") {
          assertEquals(reply.status, 500, reply.text);
        }
      }
      assertEquals(told.length > 0, true);
    }
  }
});

test("a validation error of another model in schema middleware is the host's", async () => {
  class Audited extends FrameworkModel {
    @prop({ enum: ["a", "b"] })
    secret?: string;
    static override configure(schema: mongoose.Schema) {
      schema.pre("save", async () => {
        await getModel(Ledger).create({ secret: "s3cret" });
      });
    }
  }
  rest({ route: "/audited", methods: [create(), update()] })(Audited as never, contextOf(Audited));
  using _log = stub(console, "error");
  await using app = await mount([Audited as never]);
  const path = "/audited";
  const foreign = await app.post(path, { secret: "a" });
  const own = await app.post<ErrorBody>(path, { secret: "c" });
  assertEquals([foreign.status, foreign.body], [500, INTERNAL]);
  assertEquals([own.status, Object.keys(own.body.errors ?? {})], [400, ["secret"]]);
});

test("orFail() in schema middleware that finds nothing is the host's", async () => {
  class Ruled extends FrameworkModel {
    @prop()
    name?: string;
    static override configure(schema: mongoose.Schema) {
      schema.pre("save", async () => {
        await getModel(Ledger).findOne({ name: "nobody" }).orFail();
      });
    }
  }
  rest({ route: "/ruled", methods: [create()] })(Ruled as never, contextOf(Ruled));
  using _log = stub(console, "error");
  await using app = await mount([Ruled as never]);
  const reply = await app.post("/ruled", { name: "a" });
  assertEquals([reply.status, reply.body], [500, INTERNAL]);
});

function contextOf(target: ModelClass | typeof FrameworkModel) {
  const metadata = (target as unknown as Record<symbol, object>)[Symbol.metadata];
  return { kind: "class", name: "Audited", metadata, addInitializer: () => {} } as never;
}

class Seat extends FrameworkModel {
  @prop({ unique: true })
  name?: string;
  @prop({ hidden: true })
  secret?: string;
  @prop({ type: Number, max: 5 })
  size?: number;
}

test("persist answers for its own entity: 400, 409 as without it", async () => {
  const persist = async (_req: FrameworkRequest, entity: object) => {
    const seat = entity as mongoose.Document & { secret?: string };
    if (seat.get("name") === "invalid") seat.$set("size", 9);
    if (seat.get("name") === "uncast") seat.$set("secret", { leak: 1 });
    if (seat.get("name") === "gone") {
      await getModel(Seat).collection.deleteOne({ _id: seat._id as never });
    }
    return await seat.save();
  };
  rest({ route: "/seats", methods: [create({ persist } as never), update({ persist } as never)] })(
    Seat as never,
    contextOf(Seat),
  );
  await using app = await mount([Seat as never], { onError: () => {} });
  await getModel(Seat).init();
  const { _id } = await getModel(Seat).create({ name: "a" });
  await getModel(Seat).create({ name: "b" });
  const send = (name: string) => app.patch<ErrorBody>(`/seats/${_id}`, { name });
  const twice = await send("b");
  const invalid = await send("invalid");
  const uncast = await send("uncast");
  const gone = await send("gone");
  assertEquals([twice.status, twice.body.fields], [409, ["name"]]);
  assertEquals([invalid.status, Object.keys(invalid.body.errors ?? {})], [400, ["size"]]);
  assertEquals([uncast.status, uncast.body], [500, INTERNAL as never]);
  assertEquals([gone.status, gone.body.code], [409, "CONFLICT"]);
});

test("fetch that cannot read or find the identifier of the path answers 404", async () => {
  const read = (id: unknown) => getModel(Ledger).findById(id).orFail();
  @rest({
    route: "/ledgers",
    methods: [
      one({ fetch: async (req) => await read(req.params.id) }),
      update({ fetch: () => read("something else") }),
    ],
  })
  class OwnLedger extends Named {}
  using log = stub(console, "error");
  await using app = await mount([OwnLedger]);
  for (const id of ["x", "0".repeat(24)]) {
    assertEquals((await app.get(`/ledgers/${id}`)).status, 404);
  }
  assertEquals(log.calls.length, 0);
  const other = await app.patch("/ledgers/x", {});
  assertEquals([other.status, log.calls.length], [500, 1]);
});

test("fetch answers 404 for an entity that it seeks by another field, or in its scope", async () => {
  @rest({
    route: "/archives",
    scope: () => ({ name: { $ne: "secret" } }),
    methods: [
      one({
        fetch: ({ params }) => getModel(Archive).findOne({ name: String(params.id) }).orFail(),
      }),
      update({
        async fetch(req) {
          const { filter, model } = await Framework.queryFor(req, Archive);
          return await model.findOne({ $and: [filter, { _id: req.params.id }] }).orFail();
        },
      }),
    ],
  })
  class Archive extends Named {}
  using log = stub(console, "error");
  await using app = await mount([Archive]);
  const { _id } = await getModel(Archive).create({ name: "secret" });
  assertEquals((await app.get("/archives/none")).status, 404);
  assertEquals((await app.get("/archives/secret")).status, 200);
  assertEquals((await app.patch(`/archives/${_id}`, { name: "b" })).status, 404);
  assertEquals(log.calls.length, 0);
});

test("a bare mongoose.Error is the host's, though another connection is closed", async () => {
  const other = mongoose.createConnection();
  getModel(Ledger, other);
  const fail = () => {
    throw new mongoose.Error("mine");
  };
  using _log = stub(console, "error");
  for (const hook of ["preFetch", "fetch", "postFetch", "preSend"]) {
    const model = hooked({ all: { [hook]: fail } });
    await using app = await mount([model]);
    await getModel(model).create({ name: "a" });
    assertEquals((await app.get("/items")).body, INTERNAL);
  }
  await other.close();
});

test("a bare mongoose.Error of schema middleware is the host's, though another connection is closed", async () => {
  const other = mongoose.createConnection();
  getModel(Ledger, other);
  class Broken extends FrameworkModel {
    @prop()
    name?: string;
    static override configure(schema: mongoose.Schema) {
      schema.pre("save", () => {
        throw new mongoose.Error("mine");
      });
    }
  }
  rest({ route: "/broken", methods: [create()] })(Broken as never, contextOf(Broken));
  using _log = stub(console, "error");
  await using app = await mount([Broken as never]);
  const reply = await app.post("/broken", { name: "a" });
  assertEquals([reply.status, reply.body], [500, INTERNAL]);
  await other.close();
});

test("a filter that a hook has broken is a 500, whatever q the client adds", async () => {
  const preFetch = (req: FrameworkRequest) => {
    req.framework.filter.rank = { $mod: [0, 0] };
    return true;
  };
  const model = hooked(everywhere({ preFetch }));
  const { told, onError } = listen();
  using _log = stub(console, "error");
  await using app = await mount([model], { onError });
  for (const q of [{}, { name: "a" }, { name: { $in: ["a"] } }]) {
    const reply = await app.get(`/items${asQuery(q)}`);
    assertEquals([reply.status, reply.body], [500, INTERNAL]);
  }
  assertEquals(told.length, 3);
});

test("onError and the log get method, route, class and operation with every 5xx", async () => {
  const fail = () => {
    throw new Error("mine");
  };
  const model = hooked(everywhere({ preFetch: fail }));
  const { told, onError } = listen();
  using log = stub(console, "error");
  await using app = await mount([model], { onError });
  for (const [operation, method, path] of callsFor("0".repeat(24))) {
    const body = /P/.test(method) ? { body: { name: "s3cret" } } : {};
    await app.send(method, `${path}?token=s3cret`, { ...body });
    const route = path.replace(/0+$/, ":id");
    const expected = { method, route, class: "Hooked", operation };
    assertEquals(told.at(-1)?.context, expected);
    assertEquals(log.calls.at(-1)?.args, [told.at(-1)?.error, expected]);
  }
});

test("onError is told of a hook's own 5xx, and cannot replace it", async () => {
  const error = new RestError(502, { code: "UPSTREAM" });
  const model = hooked({ all: { preFetch: () => Promise.reject(error) } });
  const asked: unknown[] = [];
  const onError = (_req: FrameworkRequest, given: unknown) => {
    asked.push(given);
    return new RestError(500, "Other");
  };
  await using app = await mount([model], { onError });
  const reply = await app.get("/items");
  assertEquals([reply.status, reply.body, asked], [502, { code: "UPSTREAM" }, [error]]);
});

test("a 503 is told once for all requests of one cause, and never by its route alone", async () => {
  const connection = mongoose.createConnection();
  const model = hooked({}, { getConnection: () => connection });
  const { told, onError } = listen();
  using log = stub(console, "error");
  await using app = await mount([model], { onError, limits: { timeMS: 100 } });
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => app.get("/items")),
  );
  assertEquals(replies.map(({ status }) => status), Array(20).fill(503));
  assertEquals([told.length, log.calls.length], [1, 1]);
  assertEquals(told[0]?.context, {
    method: "GET",
    route: "/items",
    class: "Hooked",
    operation: "all",
  });
  await connection.close();
});

test("a hook before the entity is read that gives undefined is logged once", async () => {
  using warn = stub(console, "warn");
  for (const [hook, operation] of [["preFetch", "update"], ["fetch", "all"]] as const) {
    const model = hooked({ [operation]: { [hook]: () => undefined as never } });
    await using app = await mount([model]);
    const { _id } = await getModel(model).create({ name: "a" });
    const before = warn.calls.length;
    for (let count = 0; count < 3; count++) {
      await (operation === "all" ? app.get("/items") : app.patch(`/items/${_id}`, { name: "b" }));
    }
    const lines = warn.calls.slice(before).map(({ args }) => String(args[0]))
      .filter((line) => line.startsWith("Hook "));
    assertEquals(lines.length, 1);
    assertStringIncludes(lines[0] ?? "", `"${hook}" of ${operation}() of "Hooked" gave undefined`);
  }
});

test("a hook that gives null rejects on purpose, and is not logged", async () => {
  using warn = stub(console, "warn");
  const model = hooked({ all: { postFetch: () => null } });
  await using app = await mount([model]);
  await getModel(model).create({ name: "a" });
  assertEquals((await app.get("/items")).body, []);
  assertEquals(warn.calls.filter(({ args }) => String(args[0]).startsWith("Hook ")), []);
});

test("Framework.initialize() refuses a hook that the operation never runs", async () => {
  const pass = (_req: FrameworkRequest, entity: object) => entity;
  const operations = { all, one, create, update, remove, removeAll };
  for (const [operation, make] of Object.entries(operations)) {
    for (const hook of ["postFetch", "preSave", "persist", "preSend"] as HookName[]) {
      @rest({
        route: "/never",
        methods: [(make as unknown as (hooks: object) => never)({ [hook]: pass })],
      })
      class Never extends Named {}
      const runs = hook in hooksFor(operation as "all", { [hook]: pass });
      const message = await mount([Never]).then(
        (app) => app[Symbol.asyncDispose]().then(() => "mounted"),
        (error) => `${error.name}: ${error.message}`,
      );
      assertEquals(
        message,
        runs
          ? "mounted"
          : `TypeError: Cannot mount "Never": ${operation}() never runs its hook "${hook}"`,
      );
    }
  }
});

test("a duplicate key of another collection in schema middleware is the host's", async () => {
  const audits = () => mongoose.connection.collection("audits");
  class Written extends FrameworkModel {
    @prop({ unique: true })
    name?: string;
    static override configure(schema: mongoose.Schema) {
      schema.pre("save", async () => {
        await audits().insertOne({ _id: "same" } as never);
      });
    }
  }
  rest({ route: "/written", methods: [create()] })(Written as never, contextOf(Written));
  using _log = stub(console, "error");
  await using app = await mount([Written as never]);
  await getModel(Written).init();
  const send = () => app.post("/written", { name: "a" });
  assertEquals((await send()).status, 201);
  const foreign = await send();
  await audits().deleteMany({});
  const own = await send();
  assertEquals([foreign.status, foreign.body, own.status], [500, INTERNAL, 409]);
});

test("hooks see what getConnection threw, as it was thrown", async () => {
  const thrown = new TypeError("mine");
  const seen: unknown[] = [];
  const preFetch = async (req: FrameworkRequest) => {
    await req.framework.model().catch((error) => seen.push(error));
    return true;
  };
  const getConnection = () => Promise.reject(thrown);
  const model = hooked({ all: { preFetch } }, { getConnection });
  const { told, onError } = listen();
  using _log = stub(console, "error");
  await using app = await mount([model], { onError });
  const { status } = await app.get("/items");
  assertEquals([status, seen, told.map(({ error }) => error)], [500, [thrown], [thrown]]);
});
