import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  arrayProp,
  create,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  type Method,
  type ModelClass,
  one,
  onlyIf,
  prop,
  type Ref,
  remove,
  removeAll,
  replace,
  rest,
  StoredFile,
  update,
  updateAll,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { mountOnReplicaSet } from "../support/mount_on_replica_set.ts";
import { mount, type Mounted } from "../support/support.ts";

const isAdmin = (req: FrameworkRequest) => req.headers["x-role"] === "admin";
const STRICT = { strict: true, guard: () => true };
const { ObjectId } = mongoose.Types;

class Leaf extends FrameworkModel {
  @prop()
  text?: string;
  @rest({ methods: [one(), replace(), remove()] })
  @prop({ type: StoredFile, maxBytes: 1000 })
  file?: StoredFile;
}

const WRITES = [
  one(),
  create(),
  update(),
  remove(),
  updateAll({ fields: ["text"] }),
  removeAll({ q: "optional" }),
] as const;

/** Makes a class whose entities have the routes `/wholes/:id/leaves`. */
function wholeWith(methods: readonly Method[]): ModelClass {
  @rest({ route: "/wholes", methods: methods as never })
  class Whole extends FrameworkModel {
    static override schemaOptions = { collection: "wholes" };
    @prop()
    text?: string;
    @prop({ type: Boolean, select: false })
    locked?: boolean;
    @rest({ methods: WRITES })
    @arrayProp({ items: Leaf, embedded: true })
    leaves?: Leaf[];
  }
  return Whole;
}

/** Sends each write below a path, with an entity of its own, and returns the statuses. */
async function writeBelow(app: Mounted, path: string, leaf: string): Promise<number[]> {
  const text = { text: "b" };
  const upload = async () => {
    const answer = await fetch(`${app.url}${path}/${leaf}/file`, { method: "PUT", body: "x" });
    await answer.body?.cancel();
    return answer;
  };
  const statuses = [];
  for (
    const send of [
      () => app.post(path, text),
      () => app.patch(`${path}/${leaf}`, text),
      () => app.patch(`${path}?q={}`, text),
      upload,
      () => app.delete(`${path}/${leaf}`),
      () => app.delete(path),
    ]
  ) statuses.push((await send()).status);
  return statuses;
}

const ofOperation = ({ framework: { operation } }: FrameworkRequest) => operation === "one";
const unlocked = onlyIf((_req: FrameworkRequest, { locked }: { locked?: boolean }) => !locked);

/** Operations of an entity whose update() refuses a request, with the status of the refusal. */
const REFUSING: readonly (readonly [string, number, readonly Method[]])[] = [
  ["one hook for both, which decides by the operation", 403, [
    one({ preFetch: ofOperation }),
    update({ preFetch: ofOperation }),
  ]],
  ["a field that reads leave out", 404, [one(), update({ postFetch: unlocked as never })]],
  ["a field that the hook `fetch` of one() leaves out", 404, [
    one({
      fetch: async ({ params, framework }) =>
        await (await framework.model()).findById(params.id, { text: 1 }) as never,
    }),
    update({ postFetch: unlocked as never }),
  ]],
  ["a field that the projection of one() leaves out", 404, [
    one({
      lean: true,
      preFetch: ({ framework }) => Boolean(framework.projection = { text: 1 }),
    }),
    update({ postFetch: unlocked as never }),
  ]],
  ["the hook `fetch` of update()", 404, [one(), update({ fetch: () => null })]],
];

test("what update() refuses is refused below its entity", async (t) => {
  for (const [name, status, methods] of REFUSING) {
    await t.step(name, async () => {
      await using app = await mount([wholeWith(methods)], STRICT);
      const [whole, leaf] = [new ObjectId(), new ObjectId()];
      const entity = { _id: whole, locked: true, leaves: [{ _id: leaf, text: "a" }], __v: 0 };
      await app.database.connection.collection("wholes").insertOne(entity);
      const path = `/wholes/${whole}`;
      assertEquals((await app.patch(path, { text: "b" })).status, status);
      assertEquals(await writeBelow(app, `${path}/leaves`, String(leaf)), Array(6).fill(status));
    });
  }
});

@rest({
  route: "/inners",
  methods: [
    one(),
    update({ preFetch: isAdmin, preSave: onlyIf((_req, { text }: Inner) => text !== "bad") }),
  ],
})
class Inner extends FrameworkModel {
  @prop()
  text?: string;
  @rest({ methods: WRITES })
  @arrayProp({ items: Leaf, embedded: true })
  leaves?: Leaf[];
}

class Bare extends FrameworkModel {
  @rest({ methods: WRITES })
  @arrayProp({ items: Leaf, embedded: true })
  leaves?: Leaf[];
}

@rest({ route: "/keepers", methods: [one(), update({ preFetch: isAdmin })] })
class Keeper extends FrameworkModel {
  @rest({ methods: [one(), update()] })
  @arrayProp({ items: () => Bare })
  bares?: Ref<Bare>[];
}

@rest({ route: "/outers", methods: [one(), update()] })
class Outer extends FrameworkModel {
  @rest({ methods: [one(), update()] })
  @arrayProp({ items: Inner })
  inners?: Ref<Inner>[];
}

