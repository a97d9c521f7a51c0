import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  action,
  arrayProp,
  type Entity,
  FrameworkModel,
  getModel,
  type ModelClass,
  one,
  prop,
  type ReadOnly,
  replace,
  rest,
  update,
  updateAll,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { watchCommands } from "../support/both_paths.ts";
import { mount, type Mounted } from "../support/support.ts";

class Inner extends FrameworkModel {
  @prop()
  a?: string;
  @prop()
  b?: string;
}

/** Runs once, between the read and the write of the request that comes first. */
let between: (() => Promise<unknown>) | undefined;

async function meet<T>(_req: unknown, entity: T): Promise<T> {
  const work = between;
  between = undefined;
  await work?.();
  return entity;
}

/** The entities that the hooks `preSend` have got. */
const sent: { readonly n?: unknown }[] = [];

const HOOKS = {
  preSave: meet,
  preSend<T extends { toJSON(): unknown }>(_req: unknown, entity: T): T {
    sent.push(entity.toJSON() as object);
    return entity;
  },
};

const FIELDS = ["n", "s", "first", "inner", "counts", "free", "tags"] as const;

class Values extends FrameworkModel {
  @prop({ type: Number })
  n?: number;
  @prop()
  s?: string;
  @prop({ default: "usual" })
  first?: string;
  @prop({ type: Inner })
  inner?: Inner;
  @prop({ type: Map, of: Number })
  counts?: Map<string, number>;
  @prop({ type: Object })
  free?: Record<string, unknown>;
  @arrayProp({ items: String })
  tags?: string[];
  @prop({ stamp: "updatedBy" })
  readonly by?: ReadOnly<string>;
}

function methods() {
  return [
    one(),
    update<Values>(HOOKS),
    replace<Values>(HOOKS),
    updateAll<Values>({ fields: [...FIELDS], preSave: meet }),
    action<Values>("shout", {
      on: "one",
      run: async (_req, values: Entity<Values>) => {
        await meet(_req, values);
        values.s = "!";
        await values.save();
        return values;
      },
    }),
  ];
}

@rest({ route: "/plain", methods: [one(), update()] })
@rest({ route: "/values", methods: methods() as never[] })
class Alone extends Values {}

@rest({ route: "/plain", methods: [one(), update()], history: true })
@rest({ route: "/values", methods: methods() as never[], history: true })
class Recorded extends Values {}

const as = (user: string) => ({ "x-user": user });

const KINDS = [["alone", Alone], ["with a history", Recorded]] as const;

async function serve(model: ModelClass<Values>): Promise<Mounted> {
  return await mount([model], {
    mongo: await sharedReplicaSet(),
    actor: (req) => req.get("x-user"),
  });
}

/** Values without identifiers and `undefined`. */
const plain = (value: unknown) =>
  JSON.parse(JSON.stringify(value, (key, each) => key === "_id" ? undefined : each));

const STORED = {
  __v: 0,
  n: 1,
  s: "a",
  inner: { _id: new mongoose.Types.ObjectId(), a: "a", b: "b" },
  counts: { x: 1 },
  free: { k: 1, d: { e: 1 } },
  tags: ["a"],
};

/** What a request sets, which is what it reads, what another sets meanwhile, and what is stored in the end. */
const SET: readonly (readonly [body: object, other: object, stored?: object])[] = [
  [{ n: 1 }, { n: 2 }],
  [{ first: "usual" }, { first: "other" }],
  [{ inner: { a: "a" } }, { inner: { a: "x" } }, { inner: { a: "a", b: "b" } }],
  [{ counts: { x: 1 } }, { counts: { x: 2, y: 2 } }, { counts: { x: 1, y: 2 } }],
  [{ counts: { y: null } }, { counts: { y: 2 } }, { counts: { x: 1 } }],
  [{ free: { k: 1 } }, { free: { k: 2, l: 2 } }, { free: { k: 1, d: { e: 1 }, l: 2 } }],
  [{ free: { d: { e: 1 } } }, { free: { d: { e: 2 } } }, { free: { k: 1, d: { e: 1 } } }],
  [{ n: 1, s: null }, { s: "x" }, { n: 1, s: undefined }],
];

