import { assert, assertEquals } from "@std/assert";
import type { Schema } from "mongoose";
import {
  arrayProp,
  FrameworkModel,
  getModel,
  prop,
  type Ref,
  replace,
  rest,
} from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";
import { test } from "../../harness/testing.ts";
import { type ErrorBody, mount, type Mounted, NOBODY } from "../../support/support.ts";

class Item extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ default: "usual" })
  kind?: string;
  @prop({ hidden: true })
  secret?: string;
  @prop({ readonly: true })
  fixed?: string;
}

@rest({ route: "/targets", methods: [replace()] })
class Target extends FrameworkModel {
  @prop()
  name?: string;
}

@rest({ route: "/things", methods: [replace({ by: "slug" })] })
@rest({ route: "/hooked", methods: [replace({ by: "slug", preSave: pass })] })
class Thing extends FrameworkModel {
  static override configure(schema: Schema) {
    schema.add({ nested: { a: { type: Number, default: 1 }, b: Number } });
  }
  @prop({ unique: true })
  slug!: string;
  @prop({ type: Item })
  item?: Item;
  @arrayProp({ items: Item, embedded: true })
  items?: Item[];
  @prop({ type: Map, of: Item })
  map?: Map<string, Item>;
  @arrayProp({ items: Number, default: [1, 2] })
  numbers?: number[];
  @prop({ type: Map, of: Number })
  counts?: Map<string, number>;
  @prop({ type: Object })
  free?: object;
  @prop({ immutable: true })
  since?: string;
  @prop({ ref: Target, exists: true })
  target?: Ref<Target>;
  @arrayProp({ items: Target, exists: true })
  targets?: Ref<Target>[];
  @prop({ select: false })
  unselected?: string;
}

const ROUTES = ["/things", "/hooked"];

const stored = async () => Object(await getModel(Thing).collection.findOne());

/** Stores what no client could. */
async function keepSecrets() {
  await getModel(Thing).collection.updateOne({}, {
    $set: {
      ...{ "item.secret": "s", "item.fixed": "f", "items.0.secret": "s", "items.0.fixed": "f" },
      ...{ "map.x.secret": "s", "map.x.fixed": "f", unselected: "u" },
    },
  });
}

const FULL = {
  ...{ item: { name: "a", kind: "k" }, items: [{ name: "a", kind: "k" }, { name: "b" }] },
  ...{ map: { x: { name: "a", kind: "k" }, y: {} }, counts: { a: 1, b: 2 } },
  ...{ free: { a: { b: 1 }, c: 2 }, since: "o", nested: { a: 5, b: 6 }, unselected: "other" },
};

/** Stores an entity with all parts; gives what the answer shows of it. */
async function putFull({ put }: Mounted, route: string) {
  await getModel(Thing).collection.deleteMany({});
  const { status, body, text } = await put(`${route}/k`, FULL);
  assertEquals(
    [status, body.nested, (await stored()).unselected],
    [201, FULL.nested, "other"],
    text,
  );
  await keepSecrets();
  return body as unknown as { item: Named; items: Named[] };
}

type Named = { readonly _id: string };

const unnamed = ({ _id, ...others }: Named) => others;

test("parts are replaced as a whole: what clients neither see nor set in them stays", async () => {
  await using app = await mount([Thing, Target]);
  for (const route of ROUTES) {
    const { item: { _id }, items: [first] } = await putFull(app, route);
    const changed = await app.put(`${route}/k`, {
      ...{ item: { name: "n" }, items: [{ name: "new" }, { _id: first?._id, name: "n" }] },
      ...{ map: { x: { name: "n" } }, counts: { a: 5 }, free: { a: { d: 1 } }, nested: { b: 7 } },
    });
    assertEquals(changed.status, 200, changed.text);
    const { item, items, map: { x, ...others }, ...left } = await stored();
    const kept = { name: "n", kind: "usual", secret: "s", fixed: "f" };
    assertEquals([unnamed(item), String(item._id)], [kept, _id]);
    assertEquals(items.map(unnamed), [{ name: "new", kind: "usual" }, kept]);
    assertEquals(String(items[1]._id), first?._id);
    assertEquals([unnamed(x), others], [kept, {}]);
    assertEquals([left.counts, left.free, left.since], [{ a: 5 }, { a: { d: 1 } }, "o"]);
    assertEquals([left.nested, left.unselected], [{ a: 1, b: 7 }, "u"]);
    assert(!changed.text.includes("secret") && !changed.text.includes("unselected"));
  }
});