test("a write of or below a referenced entity follows the update() of its own class", async () => {
  await using app = await mount([Outer, Inner], STRICT);
  const leaf = new ObjectId();
  const { _id: inner } = await getModel(Inner).create({ leaves: [{ _id: leaf }] } as never);
  const { _id: outer } = await getModel(Outer).create({ inners: [inner] } as never);
  const path = `/outers/${outer}/inners/${inner}`;
  assertEquals(await writeBelow(app, `${path}/leaves`, String(leaf)), Array(6).fill(403));
  const admin = { headers: { "x-role": "admin" } };
  assertEquals((await app.post(`${path}/leaves`, { text: "b" }, admin)).status, 201);
  for (const [text, status] of [["good", 200], ["bad", 403]] as const) {
    for (const own of [path, `/inners/${inner}`]) {
      assertEquals((await app.patch(own, { text }, admin)).status, status, own);
    }
  }
});

test("a referenced entity of a class without @rest belongs to the entity around it", async () => {
  await using app = await mount([Keeper], STRICT);
  const leaf = new ObjectId();
  const { _id: bare } = await getModel(Bare).create({ leaves: [{ _id: leaf }] } as never);
  const { _id: keeper } = await getModel(Keeper).create({ bares: [bare] } as never);
  const path = `/keepers/${keeper}/bares/${bare}`;
  assertEquals((await app.patch(path, {})).status, 403);
  assertEquals(await writeBelow(app, `${path}/leaves`, String(leaf)), Array(6).fill(403));
});

/** Runs while a guard is asked, after it has got the fields. */
let meanwhile: () => unknown = () => {};

const isOpen = onlyIf(
  ["state"],
  async (_req: FrameworkRequest, { state }: Pick<Page, "state">) => {
    await meanwhile();
    return state !== "shut";
  },
);

class Page extends FrameworkModel {
  @prop({ hidden: true })
  state?: string;
  @rest({ methods: WRITES })
  @arrayProp({ items: Leaf, embedded: true })
  leaves?: Leaf[];
}

@rest({ route: "/books", history: true, methods: [one(), update()] })
class Book extends FrameworkModel {
  @rest({ methods: [one(), update({ postFetch: isOpen })] })
  @arrayProp({ items: Page, embedded: true })
  pages?: Page[];
}

@rest({ route: "/pages", methods: [one(), update({ postFetch: isOpen })] })
class Loose extends Page {
  @rest({ methods: [one(), create(), update(), remove()] })
  @prop({ type: Leaf })
  first?: Leaf;
  @rest({ methods: [create(), remove()] })
  @arrayProp({ items: () => Line })
  lines?: Ref<Line>[];
}

class Line extends FrameworkModel {
  @prop()
  text?: string;
}

type Id = mongoose.Types.ObjectId;

/** Stores an entity with parts, whose update() is asked whether it is shut. */
async function storeGuarded(isWithin: boolean) {
  const [_id, page, leaf, line] = [1, 2, 3, 4].map(() => new ObjectId()) as [Id, Id, Id, Id];
  const guarded = { state: "open", leaves: [{ _id: leaf }], first: { _id: leaf }, lines: [line] };
  const { collection } = getModel<ModelClass>(isWithin ? Book : Loose);
  const fields = isWithin
    ? { pages: [{ _id: new ObjectId() }, { _id: page, ...guarded }] }
    : guarded;
  await collection.insertOne({ _id, ...fields, __v: 0 } as never);
  await getModel(Line).collection.insertOne({ _id: line, __v: 0 } as never);
  const path = isWithin ? "pages.1.state" : "state";
  return {
    at: isWithin ? `/books/${_id}/pages/${page}` : `/pages/${_id}`,
    leaf: `/leaves/${leaf}`,
    line: `/lines/${line}`,
    set: (state: string) => collection.updateOne({ _id }, { $set: { [path]: state } }),
    version: async () => (await collection.findOne({ _id }))?.__v,
  };
}

type Guarded = Awaited<ReturnType<typeof storeGuarded>>;

const TEXT = { text: "b" };

const BELOW: readonly (readonly [string, (place: Guarded) => string, object?])[] = [
  ["POST", () => "/leaves", TEXT],
  ["PATCH", ({ leaf }) => leaf, TEXT],
  ["PATCH", () => "/leaves?q={}", TEXT],
  ["DELETE", ({ leaf }) => leaf],
  ["DELETE", () => "/leaves"],
  ["PATCH", () => "/first", TEXT],
  ["DELETE", () => "/first"],
  ["POST", () => "/lines", TEXT],
  ["DELETE", ({ line }) => line],
];

test("no write lands below an entity that its update() would refuse meanwhile", async () => {
  await using app = await mountOnReplicaSet([Book, Loose], STRICT);
  for (const isWithin of [true, false]) {
    for (const [method, pathOf, body] of BELOW.slice(0, isWithin ? 5 : undefined)) {
      const place = await storeGuarded(isWithin);
      const send = async () => (await app.send(method, place.at + pathOf(place), { body })).status;
      meanwhile = async () => {
        meanwhile = () => {};
        await place.set("shut");
      };
      assertEquals([await send(), await place.version()], [409, 0], method + pathOf(place));
      assertEquals(await send(), 404);
      await place.set("open");
      assertEquals(await send() < 300, true);
    }
  }
});
