import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  action,
  all,
  arrayProp,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  onlyIf,
  prop,
  remove,
  removeAll,
  replace,
  rest,
  update,
  updateAll,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { watchCommands } from "../support/both_paths.ts";
import { asQuery, mount, type Mounted } from "../support/support.ts";

/** Runs while a guard is asked, with the number of its call. */
let meanwhile: (asked: number) => unknown = () => {};
let asked = 0;

const isOpen = onlyIf(
  ["state", "key"],
  async (_req: FrameworkRequest, { state, key }: Pick<Ticket, "state" | "key">) => {
    const passes = state === "open" && key === "k";
    await meanwhile(++asked);
    return passes;
  },
);

const counts = onlyIf(
  ["count"],
  async (_req: FrameworkRequest, { count }: Pick<Counted, "count">) => {
    await meanwhile(++asked);
    return count !== undefined;
  },
);

@rest({
  route: "/counted",
  methods: [
    update({ postFetch: counts }),
    remove({ postFetch: counts }),
    replace({ postFetch: counts }),
  ],
})
class Counted extends FrameworkModel {
  @prop({ type: Number })
  count?: number;
  @prop()
  text?: string;
}

class Note extends FrameworkModel {
  @prop()
  text?: string;
}

const close = action("close", {
  on: "one",
  postFetch: isOpen as never,
  run: async (_req, ticket) => {
    Object.assign(ticket, { title: "closed" });
    await (ticket as unknown as { save(): Promise<void> }).save();
  },
});

@rest({
  route: "/tickets",
  methods: [
    all(),
    one({ postFetch: isOpen }),
    update({ postFetch: isOpen }),
    remove({ postFetch: isOpen }),
    replace({ postFetch: isOpen }),
    updateAll({ fields: ["title"], postFetch: isOpen }),
    removeAll({ postFetch: isOpen }),
    close,
  ],
})
@rest({
  route: "/documents",
  methods: [
    update({ postFetch: isOpen, preSave: (_req, each) => each }),
    remove({ postFetch: isOpen, preSave: (_req, each) => each }),
  ],
})
class Ticket extends FrameworkModel {
  @prop()
  title?: string;
  @prop()
  state?: string;
  @prop({ hidden: true })
  key?: string;
  @rest({ methods: [all()] })
  @arrayProp({ items: Note, embedded: true, apart: false })
  notes?: Note[];
}

const OPEN = { title: "a", state: "open", key: "k", __v: 0 };

async function store(...tickets: object[]): Promise<string[]> {
  const { insertedIds } = await getModel(Ticket).collection.insertMany(
    tickets.map((each) => ({ ...each })),
  );
  asked = 0;
  meanwhile = () => {};
  return Object.values(insertedIds).map(String);
}

const stored = () => getModel(Ticket).collection.find({}).toArray();

test("a guard with names reads its fields and binds the one statement to them", async () => {
  await using app = await mount([Ticket]);
  const sent = await watchCommands(app.database.uri);
  const [id, other] = await store(OPEN, { ...OPEN, key: "x" });
  sent.length = 0;
  assertEquals((await app.patch(`/tickets/${id}`, { title: "b" })).body.title, "b");
  assertEquals(sent.map(({ name }) => name), ["find", "findAndModify"]);
  assertEquals(sent[0]?.command.projection, { _id: 1, state: 1, key: 1, __nowhere: 1 });
  assertEquals((await app.patch(`/tickets/${other}`, { title: "b" })).status, 404);
  assertEquals((await app.delete(`/tickets/${other}`)).status, 404);
  sent.length = 0;
  assertEquals((await app.delete(`/tickets/${id}`)).status, 204);
  assertEquals(sent.map(({ name }) => name), ["find", "delete"]);
  assertEquals((await stored()).map(({ title }) => title), ["a"]);
});

