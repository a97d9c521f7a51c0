import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  FrameworkModel,
  getModel,
  type ModelClass,
  one,
  prop,
  type Ref,
  rest,
} from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";
import { PATHS, put, Singer, Song } from "../../fixtures/songs.ts";
import { test } from "../../harness/testing.ts";
import { bsonOf, insertRaw } from "../../support/made/raw_bson.ts";
import { type EntityBody, mount, NOBODY } from "../../support/support.ts";

const { ObjectId } = mongoose.Types;

/** The two references of songs, in lists of all kinds. Lean reads show what is stored. */
async function shownOn(app: { read: (path: string) => Promise<unknown> }): Promise<unknown[]> {
  const paths = PATHS.filter((path) => path !== "/lean");
  const lists = [...paths, "/whole", "/whole-hooked"].map(async (path) => {
    const list = await app.read(`${path}?populate=lead,singers`) as EntityBody[];
    return list.map(({ lead, singers }) => ({ lead, singers }));
  });
  return await Promise.all(lists);
}

test("wrongly typed references show the same on every path", async () => {
  await using app = await mount([Song]);
  const [id = ""] = await put(Singer, { name: "Ann" });
  const ann = { _id: id, name: "Ann", __v: 0 };
  const _id = new ObjectId(id);
  const stored: [object, unknown][] = [
    [{}, { lead: undefined, singers: [] }],
    [{ lead: null, singers: null }, { lead: null, singers: null }],
    [{ lead: _id, singers: [null, _id] }, { lead: ann, singers: [ann] }],
    [{ lead: id, singers: [id, _id] }, { lead: ann, singers: [ann, ann] }],
    [{ lead: id.toUpperCase(), singers: _id }, { lead: ann, singers: [ann] }],
    [{ lead: _id, singers: [_id], name: { of: 1 } }, { lead: ann, singers: [ann] }],
    [{ lead: [_id], singers: [[_id]] }, undefined],
    [{ lead: { _id }, singers: [{ _id }] }, undefined],
    [{ lead: 5, singers: ["__proto__", "x", 5] }, undefined],
  ];
  await getModel(Song).collection.insertMany(stored.map(([each]) => each));
  const [first, ...others] = await shownOn(app) as unknown[][];
  for (const other of others) assertEquals(other, first);
  const expected = stored.map(([, each], index) => each ?? first?.[index]);
  assertEquals(first, expected);
});

test("a document with duplicate keys shows one of them", async () => {
  await using app = await mount([Song]);
  const [ann = "", bob = ""] = await put(Singer, { name: "Ann" }, { name: "Bob" });
  const idOf = (text: string) => Buffer.from(text, "hex");
  const document = bsonOf([
    [7, "_id", idOf(NOBODY)],
    [7, "lead", idOf(ann)],
    [7, "lead", idOf(bob)],
  ]);
  await insertRaw(app.database.uri, { collection: "songs", documents: [document] });
  for (const list of await shownOn(app) as EntityBody[][]) {
    assertEquals(list.map(({ lead }) => (lead as EntityBody).name), ["Bob"]);
  }
});

test("what a hook puts in the place of an identifier stays as it is", async () => {
  const put_: Record<string, unknown>[] = [];
  const populate = { lead: true, singers: true } as const;
  const replace = (_req: unknown, entity: object) => ({ ...entity, ...put_[0] });
  @rest({ route: "/changed", methods: [all({ populate, preSend: replace as never })] })
  class Changed extends Song {}
  await using app = await mount([Changed]);
  const [ann = ""] = await put(Singer, { name: "Ann" });
  await put(Changed, { lead: ann });
  const shown = { _id: ann, name: "Ann", __v: 0 };
  const cases: [Record<string, unknown>, unknown, unknown][] = [
    [{ lead: { a: 1 }, singers: [{ b: ann }, 5, "x", true, ann] }, { a: 1 }, [
      ...[{ b: ann }, 5, "x", true, shown],
    ]],
    [{ lead: "nobody", singers: "x" }, "nobody", "x"],
    [{ lead: [ann, [ann]], singers: ann }, [shown, [ann]], shown],
    [{ lead: new ObjectId(ann), singers: new Set([ann]) }, shown, [shown]],
    [{ lead: undefined, singers: null }, undefined, null],
    [{ lead: "__proto__", singers: ["constructor", NOBODY] }, "__proto__", ["constructor"]],
  ];
  for (const [given, lead, singers] of cases) {
    put_[0] = given;
    const [body] = await app.read<EntityBody[]>("/changed?populate=lead,singers");
    assertEquals([body?.lead, body?.singers], [lead, singers]);
  }
});

const IDS: [type: unknown, given: unknown, json: unknown, other: unknown][] = [
  [String, "ann", "ann", "__proto__"],
  [Number, 7, 7, 7.5],
  [BigInt, 2n ** 60n, String(2n ** 60n), 1n],
  [mongoose.Types.UUID, "c4c7e9d0-0b6f-4a7e-8f0a-1d2b3c4d5e6f", undefined, crypto.randomUUID()],
  [Buffer, Buffer.from([1, 2, 255]), "AQL/", Buffer.from([1])],
  [mongoose.Types.Decimal128, "1.50", "1.50", "1.5001"],
];

