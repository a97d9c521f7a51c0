import { assertEquals } from "@std/assert";
import { arrayProp, FrameworkModel, getModel, prop, rest, update } from "../../mod.ts";
import type { Entity } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { hooked, type Item } from "../support/hooked.ts";
import { type ErrorBody, mount } from "../support/support.ts";

@rest({ route: "/movies", methods: [update()] })
class Movie extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop()
  description?: string;
  @prop({ type: Number, min: 1888 })
  year?: number;
  @arrayProp({ items: String })
  tags?: string[];
  @prop({ hidden: true, required: true, default: "s" })
  secret!: string;
  @prop({ immutable: true })
  origin?: string;
}

test("update() answers 200 and the entity as saved", async () => {
  await using app = await mount([Movie]);
  const { _id } = await getModel(Movie).create({ name: "Up", description: "A house", tags: ["a"] });
  const reply = await app.patch(`/movies/${_id}`, { name: "Down", year: 2009 });
  assertEquals(reply.status, 200);
  const expected = { name: "Down", description: "A house", year: 2009, tags: ["a"], __v: 1 };
  assertEquals(reply.body, { ...expected, _id: String(_id) });
  const stored = await getModel(Movie).findById(_id).lean();
  assertEquals({ ...stored, _id: String(stored?._id) }, { ...reply.body, secret: "s" } as never);
});

test("update() runs the validators, and writes nothing when one refuses", async () => {
  await using app = await mount([Movie]);
  const { _id } = await getModel(Movie).create({ name: "Up", year: 2009 });
  const reply = await app.patch<ErrorBody>(`/movies/${_id}`, { name: "Down", year: 1000 });
  assertEquals([reply.status, reply.body.code], [400, "BAD_DATA"]);
  assertEquals(reply.body.errors?.year?.kind, "min");
  const stored = await getModel(Movie).findById(_id);
  assertEquals([stored?.name, stored?.year, stored?.__v], ["Up", 2009, 0]);
});

test("update() leaves a field that is immutable as it is", async () => {
  await using app = await mount([Movie]);
  const { _id } = await getModel(Movie).create({ name: "Up", origin: "here" });
  const reply = await app.patch(`/movies/${_id}`, { origin: "there", name: "Down" });
  assertEquals([reply.body.origin, reply.body.name], ["here", "Down"]);
  assertEquals((await getModel(Movie).findById(_id))?.origin, "here");
});

test("update() shows preSave and preSend the entity before the merge", async () => {
  const seen: unknown[] = [];
  const note = (_req: unknown, item: Entity<Item>, previous?: Entity<Item>) => {
    seen.push([item.name, previous?.name, item === previous]);
    return item;
  };
  const model = hooked({ update: { preSave: note, preSend: note } });
  await using app = await mount([model]);
  const { _id } = await getModel(model).create({ name: "a" });
  await app.patch(`/items/${_id}`, { name: "b" });
  assertEquals(seen, [["b", "a", false], ["b", "a", false]]);
});

class Inner extends FrameworkModel {
  @prop()
  text?: string;
}

test("update() gives previous embedded values and arrays that the merge does not change", async () => {
  const seen: unknown[] = [];
  @rest({
    route: "/deep",
    methods: [update<Deep>({
      preSave: (_req, deep, previous) => {
        seen.push([previous?.inner?.text, [...previous?.tags ?? []], previous?.free]);
        return deep;
      },
    })],
  })
  class Deep extends FrameworkModel {
    @prop({ type: Inner })
    inner?: Inner;
    @arrayProp({ items: String })
    tags?: string[];
    @prop({ type: Object })
    free?: object;
  }
  await using app = await mount([Deep]);
  const { _id } = await getModel(Deep).create({
    inner: { text: "a" },
    tags: ["a"],
    free: { a: { b: 1 } },
  });
  const body = { inner: { text: "b" }, tags: ["b"], free: { a: { b: 2 } } };
  const reply = await app.patch(`/deep/${_id}`, body);
  assertEquals(reply.body.free, { a: { b: 2 } });
  assertEquals(seen, [["a", ["a"], { a: { b: 1 } }]]);
});

test("update() with a projection answers by it, and shows preSave the whole entity", async () => {
  const seen: unknown[] = [];
  @rest({
    route: "/narrow",
    methods: [update<Narrow>({
      preFetch: (req) => {
        req.framework.projection = { name: 1 };
        return true;
      },
      preSave: (_req, narrow, previous) => {
        seen.push(narrow.text, previous?.text);
        return narrow;
      },
    })],
  })
  class Narrow extends FrameworkModel {
    @prop({ required: true })
    name!: string;
    @prop({ required: true })
    text!: string;
  }
  await using app = await mount([Narrow]);
  const { _id } = await getModel(Narrow).create({ name: "a", text: "t" });
  const reply = await app.patch(`/narrow/${_id}`, { name: "b" });
  assertEquals(reply.body as object, { _id: String(_id), name: "b" });
  assertEquals([seen, (await getModel(Narrow).findById(_id))?.text], [["t", "t"], "t"]);
});

test("update() keeps fields that reads do not select, and does not show them", async () => {
  @rest({ route: "/lazy", methods: [update()] })
  class Lazy extends FrameworkModel {
    @prop()
    name?: string;
    @prop({ select: false, required: true })
    text?: string;
    @arrayProp({ items: String, select: false })
    tags?: string[];
  }
  await using app = await mount([Lazy]);
  const { _id } = await getModel(Lazy).create({ name: "a", text: "t", tags: ["x"] });
  const reply = await app.patch(`/lazy/${_id}`, { name: "b" });
  assertEquals(reply.body as object, { _id: String(_id), __v: 1, name: "b" });
  const stored = await getModel(Lazy).findById(_id).select("+text +tags").lean();
  assertEquals([stored?.name, stored?.text, stored?.tags], ["b", "t", ["x"]]);
});

test("update() shows what options.populate brings in, and keeps the references", async () => {
  @rest({
    route: "/pairs",
    methods: [update({
      preFetch: (req) => {
        req.framework.options = { populate: "movie", lean: true };
        return true;
      },
    })],
  })
  class Pair extends FrameworkModel {
    @prop({ ref: Movie })
    movie?: string;
    @prop()
    name?: string;
  }
  await using app = await mount([Pair, Movie]);
  const movie = await getModel(Movie).create({ name: "Up" });
  const { _id } = await getModel(Pair).create({ movie: String(movie._id) });
  const reply = await app.patch(`/pairs/${_id}`, { name: "b" });
  assertEquals(reply.body.movie, { _id: String(movie._id), __v: 0, name: "Up", tags: [] });
  assertEquals(String((await getModel(Pair).findById(_id))?.movie), String(movie._id));
});

test("update() moves updatedAt with every update, and never createdAt", async () => {
  @rest({ route: "/stamped", methods: [update()], schemaOptions: { timestamps: true } })
  class Stamped extends FrameworkModel {
    @prop()
    name?: string;
  }
  await using app = await mount([Stamped]);
  const { _id } = await getModel(Stamped).create({ name: "a" });
  const past = new Date(0);
  await app.database.connection.collection("stampeds").updateOne({ _id }, {
    $set: { createdAt: past, updatedAt: past },
  });
  const now = new Date().toISOString();
  const reply = await app.patch(`/stamped/${_id}`, { createdAt: now, updatedAt: past });
  assertEquals(reply.body.createdAt, past.toISOString());
  assertEquals(reply.body.updatedAt as string >= now, true);
});
