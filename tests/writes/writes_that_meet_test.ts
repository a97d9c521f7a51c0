import { assertEquals } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  removeAll,
  replace,
  rest,
  update,
} from "../../mod.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { test } from "../harness/testing.ts";
import { asQuery, mount, type MountOptions } from "../support/support.ts";

/** What another client does between the read and the write of the next request, once. */
let meanwhile: (() => Promise<unknown>) | undefined;

/** A hook that lets another client in. */
async function letIn<E extends object>(_req: unknown, entity: E): Promise<E> {
  const run = meanwhile;
  meanwhile = undefined;
  await run?.();
  return entity;
}

class Line extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ readonly: true })
  state?: string;
  @prop({ hidden: true, readonly: true })
  secret?: string;
}

@rest({ route: "/orders", methods: [replace({ preSave: letIn })] })
class Order extends FrameworkModel {
  @arrayProp({ items: Line, embedded: true })
  lines?: Line[];
}

test("replace() never sets back what a body may not set, though another client changes it meanwhile", async () => {
  await using app = await mount([Order]);
  const { collection } = getModel(Order);
  const made = await getModel(Order).create(
    { lines: [{ text: "old", state: "open", secret: "old" }] } as never,
  );
  const { _id, lines: [line] } = made as unknown as { _id: unknown; lines: [Line] };
  const body = { lines: [{ _id: line._id, text: "new" }] };
  const paid = { "lines.0.state": "paid", "lines.0.secret": "new" };
  meanwhile = () => collection.updateOne({}, { $set: paid, $inc: { __v: 1 } });
  assertEquals((await app.put(`/orders/${_id}`, body)).status, 200);
  const stored = await collection.findOne() as unknown as { readonly lines: [Line] };
  const [{ text, state, secret }] = stored.lines;
  assertEquals([text, state, secret], ["new", "paid", "new"]);
});

class Place extends FrameworkModel {
  @prop({ required: true })
  city!: string;
  @prop({ required: true })
  zip!: string;
}

class Home extends FrameworkModel {
  @prop({ type: Place })
  place?: Place;
}

@rest({ route: "/people", methods: [one(), update({ preSave: letIn })] })
class Person extends FrameworkModel {
  @prop({ type: Place })
  place?: Place;
  @prop({ type: Map, of: Place })
  places?: Map<string, Place>;
  @rest({ methods: [update({ preSave: letIn })] })
  @arrayProp({ items: Home, embedded: true })
  homes?: Home[];
}

test("update() writes into no object that another client has removed: it is a 409", async () => {
  await using app = await mount([Person]);
  const place = { city: "a", zip: "1" };
  const given = { place, places: { first: place }, homes: [{ place }] };
  for (const kind of ["object", "map", "element"]) {
    const { _id, homes } = await getModel(Person).create(given as never) as unknown as Person;
    const path = `/people/${_id}${kind === "element" ? `/homes/${homes?.[0]?._id}` : ""}`;
    const bodyOf = (value: object | null) =>
      kind === "map" ? { places: { first: value } } : { place: value };
    meanwhile = () => app.updated(path, bodyOf(null));
    const late = await app.patch(path, bodyOf({ city: "b" }));
    assertEquals([late.status, late.body.code], [409, "CONFLICT"], kind);
    // What is left is valid.
    assertEquals((await app.patch(path, bodyOf({ city: "b", zip: "2" }))).status, 200, kind);
  }
});

@rest({ route: "/actors", methods: [one()] })
class Actor extends FrameworkModel {
  @prop()
  state?: string;
}

@rest({ route: "/movies", methods: [one()] })
class Movie extends FrameworkModel {
  @rest({ methods: [all(), removeAll({ preSave: letIn })] })
  @arrayProp({ items: Actor })
  actors?: Ref<Actor>[];
}

test("removeAll() of references leaves the links of those that q selects no more when they are removed", async () => {
  const mongo = await sharedReplicaSet();
  await using app = await mount([Movie, Actor], { mongo });
  const kept = await getModel(Actor).create({ state: "old" });
  const removed = await getModel(Actor).create({ state: "old" });
  const actors = [kept._id, removed._id];
  const { _id } = await getModel(Movie).create({ actors } as never);
  const path = `/movies/${_id}/actors`;
  meanwhile = () => getModel(Actor).updateOne({ _id: kept._id }, { state: "kept" });
  assertEquals((await app.delete(`${path}${asQuery({ state: "old" })}`)).status, 204);
  assertEquals(await getModel(Actor).distinct("state"), ["kept"]);
  const left = await app.read<readonly { readonly _id: string }[]>(path);
  assertEquals(left.map(({ _id }) => _id), [String(kept._id)]);
});

@rest({ route: "/books", methods: [create(), update()] })
class Book extends FrameworkModel {
  @arrayProp({ items: String })
  pages?: string[];
}

test("update() replaces a list of more than half of what a statement may hold", async () => {
  const prepare: MountOptions["prepare"] = (app) => app.use(express.json({ limit: "10mb" }));
  await using app = await mount([Book], { prepare });
  const pages = (text: string) => Array.from({ length: 9 }, () => text.repeat(1024 * 1024));
  const { _id } = await app.created("/books", { pages: pages("a") });
  assertEquals((await app.patch(`/books/${_id}`, { pages: pages("b") })).status, 200);
  const texts = await getModel(Book).distinct("pages");
  assertEquals(texts.map((text) => String(text)[0]), ["b"]);
});