/** Makes a class whose identifiers have a type, and one that refers to it. */
function referBy(type: unknown): [ModelClass, ModelClass] {
  class Target extends FrameworkModel {
    @prop()
    name?: string;
    static override configure(schema: mongoose.Schema): void {
      schema.add({ _id: type } as never);
    }
  }
  const populate = { to: { always: true }, all: { always: true } };
  @rest({ route: "/plain", methods: [all({ populate })] })
  @rest({ route: "/hooked", methods: [all({ populate, postFetch: pass })] })
  class Holder extends FrameworkModel {
    @prop({ ref: Target, type } as never)
    to?: string;
    @arrayProp({ items: type, ref: Target } as never)
    all?: string[];
  }
  return [Target, Holder];
}

for (const [type, given, json = given, other] of IDS) {
  test(`identifiers of type ${(type as { name: string }).name} name entities`, async () => {
    const [Target, Holder] = referBy(type);
    await using app = await mount([Holder]);
    await getModel(Target).create({ _id: given, name: "Ann" } as never);
    await getModel(Holder).create({ to: given, all: [other, given, given] } as never);
    await getModel(Holder).create({ to: other } as never);
    const shown = { _id: json, name: "Ann", __v: 0 };
    for (const path of ["/plain", "/hooked"]) {
      const list = await app.read<EntityBody[]>(path);
      assertEquals(list.map(({ to }) => to), [shown, null]);
      assertEquals(list[0]?.all, [shown, shown]);
    }
  });
}

test("entities of kinds that discriminators tell apart are shown as their one() shows them", async () => {
  @rest({ route: "/owners", methods: [all({ populate: { pet: { always: true } } })] })
  class Owner extends FrameworkModel {
    @prop({ ref: () => Pet })
    pet?: Ref<Pet>;
  }
  @rest({ route: "/pets", methods: [one()] })
  class Pet extends FrameworkModel {
    @prop()
    name?: string;
  }
  const kind = new mongoose.Schema({ secret: { type: String, hidden: true } as never });
  const Dog = getModel(Pet).discriminator("PopulatedDog", kind) as unknown as mongoose.Model<
    unknown
  >;
  await using app = await mount([Owner, Pet]);
  const dog = new Dog({ name: "Rex", secret: "s" });
  await dog.save();
  const [cat = ""] = await put(Pet, { name: "Tom" });
  await put(Owner, { pet: dog._id }, { pet: cat });
  const shown = (await app.read<EntityBody[]>("/owners")).map(({ pet }) => pet);
  assertEquals<unknown[]>(shown, [
    await app.read(`/pets/${dog._id}`),
    await app.read(`/pets/${cat}`),
  ]);
  assertEquals((shown[0] as EntityBody).secret, undefined);
});

class Inner extends FrameworkModel {
  @prop({ ref: Singer })
  lead?: Ref<Singer>;
}

const LEAD = { lead: true } as const;

@rest({ route: "/plain", methods: [all({ populate: LEAD })] })
@rest({ route: "/hooked", methods: [all({ populate: LEAD, postFetch: pass })] })
class Outer extends Inner {
  @prop({ type: Inner })
  inner?: Inner;
  @arrayProp({ items: Inner, embedded: true })
  others?: Inner[];
}

test("a reference of the same name in what an entity embeds stays an identifier", async () => {
  await using app = await mount([Outer]);
  const [lead = ""] = await put(Singer, { name: "Ann" });
  const _id = NOBODY;
  const inner = { _id, lead };
  await put(Outer, { _id, lead, inner, others: [inner] });
  for (const path of ["/plain", "/hooked"]) {
    const shown = { _id: lead, name: "Ann", __v: 0 };
    const list = await app.read<EntityBody[]>(`${path}?populate=lead`);
    assertEquals<unknown>(list, [{ _id, lead: shown, inner, others: [inner], __v: 0 }]);
  }
});

test("a default names an entity as well", async () => {
  const [lead = ""] = [new ObjectId().toHexString()];
  @rest({ route: "/plain", methods: [all({ populate: LEAD })] })
  @rest({ route: "/hooked", methods: [all({ populate: LEAD, postFetch: pass })] })
  class Led extends FrameworkModel {
    @prop({ ref: Singer, default: lead as never })
    lead?: Ref<Singer>;
  }
  await using app = await mount([Led]);
  await put(Singer, { _id: lead, name: "Ann" });
  await getModel(Led).collection.insertOne({});
  for (const path of ["/plain", "/hooked"]) {
    const list = await app.read<EntityBody[]>(`${path}?populate=lead`);
    assertEquals(list.map((each) => (each.lead as EntityBody).name), ["Ann"]);
    assertEquals((await app.read<EntityBody[]>(path))[0]?.lead, lead);
  }
});

test("a list of many is populated some at a time", async () => {
  await using app = await mount([Song]);
  const singers = await put(Singer, ...Array.from({ length: 300 }, (_, name) => ({ name })));
  await put(Song, ...singers.map((lead, index) => ({ name: `s${index}`, lead })));
  for (const path of ["/whole", "/whole-hooked"]) {
    const list = await app.read<EntityBody[]>(`${path}?populate=lead`);
    const names = list.map(({ name, lead }) => [name, (lead as EntityBody).name]);
    assertEquals(names, singers.map((_, index) => [`s${index}`, String(index)]));
  }
});
