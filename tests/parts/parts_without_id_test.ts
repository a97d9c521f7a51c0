import { assertEquals } from "@std/assert";
import { Types } from "mongoose";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  type HooksOf,
  type ModelClass,
  one,
  prop,
  removeAll,
  rest,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { asQuery, type EntityBody, mount } from "../support/support.ts";

class Note extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ type: Number })
  stars?: number;
}

/** Makes a model whose notes other programs store, some of them without `_id`. */
function noted(hooks: HooksOf<Note>): ModelClass {
  const collection = `noted_${crypto.randomUUID().slice(0, 8)}`;
  @rest({ route: "/noted", methods: [one()], schemaOptions: { collection, autoCreate: false } })
  class Made extends FrameworkModel {
    @rest({ methods: [all(), create(), removeAll<Note>(hooks)] })
    @arrayProp({ items: Note, embedded: true })
    notes?: Note[];
  }
  return Made;
}

/** Stores notes as they are, and tells how a removal of some is answered and what is left. */
async function removeFrom(notes: readonly object[], query: string, hooks: HooksOf<Note> = {}) {
  const model = noted(hooks);
  await using app = await mount([model]);
  const { collection } = getModel(model);
  const { insertedId: _id } = await collection.insertOne({ notes: [...notes], __v: 0 } as never);
  const { status } = await app.delete(`/noted/${_id}/notes${query}`);
  const stored = await collection.findOne({ _id }) as unknown as { notes: Note[] };
  return [status, ...stored.notes.map(({ text, stars }) => `${text}${stars}`)];
}

const pass = { postFetch: (_req: FrameworkRequest, note: object) => note };
const A1 = { text: "a", stars: 1 };
const A2 = { text: "a", stars: 2 };
const B1 = { text: "b", stars: 1 };

test("removeAll() of elements without _id takes what q selects, and nothing more", async () => {
  for (const hooks of [{}, pass]) {
    const query = asQuery({ text: "a" });
    assertEquals(await removeFrom([A1, B1, A2, A1], query, hooks), [204, "b1"]);
    const some = asQuery({ $or: [{ stars: 2 }, { text: "c" }] });
    assertEquals(await removeFrom([A1, A2, B1], some, hooks), [204, "a1", "b1"]);
    assertEquals(await removeFrom([A1, A2], asQuery({ text: "x" }), hooks), [204, "a1", "a2"]);
    assertEquals(await removeFrom([A1, A2], "", hooks), [204]);
  }
});

test("removeAll() takes elements with and without _id at once", async () => {
  const named = { _id: new Types.ObjectId(), ...A1 };
  const textual = { _id: "other", ...A2 };
  for (const hooks of [{}, pass]) {
    const query = asQuery({ stars: { $lt: 2 } });
    assertEquals(await removeFrom([named, A1, B1, textual], query, hooks), [204, "a2"]);
    assertEquals(await removeFrom([named, B1, textual], asQuery({ text: "a" }), hooks), [
      204,
      "b1",
    ]);
  }
});

test("removeAll() of elements without _id leaves what a hook leaves out", async () => {
  const first = {
    postFetch: (_req: FrameworkRequest, note: Note) => note.stars === 1 ? note : null,
  };
  assertEquals(await removeFrom([A1, A2, B1], "", first as never), [204, "a2"]);
  const page = {
    preFetch: (req: FrameworkRequest) => {
      req.framework.options = { skip: 1, limit: 1 };
      return true;
    },
  };
  assertEquals(await removeFrom([A1, A1, A1, B1], "", page), [204, "a1", "a1", "b1"]);
  assertEquals(await removeFrom([A1, B1, A1], "", page), [204, "a1", "a1"]);
});

test("removeAll() of elements without _id is 409 if one has changed since it was read", async () => {
  const model: ModelClass = noted({
    preSave: async (_req: FrameworkRequest, note) => {
      await getModel(model).collection.updateMany({}, { $set: { "notes.0.stars": 9 } });
      return note;
    },
  });
  await using app = await mount([model]);
  const { collection } = getModel(model);
  const { insertedId } = await collection.insertOne({ notes: [A1, B1], __v: 0 } as never);
  const at = `/noted/${insertedId}/notes`;
  assertEquals((await app.delete(at)).status, 409);
  assertEquals((await app.get<EntityBody[]>(at)).body.map(({ stars }) => stars), [9, 1]);
});

test("removeAll() of elements without _id loses no element that is added meanwhile", async () => {
  const model: ModelClass = noted({});
  await using app = await mount([model]);
  const { collection } = getModel(model);
  const { insertedId } = await collection.insertOne({ notes: [A1, B1], __v: 0 } as never);
  const at = `/noted/${insertedId}/notes`;
  const add = (text: string) => app.post(at, { text });
  const [{ status }] = await Promise.all([
    app.delete(`${at}${asQuery({ stars: 1 })}`),
    ...["c", "d", "e", "f"].map(add),
  ]);
  const left = (await app.get<EntityBody[]>(at)).body.map(({ text }) => text).sort();
  assertEquals([status, left], [204, ["c", "d", "e", "f"]]);
});
