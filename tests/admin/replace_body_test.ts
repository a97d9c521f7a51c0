import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { changedBody, formValues, mergePatch, wholeBody } from "../../admin/body.ts";
import { withForm } from "../../admin/fields.ts";
import { all, arrayProp, FrameworkModel, one, prop, replace, rest, update } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { serveAdmin } from "./admin_app.ts";

class Note extends FrameworkModel {
  @prop()
  text?: string;
}

class Place extends FrameworkModel {
  @prop()
  name?: string;
  @arrayProp({ items: Note, embedded: true })
  notes?: Note[];
}

@rest({ route: "/stamps", methods: [all(), one(), replace()] })
class Stamp extends FrameworkModel {
  @prop()
  name?: string;
  @arrayProp({ items: Number })
  prices?: number[];
  @arrayProp({ items: String })
  words?: string[];
  @arrayProp({ items: Date })
  days?: Date[];
  @prop({ type: Place })
  place?: Place;
  @arrayProp({ items: Place, embedded: true })
  places?: Place[];
}

test("the form of replace() stores the fields that nobody has edited as they were", async () => {
  await using app = await serveAdmin([Stamp]);
  const { models: [stamps] } = await app.read();
  const fields = stamps?.operations.replace?.body ?? [];
  const stored = {
    _id: new mongoose.Types.ObjectId(),
    __v: 3,
    name: "Penny Black",
    prices: [1, null, 2],
    words: ["", null],
    days: [new Date(0), null],
    place: {
      _id: new mongoose.Types.ObjectId(),
      notes: [{ _id: new mongoose.Types.ObjectId() }, null],
    },
    places: [{ _id: new mongoose.Types.ObjectId(), notes: [] }, null],
  };
  const collection = mongoose.connection.collection("stamps");
  await collection.insertOne(stored);
  const path = `/stamps/${stored._id}`;
  const { body: before } = await app.get<Record<string, unknown>>(path);
  const body = wholeBody({ ...before, name: "Penny Red" }, { fields, before });
  assertEquals((await app.put(path, body)).status, 200);
  const after = await collection.findOne({ _id: stored._id });
  assertEquals({ ...after }, { ...stored, __v: after?.__v, name: "Penny Red" });
});

@rest({ route: "/shelves", methods: [all(), one(), update(), replace()] })
class Shelf extends FrameworkModel {
  @arrayProp({ items: () => Book, embedded: true })
  books?: Book[];
}

class Book extends FrameworkModel {
  @prop()
  title?: string;
  @prop({ type: Number, hidden: true })
  price?: number;
}

test("an element of a list keeps what the form does not have if another element is edited", async () => {
  await using app = await serveAdmin([Shelf]);
  const { models: [shelves] } = await app.read();
  const { replace: whole, update: some } = shelves?.operations ?? {};
  const emma = { _id: new mongoose.Types.ObjectId(), title: "Emma", price: 7 };
  const other = { _id: new mongoose.Types.ObjectId(), title: "Persuasion", price: 5 };
  const stored = { _id: new mongoose.Types.ObjectId(), books: [emma, other] };
  const collection = mongoose.connection.collection("shelves");
  await collection.insertOne(stored);
  const path = `/shelves/${stored._id}`;
  for (const title of ["Emma 2", "Emma 3"]) {
    const { body: before } = await app.get<{ books: object[] }>(path);
    const [first, ...others] = before.books;
    const values = { ...before, books: [{ ...first, title }, ...others, { title }] };
    const { status } = title === "Emma 2"
      ? await app.patch(path, changedBody(values, { fields: some?.body ?? [], before }))
      : await app.put(path, wholeBody(values, { fields: whole?.body ?? [], before }));
    assertEquals(status, 200);
    const after = await collection.findOne<{ books: object[] }>({ _id: stored._id });
    assertEquals(after?.books.slice(0, 2), [{ ...emma, title }, other]);
  }
});

@rest({ route: "/rooms", methods: [all(), one(), update()] })
class Room extends FrameworkModel {
  @prop({ type: Place })
  place?: Place;
  @arrayProp({ items: Place, embedded: true })
  places?: Place[];
  @prop({ type: Object })
  free?: object;
}

test("an update sends no object that is null, and only the changed keys of free-form data", async () => {
  await using app = await serveAdmin([Room]);
  const { models: [rooms] } = await app.read();
  const fields = rooms?.operations.update?.body ?? [];
  const before = {
    place: null,
    places: [{ _id: "1", name: "a", notes: [{ _id: "2" }, null] }, { name: "b" }],
    free: { a: { b: 1, c: [2] }, d: null, e: 3 },
  };
  const { places, ...values } = formValues(before, fields);
  // React-admin makes an object of the empty inputs of its fields.
  const shown = { ...values, places, place: { name: null, notes: null } };
  assertEquals(changedBody(shown, { fields, before }), {});
  const edited = { ...shown, places: [...places, { name: "c" }], free: { a: { b: 2 }, d: null } };
  const changes = changedBody(edited, { fields, before });
  assertEquals(changes.places, [...before.places, { name: "c" }]);
  const { free } = mergePatch(changes, { fields, before });
  assertEquals(free, { a: { b: 2, c: null }, e: null });
});

@rest({ route: "/labels", methods: [all(), one(), replace()] })
class Label extends FrameworkModel {
  @prop()
  id?: string;
}

test("the form of replace() has no field that React-admin uses for itself", async () => {
  await using app = await serveAdmin([Label, Stamp]);
  const { models } = await app.read();
  const forms = models.map((
    model,
  ) => [model.name, withForm(model).operations.update !== undefined]);
  assertEquals(forms, [["labels", false], ["stamps", true]]);
});
