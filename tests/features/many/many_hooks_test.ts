import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { ClientSession, Document, Schema } from "mongoose";
import { all, create, FrameworkModel, getModel, prop, rest, RestError } from "../../../mod.ts";
import type { Entity, HooksOf, ModelClass, RestOptions } from "../../../mod.ts";
import { watchCommands } from "../../support/both_paths.ts";
import { test } from "../../harness/testing.ts";
import { failCommand, named, namesOf } from "./many.ts";
import { type EntityBody, type ErrorBody, mount, type Mounted } from "../../support/support.ts";
import { openReplicaSet } from "../../support/shared_replica_set.ts";

class Item extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop()
  owner?: string;
  @prop({ type: Number })
  rank?: number;
}

/** Makes a model with hooks on its creations of several. */
function made(
  hooks: HooksOf<Item>,
  { scope, configure = () => {} }: {
    readonly scope?: RestOptions["scope"];
    readonly configure?: (schema: Schema) => void;
  } = {},
): ModelClass<Item> {
  const collection = `items_${crypto.randomUUID().slice(0, 8)}`;
  @rest({
    route: "/items",
    methods: [all<Item>(), create<Item>({ many: 100, ...hooks } as never)],
    ...scope && { scope },
    schemaOptions: { collection, autoCreate: false },
  })
  class Made extends Item {
    static override configure(schema: Schema): void {
      configure(schema);
    }
  }
  return Made;
}

type Steps = Readonly<Record<string, (serve: typeof mount) => Promise<void>>>;

/** Runs steps with one replica set: each one mounts a model of its own. */
async function onReplicaSet(
  t: Deno.TestContext,
  steps: Steps,
): Promise<void> {
  await using mongo = await openReplicaSet();
  for (const [name, run] of Object.entries(steps)) {
    await t.step(
      name,
      () => run((models, options) => mount(models, { mongo: mongo.uri, ...options })),
    );
  }
}

async function stored(app: Mounted): Promise<string[]> {
  return (await app.read<EntityBody[]>("/items")).map(({ name }) => String(name));
}

const HOOKS: Steps = {
  async "run once for each, all of them before the first write"(serve) {
    const log: string[] = [];
    const note = (hook: string) => async (_req: unknown, entity: Entity<Item>) => {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
      log.push(`${hook} ${entity.name ?? "new"} ${await mongoose.connection.db
        ?.collection(model.collection?.name ?? "").countDocuments()}`);
      return entity;
    };
    const Made = made({
      postFetch: note("postFetch"),
      preSave: note("preSave"),
      preSend: note("preSend"),
    });
    const model = getModel(Made);
    await using app = await serve([Made]);
    const names = ["a", "b", "c"];
    await app.created("/items", named(...names));
    assertEquals(log.slice(0, 3), ["postFetch new 0", "postFetch new 0", "postFetch new 0"]);
    assertEquals(log.slice(3, 6).sort(), names.map((each) => `preSave ${each} 0`));
    assertEquals(log.slice(6).sort(), names.map((each) => `preSend ${each} 3`));
  },
  async "see their own entity and no other"(serve) {
    const seen: [unknown, unknown, number][] = [];
    const Made = made({
      async preSave(req, entity, ...previous: unknown[]) {
        req.framework.filter = {};
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
        entity.owner = `owner of ${entity.name}`;
        seen.push([entity.name, req.framework.operation, previous.length]);
        return entity;
      },
      preSend: (_req, entity) => ({ ...entity, owner: entity.owner } as never),
    });
    await using app = await serve([Made]);
    const names = Array.from({ length: 80 }, (_, index) => `n${index}`);
    const reply = await app.created<EntityBody[]>("/items", named(...names));
    assertEquals(reply.map(({ owner }) => owner), names.map((name) => `owner of ${name}`));
    assertEquals(seen.map(([name]) => name).sort(), [...names].sort());
    assert(seen.every(([, operation, previous]) => operation === "create" && previous === 0));
  },
  async "that refuse one refuse all"(serve) {
    const refused = (): never => {
      throw new RestError(418, "Not this one");
    };
    for (const [refuse, expected] of [[() => null, 403], [refused, 418]] as const) {
      const Made = made({
        preSave: (_req, entity) => entity.name === "b" ? refuse() : entity,
      });
      await using app = await serve([Made]);
      assertEquals((await app.post("/items", named("a", "b", "c"))).status, expected);
      assertEquals(await stored(app), []);
    }
  },
  async "leave out of the answer what preSend rejects"(serve) {
    const Made = made({ preSend: (_req, entity) => entity.name === "b" ? null : entity });
    await using app = await serve([Made]);
    const reply = await app.post<EntityBody[]>("/items", named("a", "b", "c"));
    assertEquals([reply.status, reply.body.map(({ name }) => name)], [201, ["a", "c"]]);
    assertEquals(await stored(app), ["a", "b", "c"]);
  },
  async "may have all written in a transaction of their own"(serve) {
    let session = undefined as ClientSession | undefined;
    const Made = made({
      preSave(_req, entity) {
        (entity as unknown as Document).$session(session);
        return entity;
      },
    });
    await using app = await serve([Made]);
    await getModel(Made).createCollection();
    session = await mongoose.connection.startSession();
    session.startTransaction();
    assertEquals((await app.post("/items", named("a", "b"))).status, 201);
    assertEquals(await stored(app), []);
    await session.abortTransaction();
    await session.endSession();
    assertEquals(await stored(app), []);
  },
  async "may leave fields out of the answer"(serve) {
    const Made = made({
      preFetch({ framework }) {
        framework.projection = { _id: 0, name: 1 };
        return true;
      },
    });
    await using app = await serve([Made]);
    const reply = await app.created<EntityBody[]>("/items", named("a", "b"));
    assertEquals(reply as unknown, named("a", "b"));
  },
};