/** The requests that a guard with names stops or lets pass, by name, with the status when the guard passes. */
const REQUESTS: [string, (app: Mounted, id: string) => Promise<{ status: number }>, number][] = [
  ["update", (app, id) => app.patch(`/tickets/${id}`, { title: "b" }), 200],
  ["update of a list", (app, id) => app.patch(`/tickets/${id}`, { notes: [{ text: "t" }] }), 200],
  ["update by documents", (app, id) => app.patch(`/documents/${id}`, { title: "b" }), 200],
  ["remove", (app, id) => app.delete(`/tickets/${id}`), 204],
  ["remove by documents", (app, id) => app.delete(`/documents/${id}`), 204],
  ["replace", (app, id) => app.put(`/tickets/${id}`, { title: "b" }), 200],
  ["action", (app, id) => app.post(`/tickets/${id}/close`), 204],
  ["updateAll", (app, id) => app.patch(`/tickets${asQuery({ _id: id })}`, { title: "b" }), 200],
  ["removeAll", (app, id) => app.delete(`/tickets${asQuery({ _id: id })}`), 204],
];

test("no write of a guard with names lands on an entity that has changed meanwhile", async (t) => {
  await using app = await mount([Ticket]);
  for (const [name, send, passes] of REQUESTS) {
    await t.step(name, async () => {
      const [id = ""] = await store(OPEN);
      assertEquals((await send(app, id)).status, passes);
      const [raced = ""] = await store(OPEN);
      const _id = new mongoose.Types.ObjectId(raced);
      meanwhile = () => getModel(Ticket).collection.updateOne({ _id }, { $set: { state: "shut" } });
      const { status } = await send(app, raced);
      assert(status === 404 || status === 409 || name === "removeAll", String(status));
      const found = await getModel(Ticket).collection.findOne({ _id });
      assertEquals([found?.title, found?.state, found?.notes], ["a", "shut", undefined]);
    });
  }
});

test("a guard with names is asked again after a change, and gives up after three times", async () => {
  await using app = await mount([Ticket]);
  const touch = (id: string, change: object) => () =>
    getModel(Ticket).collection.updateOne({ _id: new mongoose.Types.ObjectId(id) }, change);
  for (const method of ["PATCH", "DELETE"]) {
    const [once = "", other = "", always = ""] = await store(OPEN, OPEN, OPEN);
    const send = (id: string) =>
      app.send(method, `/tickets/${id}`, { body: method === "PATCH" ? { title: "b" } : undefined });
    const toggle = async (id: string) => {
      await touch(id, { $set: { state: "shut" } })();
    };
    meanwhile = async (count) => {
      if (count === 1) {
        await toggle(once);
        await touch(once, { $set: { state: "open", extra: 1 } })();
      }
    };
    assertEquals([(await send(once)).status < 300, asked], [true, 1]);
    asked = 0;
    meanwhile = touch(other, { $inc: { rank: 1 } });
    assertEquals([(await send(other)).status < 300, asked], [true, 1]);
    asked = 0;
    meanwhile = (count) => touch(always, { $set: { state: ["open", count] } })();
    const { status } = await send(always);
    assertEquals([status, asked], [404, 2]);
  }
});

test("a guard with names answers 409 when its fields change each time", async () => {
  await using app = await mount([Counted]);
  const { insertedId } = await getModel(Counted).collection.insertOne({ count: 1 });
  meanwhile = () =>
    getModel(Counted).collection.updateOne({ _id: insertedId }, { $inc: { count: 1 } });
  asked = 0;
  assertEquals((await app.patch(`/counted/${insertedId}`, { text: "t" })).status, 409);
  assertEquals(asked, 3);
  asked = 0;
  assertEquals((await app.delete(`/counted/${insertedId}`)).status, 409);
  assertEquals(asked, 3);
  const found = await getModel(Counted).collection.findOne({ _id: insertedId });
  assertEquals([found?.count, found?.text], [7, undefined]);
});

