// Runs alone: names of models depend on those of other classes.
import { assertEquals, assertLess } from "@std/assert";
import { stub } from "@std/testing/mock";
import mongoose from "mongoose";
import type { Connection, Schema } from "mongoose";
import { arrayProp, create, FrameworkModel, getModel, one, prop, rest, update } from "../../mod.ts";
import type { FrameworkRequest, ModelClass, QueryObject, RestOptions } from "../../mod.ts";
import { pass, writesTo } from "../support/both_paths.ts";
import { withDatabase } from "../harness/database_uri.ts";
import { test } from "../harness/testing.ts";
import { type ErrorBody, mount, type Mounted, NOBODY } from "../support/support.ts";

/** Makes a model, at `/plain` and with hooks at `/hooked`, that refers to another one. */
function referTo(
  target: ModelClass,
  options: Pick<RestOptions, "getConnection"> = {},
): ModelClass<FrameworkModel & { from?: unknown; to?: unknown }> {
  const hooks = { preSave: pass, preSend: pass };
  @rest({ route: "/plain", methods: [one(), create(), update()], ...options })
  @rest({ route: "/hooked", methods: [one(), create(hooks), update(hooks)], ...options })
  class Letter extends FrameworkModel {
    static override schemaOptions = { collection: `letters_${crypto.randomUUID()}` };
    @prop({ ref: target, exists: true })
    from?: string;
    @arrayProp({ items: target, exists: true })
    to?: string[];
  }
  return Letter;
}

/** Stores entities. */
async function put(target: ModelClass, ...entities: object[]): Promise<string[]> {
  return (await getModel(target).create(entities as never[])).map(({ _id }) => String(_id));
}

interface Sent {
  readonly letter: ModelClass;
  readonly body: object;
  readonly user?: string;
}

/** Sends a body to all that writes, and gives the statuses, the codes and the errors. */
async function send(app: Mounted, { letter, body, user = "" }: Sent) {
  const [id = ""] = await put(letter, {});
  const replies = [];
  for (const [method, path] of writesTo(id)) {
    replies.push(await app[method]<ErrorBody>(path, body, { headers: { "x-user": user } }));
  }
  return replies.map(({ status, body: { code, errors } }) => ({ status, code, errors }));
}

/** The statuses of what {@linkcode send} sends. */
async function statuses(app: Mounted, sent: Sent): Promise<number[]> {
  return (await send(app, sent)).map(({ status }) => status);
}

/** What is answered where a body names no entity. */
function missing(...paths: string[]) {
  const errors = Object.fromEntries(
    paths.map((
      path,
    ) => [path, { message: `Value at "${path}" does not refer to an entity`, kind: "exists" }]),
  );
  return Array(4).fill({ status: 400, code: "BAD_DATA", errors });
}

test("the scope of the main @rest of the class binds, and the answer is that of no entity", async () => {
  const ofUser = (req: FrameworkRequest) => ({ owner: String(req.headers["x-user"]) });
  const ofRank = (req: FrameworkRequest) => ({ ...ofUser(req), rank: { $gt: 1 } });
  @rest({ route: "/a", methods: [one()], scope: () => ({ owner: "nobody" }) })
  @rest({ route: "/b", methods: [one()], scope: ofRank, main: true })
  @rest({ route: "/c", methods: [one()] })
  class Account extends FrameworkModel {
    @prop()
    owner?: string;
    @prop({ type: Number })
    rank?: number;
  }
  const letter = referTo(Account);
  await using app = await mount([letter]);
  const rows = [["me", 2], ["you", 2], ["me", 1]].map(([owner, rank]) => ({ owner, rank }));
  const [mine, theirs, low] = await put(Account, ...rows);
  const to = [mine, theirs, low, NOBODY];
  const wrong = { letter, user: "me", body: { from: theirs, to } };
  assertEquals(await send(app, wrong), missing("from", "to.1", "to.2", "to.3"));
  const right = { letter, user: "me", body: { from: mine, to: [mine, mine] } };
  assertEquals(await statuses(app, right), [201, 200, 201, 200]);
  assertEquals(await send(app, { ...right, user: "no" }), missing("from", "to.0", "to.1"));
});