test("hooks of create({ many })", (t) => onReplicaSet(t, HOOKS));

const MIDDLEWARE: Steps = {
  async "and documents look saved after it"(serve) {
    const log: string[] = [];
    const Made = made({}, {
      configure(schema) {
        schema.pre("validate", function () {
          log.push(`validate ${this.get("name")}`);
        });
        schema.pre("save", function () {
          log.push(`pre ${this.get("name")} ${this.isNew}`);
          this.set("rank", Number(this.get("rank") ?? 0) + 1);
        });
        schema.post("save", function (doc) {
          log.push(`post ${doc.get("name")} ${doc.isNew} ${doc.isModified()}`);
        });
      },
    });
    await using app = await serve([Made]);
    const errorLabels = ["TransientTransactionError"];
    await failCommand(mongoose.connection, ["commitTransaction"], {
      mode: { times: 2 },
      errorCode: 112,
      errorLabels,
    });
    const entities = await app.created<EntityBody[]>("/items", named("a", "b"));
    assertEquals(entities.map(({ rank, __v }) => [rank, __v]), [[1, 0], [1, 0]]);
    assertEquals(await app.read<EntityBody[]>("/items"), entities);
    assertEquals(log, [
      ...["validate a", "validate b", "pre a true", "pre b true"],
      ...["post a false false", "post b false false"],
    ]);
  },
  async "and tells of an error what Mongoose would tell"(serve) {
    const told: string[] = [];
    const Made = made({}, {
      configure(schema) {
        schema.index({ owner: 1 }, { unique: true, sparse: true });
        const tell = (error: { code?: number }, _doc: unknown, next: (error: unknown) => void) => {
          told.push(`${error.code}`);
          next(error.code === 11000 ? new RestError(409, { code: "TAKEN" }) : error);
        };
        schema.post("save", tell as never);
      },
    });
    await using app = await serve([Made]);
    await getModel(Made).init();
    const body = [{ name: "a", owner: "x" }, { name: "b", owner: "x" }];
    const reply = await app.post("/items", body);
    assertEquals([reply.status, reply.body], [409, { code: "TAKEN" }] as never);
    assertEquals(told, ["11000", "11000"]);
    assertEquals(await stored(app), []);
  },
  async "and the host is told its own error of one of them"(serve) {
    const broken = new Error("Broken");
    const Made = made({}, {
      configure(schema) {
        schema.pre("validate", function () {
          if (this.get("name") === "b") throw broken;
        });
      },
    });
    const reported: unknown[] = [];
    const onError = (_req: unknown, error: unknown) => void reported.push(error);
    await using app = await serve([Made], { onError });
    assertEquals((await app.post("/items", [{ name: "a" }, {}, { name: "b" }])).status, 500);
    assertEquals([reported[0] === broken, await stored(app)], [true, []]);
  },
  async "and its failure writes nothing, or is told after the write"(serve) {
    const failing = (kind: "pre" | "post") =>
      made({}, {
        configure(schema) {
          const fail = (doc: { get(path: string): unknown }) => {
            if (doc.get("name") === "b") throw new RestError(418, "Failed");
          };
          if (kind === "post") schema.post("save", fail);
          else {schema.pre("save", function () {
              fail(this);
            });}
        },
      });
    for (const [kind, names] of [["pre", []], ["post", ["a", "b"]]] as const) {
      await using app = await serve([failing(kind)]);
      assertEquals((await app.post("/items", named("a", "b"))).status, 418);
      assertEquals(await stored(app), [...names], kind);
    }
  },
};