test("a guard with names of a replacement reads its fields, and those of a new entity", async () => {
  await using app = await mount([Ticket, Counted]);
  const sent = await watchCommands(app.database.uri);
  const [id, other] = [new mongoose.Types.ObjectId(), new mongoose.Types.ObjectId()];
  await getModel(Counted).collection.insertMany([
    { _id: id, count: 1, text: "a", __v: 3 },
    { _id: other, text: "a", __v: 3 },
  ]);
  meanwhile = () => {};
  sent.length = 0;
  const { status, body } = await app.put(`/counted/${id}`, { count: 2 });
  assertEquals([status, body], [200, { _id: String(id), count: 2, __v: 4 }]);
  assertEquals(sent.map(({ name }) => name), ["find", "findAndModify"]);
  assertEquals((await app.put(`/counted/${other}`, { count: 2 })).status, 404);
  const { _id } = await getModel(Counted).collection.findOne({ _id: other }) ?? {};
  assertEquals(_id, other);
  // The guard gets a new entity before the body is applied
  const created = new mongoose.Types.ObjectId();
  assertEquals((await app.put(`/counted/${created}`, { count: 1 })).status, 404);
  meanwhile = () => getModel(Counted).collection.updateOne({ _id: id }, { $inc: { count: 1 } });
  asked = 0;
  assertEquals([(await app.put(`/counted/${id}`, { count: 9 })).status, asked], [409, 3]);
  meanwhile = () => getModel(Counted).collection.deleteOne({ _id: id });
  assertEquals((await app.put(`/counted/${id}`, { count: 9 })).status, 404);
  assertEquals(await getModel(Counted).collection.countDocuments(), 1);
});

test("a guard with names of a parent hides its parts", async () => {
  await using app = await mount([Ticket]);
  const [open, shut] = await store(OPEN, { ...OPEN, state: "shut" });
  assertEquals((await app.get(`/tickets/${open}/notes`)).status, 200);
  assertEquals((await app.get(`/tickets/${shut}/notes`)).status, 404);
});

class Sheet extends FrameworkModel {
  @prop({ type: Number })
  count?: number;
  @prop()
  text?: string;
  @arrayProp({ items: String })
  words?: string[];
  @prop({ type: Object })
  extra?: object;
}

const touch = action<Mixed>("touch", {
  on: "one",
  postFetch: counts,
  run: (_req, each) => each.save(),
});

@rest({
  route: "/mixed",
  methods: [
    update({ postFetch: counts, preSave: (_req, each) => each }),
    remove({ postFetch: counts, preSave: (_req, each) => each }),
    replace({ postFetch: counts, preSend: (_req, each) => each }),
    touch,
  ],
})
class Mixed extends Sheet {}

test("a guard with names beside another hook is asked once, and three times by a PUT", async () => {
  await using app = await mount([Mixed]);
  const { collection } = getModel(Mixed);
  const requests: [number, (path: string) => Promise<{ status: number }>][] = [
    [1, (path) => app.patch(path, { text: "t" })],
    [1, (path) => app.delete(path)],
    [3, (path) => app.put(path, { text: "t", count: 1 })],
    [1, (path) => app.post(`${path}/touch`)],
  ];
  for (const [times, send] of requests) {
    const { insertedId: _id } = await collection.insertOne({ count: 1, __v: 0 } as never);
    asked = 0;
    meanwhile = () => collection.updateOne({ _id }, { $inc: { count: 1 } });
    assertEquals([(await send(`/mixed/${_id}`)).status, asked], [409, times]);
    assertEquals((await collection.findOne({ _id }))?.count, times + 1);
  }
});

@rest({
  route: "/bound",
  methods: [
    update({ postFetch: counts }),
    remove({ postFetch: counts }),
    replace({ postFetch: counts }),
  ],
  scope: () => ({ open: true }),
})
class Bound extends Sheet {
  @prop({ type: Boolean, readonly: true })
  open?: boolean;
}