test("a scope runs once per request and class, as for a read of its own model", async () => {
  const seen: unknown[] = [];
  const scope = async ({ framework }: FrameworkRequest): Promise<QueryObject> => {
    const { operation, filter } = framework;
    seen.push([operation, { ...filter }, (await framework.model()).modelName]);
    framework.filter.left = 1;
    return {};
  };
  @rest({ route: "/seen", methods: [one()], scope })
  class Seen extends FrameworkModel {}
  const operations: unknown[] = [];
  const watch = <E>({ framework }: FrameworkRequest<never>, entity: E): E => {
    operations.push(framework.operation, framework.filter.left);
    return entity;
  };
  @rest({ route: "/letters", methods: [create({ preSave: watch as never })] })
  class Watched extends referTo(Seen) {}
  await using app = await mount([Watched]);
  const [id = ""] = await put(Seen, {});
  await app.created("/letters", { from: id, to: [id, id] });
  assertEquals(seen, [["one", {}, "Seen"]]);
  await app.created("/letters", { from: null, to: [] });
  assertEquals(seen.length, 1);
  assertEquals(operations, ["create", undefined, "create", undefined]);
});

test("a scope that cannot be used is a 500, and nothing is written", async () => {
  for (const scope of [() => ({ owner: undefined }), () => undefined]) {
    @rest({ route: "/broken", methods: [one()], scope: scope as never })
    class Broken extends FrameworkModel {
      @prop()
      owner?: string;
    }
    const letter = referTo(Broken);
    await using app = await mount([letter], { onError: () => undefined });
    using _log = stub(console, "error");
    const [id] = await put(Broken, {});
    assertEquals(await statuses(app, { letter, body: { from: id } }), Array(4).fill(500));
    assertEquals(await getModel(letter).countDocuments({ from: { $exists: true } }), 0);
  }
});

test("what middleware of the entity's model leaves out is not there", async () => {
  class Soft extends FrameworkModel {
    @prop({ type: Boolean })
    gone?: boolean;

    static override configure(schema: Schema): void {
      schema.pre("find", function () {
        this.where({ gone: { $ne: true } });
      });
    }
  }
  const letter = referTo(Soft);
  await using app = await mount([letter]);
  const [there, gone] = await put(Soft, {}, { gone: true });
  assertEquals(await send(app, { letter, body: { from: there, to: [gone] } }), missing("to.0"));
});

test("the connection of the request is asked", async () => {
  class Remote extends FrameworkModel {}
  const opened: Connection[] = [];
  const letter = referTo(Remote, { getConnection: () => opened[0] as Connection });
  await using app = await mount([letter]);
  const uri = withDatabase(Deno.env.get("MONGODB_URI") ?? "", `${app.database.name}_2`);
  const connection = await mongoose.createConnection(uri).asPromise();
  opened.push(connection);
  const [here = ""] = await put(Remote, {});
  const there = String((await getModel(Remote, connection).create({}))._id);
  for (const path of ["/plain", "/hooked"]) {
    assertEquals((await app.post(path, { from: here })).status, 400);
    assertEquals((await app.post(path, { from: there })).status, 201);
  }
  await connection.dropDatabase();
  await connection.close();
});

test("a check that takes too long is a 503, and nothing is written", async () => {
  const slow = { $where: "sleep(20000) || true" };
  @rest({ route: "/slow", methods: [one()], scope: () => slow })
  class Slow extends FrameworkModel {}
  const letter = referTo(Slow);
  await using app = await mount([letter], { limits: { timeMS: 200 }, onError: () => undefined });
  using _log = stub(console, "error");
  const [id] = await put(Slow, {});
  const begun = performance.now();
  assertEquals(await statuses(app, { letter, body: { from: id, to: [id] } }), Array(4).fill(503));
  assertLess(performance.now() - begun, 18_000);
  assertEquals(await getModel(letter).countDocuments({ from: { $exists: true } }), 0);
});

test("an entity may refer to others of its class, and to itself", async () => {
  @rest({ route: "/nodes", methods: [create(), update()], scope: () => ({ kind: "node" }) })
  class Node extends FrameworkModel {
    @prop()
    kind?: string;
    @prop({ ref: () => Node, exists: true })
    above?: string;
  }
  await using app = await mount([Node]);
  const [outside] = await put(Node, { kind: "leaf" });
  const { _id } = await app.created("/nodes", { kind: "node" });
  await app.updated(`/nodes/${_id}`, { above: _id });
  await app.created("/nodes", { kind: "node", above: _id });
  for (const above of [outside, NOBODY]) {
    const { status, body } = await app.patch<ErrorBody>(`/nodes/${_id}`, { above });
    assertEquals([status, body.errors?.above?.kind], [400, "exists"]);
  }
});