test("middleware of create({ many }) runs once, however often the transaction does", (t) =>
  onReplicaSet(t, MIDDLEWARE));

const SCOPES: Steps = {
  async "and is asked of the database at once where it must"(serve) {
    const scopes = [{ owner: "me" }, { owner: { $in: ["me"] } }, { name: { $regex: "^[ab]" } }];
    for (const [index, scope] of scopes.entries()) {
      const Made = made({}, { scope: () => scope });
      await using app = await serve([Made]);
      const sent = await watchCommands(app.database.uri);
      const mine = named("a", "b").map((each) => ({ ...each, owner: "me" }));
      assertEquals((await app.post("/items", mine)).status, 201);
      assertEquals(
        namesOf(sent).filter((name) => name === "aggregate").length,
        index === 0 ? 0 : 1,
      );
      const others = [...mine, { name: "c", owner: "you" }];
      const { status, body } = await app.post<ErrorBody>("/items", others);
      assertEquals([status, body.code, await stored(app)], [403, "FORBIDDEN", ["a", "b"]]);
    }
  },
  async "and a conflict tells nothing of what is outside of it"(serve) {
    const Made = made({}, {
      scope: () => ({ owner: "me" }),
      configure: (schema) => schema.index({ name: 1 }, { unique: true }),
    });
    await using app = await serve([Made]);
    const model = getModel(Made);
    await model.init();
    const theirs = await model.create({ name: "secret", owner: "them" });
    const mine = named("a", "secret").map((each) => ({ ...each, owner: "me" }));
    const { status, text, body } = await app.post<ErrorBody>("/items", mine);
    assertEquals(body, {
      ...{ code: "CONFLICT", message: "Another entity has the same value" },
      ...{ fields: ["name"], index: 1 },
    });
    assertEquals([status, await stored(app)], [409, []]);
    assert(!text.includes("them") && !text.includes(String(theirs._id)));
  },
};

test("the scope of create({ many }) holds for each entity", (t) => onReplicaSet(t, SCOPES));

/** Serves a model whose persist hook keeps entities in a list. */
function kept(list: string[]): ModelClass<Item> {
  return made({
    async persist(_req, entity) {
      list.push(`begin ${entity.name}`);
      await new Promise((resolve) => setTimeout(resolve, 2));
      list.push(`end ${entity.name}`);
      return entity.name === "none" ? null : entity;
    },
  });
}

test("persist hooks of create({ many }) write one after the other, without transactions", async () => {
  const list: string[] = [];
  await using app = await mount([kept(list)]);
  const reply = await app.post<EntityBody[]>("/items", named("a", "none", "b"));
  assertEquals([reply.status, reply.body.map(({ name }) => name)], [201, ["a", "b"]]);
  const events = ["a", "none", "b"].flatMap((name) => [`begin ${name}`, `end ${name}`]);
  assertEquals(list.splice(0), events);
  const wrong = await app.post<ErrorBody>("/items", [{ name: "a" }, {}, { rank: "x", name: "c" }]);
  assertEquals([wrong.status, list.length], [400, 0]);
  const missing = await app.post<ErrorBody>("/items", [{ name: "a" }, {}, {}]);
  assertEquals([Object.keys(missing.body.errors ?? {}), list.length], [["1.name", "2.name"], 0]);
});