@rest({
  route: "/kept",
  methods: [update({ postFetch: counts }), remove({ postFetch: counts })],
  trash: { see: () => true },
})
class Kept extends Sheet {}

/** Requests whose writes need documents, and a removal into the trash. */
const BY_DOCUMENTS: [
  string,
  typeof Bound | typeof Kept,
  (app: Mounted, id: string) => Promise<{ status: number }>,
][] = [
  ["update of a list", Bound, (app, id) => app.patch(`/bound/${id}`, { words: ["w"] })],
  [
    "replace by documents",
    Bound,
    (app, id) => app.put(`/bound/${id}`, { count: 1, extra: { a: 1 } }),
  ],
  ["replace in a scope", Bound, (app, id) => app.put(`/bound/${id}`, { text: "b", count: 1 })],
  ["update with a trash", Kept, (app, id) => app.patch(`/kept/${id}`, { words: ["w"] })],
  ["removal into the trash", Kept, (app, id) => app.delete(`/kept/${id}`)],
  ["restore", Kept, (app, id) => app.post(`/kept/${id}/restore`)],
];

test("a guard with names of a replacement in a scope reads only its fields", async () => {
  await using app = await mount([Bound]);
  const { collection } = getModel(Bound);
  const sheets = [true, false].map((open) => ({ count: 1, open, text: "a", words: ["a"], __v: 0 }));
  const { insertedIds } = await collection.insertMany(sheets as never);
  const sent = await watchCommands(app.database.uri);
  meanwhile = () => {};
  const { status, body } = await app.put(`/bound/${insertedIds[0]}`, { count: 2 });
  const shown = { _id: String(insertedIds[0]), count: 2, open: true, words: [], __v: 1 };
  assertEquals([status, body], [200, shown]);
  assertEquals(sent.map(({ name }) => name), ["find", "findAndModify"]);
  assertEquals((await app.put(`/bound/${insertedIds[1]}`, { count: 2 })).status, 404);
  const outside = await getModel(Bound).collection.findOne({ open: false });
  assertEquals(outside as unknown, { _id: insertedIds[1], ...sheets[1] });
});

test("a guard with names of a write by documents is asked up to three times", async (t) => {
  await using app = await mount([Bound, Kept]);
  for (const [name, model, send] of BY_DOCUMENTS) {
    await t.step(name, async () => {
      const { collection } = getModel(model);
      const store = async () => {
        const deletedAt = name === "restore" ? new Date() : null;
        const sheet = { count: 1, open: true, deletedAt, text: "a", words: ["a"], __v: 0 };
        const { insertedId } = await collection.insertOne(sheet as never);
        asked = 0;
        return insertedId;
      };
      const _id = await store();
      meanwhile = (count) => count < 3 && collection.updateOne({ _id }, { $inc: { count: 1 } });
      const { status } = await send(app, String(_id));
      assertEquals([status < 300, asked], [true, 3], String(status));
      const raced = await store();
      meanwhile = () => collection.updateOne({ _id: raced }, { $inc: { count: 1 } });
      assertEquals([(await send(app, String(raced))).status, asked], [409, 3]);
      const found = await collection.findOne({ _id: raced });
      assertEquals([found?.text, found?.words, found?.count], ["a", ["a"], 4]);
    });
  }
});

test("a guard with names is not asked again when another field than its own has changed", async () => {
  await using app = await mount([Bound]);
  const { collection } = getModel(Bound);
  const bound = { count: 1, open: true, words: ["a"], __v: 0 };
  const { insertedId: _id } = await collection.insertOne(bound as never);
  asked = 0;
  meanwhile = () => collection.updateOne({ _id }, { $push: { words: "b" } as never });
  assertEquals([(await app.patch(`/bound/${_id}`, { words: ["w"] })).status, asked], [409, 1]);
  assertEquals((await collection.findOne({ _id }))?.words, ["a", "b"]);
});