for (const [kind, model] of KINDS) {
  test(`what a body sets is stored, also if it was read, ${kind}`, async () => {
    await using app = await serve(model);
    const { collection } = getModel(model);
    for (const [body, other, left = body] of SET) {
      for (const way of ["update", "updateAll"]) {
        const stored = { ...STORED, ...way === "updateAll" && { s: `all ${Math.random()}` } };
        const { insertedId } = await collection.insertOne({ ...stored } as never);
        const path = way === "update"
          ? `/values/${insertedId}`
          : `/values?q=${JSON.stringify({ _id: insertedId })}`;
        between = () => app.updated(`/plain/${insertedId}`, other);
        const { status, text } = await app.patch(path, body);
        assertEquals(status, 200, text);
        const found = await collection.findOne({ _id: insertedId }) as Record<string, unknown>;
        const names = Object.keys(left);
        const now = Object.fromEntries(names.map((name) => [name, found[name]]));
        assertEquals(plain(now), plain(left), `${way} ${JSON.stringify(body)}`);
      }
    }
  });

  test(`an answer shows the entity and the version that are stored, ${kind}`, async () => {
    await using app = await serve(model);
    const { collection } = getModel(model);
    const others = { n: 2, inner: { b: "x" }, counts: { y: 2 }, tags: ["b", "c"], first: "other" };
    const requests = [
      [200, (id: unknown) => app.patch(`/values/${id}`, { s: "b", inner: { a: "y" } })],
      [200, (id: unknown) => app.put(`/values/${id}`, { s: "b" })],
      [409, (id: unknown) => app.post(`/values/${id}/shout`, {})],
    ] as const;
    for (const [expected, request] of requests) {
      const { insertedId } = await collection.insertOne({ ...STORED } as never);
      between = () => app.updated(`/plain/${insertedId}`, others);
      sent.length = 0;
      const { status, text, headers } = await request(insertedId);
      assertEquals(status, expected, text);
      if (status === 409) continue;
      const shown = await app.get(`/values/${insertedId}`);
      const now = JSON.parse(shown.text);
      assertEquals(JSON.parse(text), now);
      assertEquals([now.__v, headers.get("etag")?.slice(0, 3)], [2, '"2.']);
      for (const { n = null } of sent) assertEquals(n, now.n ?? null);
    }
  });

  test(`the stamp names the last writer, ${kind}`, async () => {
    await using app = await serve(model);
    const { collection } = getModel(model);
    for (const way of ["update", "updateAll"]) {
      const { insertedId } = await collection.insertOne({ ...STORED, by: "ann" } as never);
      const path = way === "update"
        ? `/values/${insertedId}`
        : `/values?q=${JSON.stringify({ _id: insertedId })}`;
      between = () => app.patch(`/plain/${insertedId}`, { n: 2 }, { headers: as("bob") });
      assertEquals((await app.patch(path, { s: "b" }, { headers: as("ann") })).status, 200);
      const found = await collection.findOne({ _id: insertedId }) as Record<string, unknown>;
      assertEquals([found.n, found.s, found.by], [2, "b", "ann"]);
    }
  });
}

test("a revert sets what another request sets meanwhile, and shows what is stored", async () => {
  await using app = await serve(Recorded);
  const { collection } = getModel(Recorded);
  const { insertedId } = await collection.insertOne({ ...STORED } as never);
  const path = `/values/${insertedId}`;
  for (const n of [2, 1]) await app.updated(path, { n });
  between = () => app.updated(`/plain/${insertedId}`, { n: 3, s: "x" });
  const reverted = await app.post(`${path}/revert`, { version: 0 });
  assertEquals(reverted.status, 200, reverted.text);
  const shown = await app.read(path);
  assertEquals([shown.n, shown.s, shown.__v], [1, "x", 4]);
  assertEquals(reverted.body, shown);
});

test("updates by documents name the shard key of their schema", async () => {
  @rest({
    route: "/sharded",
    methods: [one(), update<Sharded>({ preSave: meet })],
    schemaOptions: { shardKey: { region: 1 } },
  })
  class Sharded extends FrameworkModel {
    @prop()
    region?: string;
    @prop()
    name?: string;
    @rest({ methods: [update<Inner>()] })
    @prop({ type: Inner })
    inner?: Inner;
  }
  await using app = await mount([Sharded]);
  const { _id } = await getModel(Sharded).create({ region: "eu", name: "a", inner: { a: "a" } });
  const sent = await watchCommands(app.database.uri);
  await app.updated(`/sharded/${_id}`, { name: "b" });
  await app.updated(`/sharded/${_id}/inner`, { a: "b" });
  const writes = sent.filter(({ name }) => name === "update" || name === "findAndModify");
  assertEquals(writes.map(({ name, command }) => [name, Object(command.query).region]), [
    ["findAndModify", "eu"],
    ["update", undefined],
  ]);
});

@rest({
  route: "/secrets",
  methods: [
    one(),
    update<Secrets>({
      preSave: meet,
      postFetch(_req, entity) {
        delete entity.free?.secret;
        return entity;
      },
    }),
  ],
})
class Secrets extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Object })
  free?: Record<string, unknown>;
  @prop({ hidden: true })
  hidden?: string;
}

test("an answer shows nothing that is hidden, or that a hook has removed, after another write", async () => {
  await using app = await mount([Secrets]);
  const { collection } = getModel(Secrets);
  const { insertedId } = await collection.insertOne({ __v: 0, free: { secret: 1, k: 1 } } as never);
  const set = { "free.k": 2, "free.secret": 2, hidden: "h" };
  between = () => collection.updateOne({ _id: insertedId }, { $set: set, $inc: { __v: 1 } });
  const { text } = await app.patch(`/secrets/${insertedId}`, { name: "a" });
  const { free, name, __v, ...others } = JSON.parse(text);
  assertEquals([name, __v, Object.keys(others)], ["a", 2, ["_id"]]);
  assertEquals(free.secret, undefined);
});