test("parts that the body leaves out are cleared, but for what has to stay", async () => {
  await using app = await mount([Thing, Target]);
  for (const route of ROUTES) {
    await getModel(Thing).collection.deleteMany({});
    await app.put(`${route}/k`, {
      ...{ item: { name: "a" }, items: [{ name: "a" }], map: { x: {} }, counts: { a: 1 } },
      ...{ free: { a: 1 }, nested: { a: 5, b: 6 } },
    });
    await keepSecrets();
    const before = await stored();
    const { status } = await app.put(`${route}/k`, {});
    const left = await stored();
    assertEquals(status, 200);
    const kept = { _id: before.item._id, kind: "usual", secret: "s", fixed: "f" };
    assertEquals([left.item, left.items, left.nested], [kept, [], { a: 1 }]);
    assertEquals([left.counts, left.free, left.unselected], [undefined, undefined, "u"]);
    assertEquals([left.map.x.secret, left.map.x.name], ["s", undefined]);
  }
});

test("an entity with parts is created as create() does, and the same body leaves it so", async () => {
  await using app = await mount([Thing, Target]);
  for (const route of ROUTES) {
    for (
      const body of [{}, { item: {} }, { numbers: [] }, { numbers: null }, { nested: { b: 1 } }, {
        map: { x: {} },
        counts: {},
      }]
    ) {
      await getModel(Thing).collection.deleteMany({});
      const first = await app.put(`${route}/k`, body);
      const before = await stored();
      const second = await app.put(`${route}/k`, body);
      const say = JSON.stringify([route, body, before]);
      assertEquals([first.status, second.status], [201, 200], say);
      assertEquals({ ...await stored(), __v: 0 }, before, say);
      const { numbers = [1, 2] } = body as { numbers?: null };
      assertEquals([before.nested.a, before.numbers], [1, numbers ?? []], say);
    }
  }
});

test("references of a replacement name entities that exist", async () => {
  await using app = await mount([Thing, Target]);
  const { body: { _id } } = await app.put(`/targets/${NOBODY.replace("0", "1")}`, {});
  for (const route of ROUTES) {
    const bad = await app.put<ErrorBody>(`${route}/k`, { target: NOBODY, targets: [_id, NOBODY] });
    const kinds = Object.entries(bad.body.errors ?? {}).map(([path, { kind }]) => [path, kind]);
    assertEquals(kinds, [["target", "exists"], ["targets.1", "exists"]], bad.text);
    const good = await app.put(`${route}/k`, { target: _id, targets: [_id] });
    assertEquals([good.status, good.body.targets], [route === "/things" ? 201 : 200, [_id]]);
    assertEquals((await app.put(`${route}/k`, {})).body.target, undefined);
  }
});

test("an immutable field is set once, and a replacement leaves it as it is", async () => {
  await using app = await mount([Thing, Target]);
  for (const route of ROUTES) {
    await getModel(Thing).collection.deleteMany({});
    for (const body of [{ since: "first" }, { since: "second" }, {}, { since: null }]) {
      assertEquals((await app.put(`${route}/k`, body)).body.since, "first", JSON.stringify(body));
    }
  }
});

test("a strict body names no field that is unknown, and may name the key", async () => {
  @rest({ route: "/strict", methods: [replace({ by: "slug" })] })
  @rest({ route: "/strict_ids", methods: [replace()] })
  class Strict extends FrameworkModel {
    static override schemaOptions = { strict: "throw" } as const;
    @prop({ unique: true })
    slug!: string;
  }
  await using app = await mount([Strict]);
  const bad = await app.put<ErrorBody>("/strict/k", { other: 1 });
  assertEquals([bad.status, bad.body.errors?.other?.kind], [400, "strict"]);
  assertEquals((await app.put("/strict/k", { slug: "k" })).status, 201);
  assertEquals((await app.put("/strict/k", {})).status, 200);
  assertEquals((await app.put(`/strict_ids/${NOBODY}`, { _id: NOBODY })).status, 201);
  for (const body of [[], [{}], "x", 5, null]) {
    assertEquals((await app.put("/strict/k", body)).status, 400, JSON.stringify(body));
  }
});

test("a collation of the schema tells which keys are the same", async () => {
  @rest({ route: "/names", methods: [replace({ by: "name" })] })
  class Collated extends FrameworkModel {
    static override schemaOptions = { collation: { locale: "en", strength: 2 } };
    @prop({ unique: true })
    name!: string;
    @prop()
    note?: string;
  }
  await using app = await mount([Collated]);
  await getModel(Collated).init();
  const replies = [];
  for (const name of ["Bob", "bob", "BOB", "alice"]) {
    replies.push(await app.put(`/names/${name}`, { note: name }));
  }
  assertEquals(replies.map(({ status }) => status), [201, 200, 200, 201]);
  const left = await getModel(Collated).collection.find({}).toArray();
  assertEquals(left.map(({ name, note }) => [name, note]), [["BOB", "BOB"], ["alice", "alice"]]);
});
