import { assert, assertEquals, assertInstanceOf, assertThrows } from "@std/assert";
import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  create,
  type Entity,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type QueryObject,
  remove,
  removeAll,
  rest,
  update,
} from "../../mod.ts";
import { Named } from "../fixtures/named.ts";
import { type Given, giving, takeGiven } from "../support/given.ts";
import { test } from "../harness/testing.ts";
import { type EntityBody, mount, type Mounted } from "../support/support.ts";

const { Types } = mongoose;

class Part extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Number, default: 7 })
  size?: number;
  @prop({ hidden: true })
  secret?: string;
  get label(): string {
    return `${this.name}/${this.size}`;
  }
}

/** What the hooks have seen. */
const seen: Whole[] = [];

const hooks = {
  lean: true,
  preFetch: takeGiven,
  preSend: (_req: FrameworkRequest, whole: Whole) => {
    seen.push(whole);
    return whole;
  },
} as const;

@rest({ route: "/lean", methods: [all(hooks), one(hooks)] })
@rest({
  route: "/wholes",
  methods: [
    all({
      preFetch: takeGiven,
      preSend: (_req: FrameworkRequest, whole: Entity<Whole>) => whole,
    }),
  ],
})
class Whole extends FrameworkModel {
  @prop({ default: "none" })
  name?: string;
  @prop({ type: BigInt })
  big?: bigint;
  @prop({ type: Buffer })
  bytes?: Buffer;
  @prop({ type: Date })
  date?: Date;
  @prop({ type: Types.Decimal128 })
  price?: mongoose.Types.Decimal128;
  @prop({ type: Types.UUID })
  uuid?: mongoose.Types.UUID;
  @prop({ type: Map, of: Part })
  named?: Map<string, unknown>;
  @prop({ type: Map, of: BigInt })
  bigs?: Map<string, unknown>;
  @prop({ type: Part })
  part?: Part;
  @arrayProp({ items: Part, embedded: true })
  parts?: Part[];
  @arrayProp({ items: String })
  tags?: string[];
  @prop({ type: Object })
  free?: Record<string, unknown>;
  @prop({ hidden: true })
  secret?: string;
  @prop({ select: false, default: "unselected" })
  unselected?: string;
  @prop({ type: Number, default: null })
  none?: number | null;
  @prop({ type: Number, default: () => 5 })
  computed?: number;
  @prop({ type: Part, default: () => ({ name: "made" }) as Part })
  made?: Part;

  get title(): string {
    return `<${this.name}>`;
  }
  set title(value: string) {
    this.name = value.slice(1, -1);
  }
  count(): number {
    return this.tags?.length ?? -1;
  }
}

/** Stores a document past Mongoose and gives what a lean hook sees of it, and what is answered. */
async function leanOf(app: Mounted, values: Record<string, unknown>, given: Given = {}) {
  await getModel(Whole).collection.deleteMany({});
  await getModel(Whole).collection.insertOne({ ...values } as never);
  seen.length = 0;
  const { status, body, text } = await app.get<EntityBody[]>("/lean", giving(given));
  assertEquals([status, seen.length], [200, 1], text);
  return { whole: seen[0] as Whole, body: body[0] as EntityBody, text };
}

test("lean gives instances of the class, whose methods, getters and setters work", async () => {
  await using app = await mount([Whole]);
  const { whole } = await leanOf(app, { name: "x", tags: ["a", "b"] });
  assertInstanceOf(whole, Whole);
  assertEquals(whole instanceof mongoose.Document, false);
  assertEquals([whole.title, whole.count()], ["<x>", 2]);
  whole.title = "<y>";
  assertEquals(whole.name, "y");
  assertEquals(Object.hasOwn(whole, "title"), false);
});

test("lean gives instances of embedded classes, in arrays and maps too", async () => {
  await using app = await mount([Whole]);
  const stored = { name: "p", secret: "s", undeclared: 1 };
  const values = { part: stored, parts: [stored, null], named: { k: stored } };
  const { whole } = await leanOf(app, values);
  const named = whole.named?.get("k") as Part;
  for (const part of [whole.part, whole.parts?.[0], named]) {
    assertInstanceOf(part, Part);
    assertEquals([part.label, part.secret, "undeclared" in part], ["p/7", "s", false]);
  }
  assertEquals([whole.parts?.length, whole.parts?.[1]], [2, null as never]);
});

test("lean gives values in the forms that the fields are declared in", async () => {
  await using app = await mount([Whole]);
  const uuid = new Types.UUID();
  const values = {
    big: mongoose.mongo.Long.fromString("9007199254740993"),
    bytes: new mongoose.mongo.Binary(Buffer.from("hi")),
    date: new Date(5),
    price: Types.Decimal128.fromString("1.50"),
    uuid,
    bigs: { a: 1, b: mongoose.mongo.Long.fromString("-9007199254740993") },
  };
  const { whole, body } = await leanOf(app, values);
  assertEquals([whole.big, whole.date], [9007199254740993n, new Date(5)]);
  assert(Buffer.isBuffer(whole.bytes));
  assertEquals([whole.bytes.length, whole.bytes.toString()], [2, "hi"]);
  assertEquals([String(whole.price), String(whole.uuid)], ["1.50", String(uuid)]);
  assertEquals([...whole.bigs ?? []], [["a", 1n], ["b", -9007199254740993n]]);
  assertInstanceOf(whole._id, Types.ObjectId);
  assertEquals(body.big, "9007199254740993");
  assertEquals([body.bytes, body.date, body.price], ["aGk=", "1970-01-01T00:00:00.005Z", "1.50"]);
  assertEquals(body.bigs, { a: 1, b: "-9007199254740993" });
});

test("lean gives only the bytes of the field when the driver gives buffers", async () => {
  await using app = await mount([Whole]);
  await mongoose.disconnect();
  await mongoose.connect(app.database.uri, { promoteBuffers: true });
  const values = { secret: "SECRET", bytes: new mongoose.mongo.Binary(Buffer.from("hi")) };
  const { whole, body } = await leanOf(app, values);
  assertEquals([whole.bytes?.toString(), body.bytes], ["hi", "aGk="]);
});

test("lean puts defaults where nothing is stored", async () => {
  await using app = await mount([Whole]);
  const { whole, body } = await leanOf(app, {});
  assertEquals([whole.name, whole.none, whole.computed, whole.tags], ["none", null, 5, []]);
  assertInstanceOf(whole.made, Part);
  assertEquals([whole.made.label, whole.big, whole.part], ["made/7", undefined, undefined]);
  assertEquals("unselected" in whole, false);
  const plain = await app.get<EntityBody[]>("/wholes");
  const { made: _made, ...expected } = plain.body[0] as EntityBody;
  const { made, ...shown } = body;
  assertEquals(shown, expected);
  assertEquals(made, { name: "made", size: 7 });
});

test("lean shows nothing that is hidden, undeclared or not selected", async () => {
  await using app = await mount([Whole]);
  const part = { name: "p", secret: "SECRET", undeclared: "SECRET" };
  const { whole, text } = await leanOf(app, {
    secret: "SECRET",
    unselected: "SECRET",
    undeclared: "SECRET",
    title: "SECRET",
    part,
    parts: [part],
    named: { k: part },
    name: { deep: "SECRET" },
    tags: [{ deep: "SECRET" }],
  });
  assertEquals(whole.secret, "SECRET");
  assertEquals(text.includes("SECRET"), false);
});

test("lean puts no default where the projection shows nothing", async () => {
  await using app = await mount([Whole]);
  const values = { name: "x", tags: ["a"], part: { name: "p" }, unselected: "u" };
  const cases: [QueryObject, string[]][] = [
    [{ name: 1 }, ["_id", "name"]],
    [{ tags: 1, _id: 0 }, ["tags"]],
    [{ "part.name": 1, _id: 0 }, ["part"]],
    [{ unselected: 1 }, ["_id", "unselected"]],
  ];
  for (const [projection, names] of cases) {
    const { body } = await leanOf(app, values, { projection });
    assertEquals(Object.keys(body).sort(), names, JSON.stringify(projection));
    if ("part" in body) assertEquals(body.part, { name: "p" });
  }
  const { body } = await leanOf(app, values, { projection: { name: 0, tags: 0 } });
  assertEquals(["name" in body, "tags" in body, body.none], [false, false, null]);
  const more = await leanOf(app, {}, { projection: { "+unselected": true } });
  assertEquals(more.body.unselected, "unselected");
});

test("lean shows nothing undeclared of objects that stand in the place of something else", async () => {
  await using app = await mount([Whole]);
  const part = { name: "p", secret: "SECRET", undeclared: "SECRET" };
  const fields = ["name", "big", "part", "parts", "tags", "made", "none"];
  const inner = [[part], [[part]], { k: part }, { k: [part] }];
  for (const value of [part, ...inner]) {
    const values = Object.fromEntries(fields.map((field) => [field, value]));
    if (inner.includes(value as never)) Object.assign(values, { named: value, bigs: value });
    assertEquals((await leanOf(app, values)).text.includes("SECRET"), false);
  }
});

test("lean lets no wrongly typed value break a list", async () => {
  await using app = await mount([Whole]);
  const wrong = ["x", 5, 1.5, true, null, [], [1], {}, { a: 1 }, new Date(0), /x/];
  const fields = [
    "name",
    "big",
    "bytes",
    "date",
    "price",
    "uuid",
    "named",
    "bigs",
    "part",
    "parts",
    "tags",
    "made",
    "computed",
  ];
  const documents = fields.flatMap((field) => wrong.map((value) => ({ [field]: value })));
  await getModel(Whole).collection.insertMany(documents as never[]);
  const { status, body } = await app.get<EntityBody[]>("/lean");
  assertEquals([status, body.length], [200, documents.length]);
});

test("lean gives one entity, and keeps what hooks say of it", async () => {
  @rest({
    route: "/pets",
    methods: [
      one({ lean: true, postFetch: (_req: FrameworkRequest, pet: Pet) => pet.loud() ? pet : null }),
      all({ lean: true, preSend: (_req: FrameworkRequest, pet: Pet) => ({ loud: pet.loud() }) }),
    ],
  })
  class Pet extends FrameworkModel {
    @prop()
    sound?: string;
    loud(): boolean {
      return this.sound === this.sound?.toUpperCase();
    }
  }
  await using app = await mount([Pet]);
  const [loud, quiet] = await getModel(Pet).create([{ sound: "WOOF" }, { sound: "woof" }], {
    ordered: true,
  });
  const found = await app.get<EntityBody>(`/pets/${loud?._id}`);
  assertEquals([found.status, found.body.sound], [200, "WOOF"]);
  assertEquals((await app.get(`/pets/${quiet?._id}`)).status, 404);
  assertEquals((await app.get("/pets")).body, [{ loud: true }, { loud: false }]);
});

/** What the hooks of chapters have seen. */
const chaptersSeen: Chapter[] = [];

const keepChapter = (_req: FrameworkRequest, chapter: Chapter) => {
  chaptersSeen.push(chapter);
  return chapter;
};

class Chapter extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ select: false, default: "d" })
  unselected?: string;
  @prop({ hidden: true })
  secret?: string;
  get length(): number {
    return this.name?.length ?? 0;
  }
}

@rest({ route: "/books", methods: [one()] })
class Book extends FrameworkModel {
  @rest({
    methods: [all({ lean: true, preSend: keepChapter }), one({ lean: true, preSend: keepChapter })],
  })
  @arrayProp({ items: Chapter, embedded: true, apart: false })
  chapters?: Chapter[];
}

test("lean gives what a sub-resource embeds as instances, without what is not selected", async () => {
  await using app = await mount([Book]);
  const chapters = [{ name: "abc", secret: "s", unselected: "u" }];
  const book = await getModel(Book).create({ chapters } as never) as unknown as Entity<Book>;
  const path = `/books/${book._id}/chapters`;
  const { body } = await app.get<EntityBody[]>(path);
  const single = await app.get(`${path}/${body[0]?._id}`);
  assertEquals([body, single.body], [[{ _id: body[0]?._id, name: "abc" }] as never, body[0]]);
  for (const chapter of chaptersSeen) {
    assertInstanceOf(chapter, Chapter);
    assertEquals([chapter.length, chapter.secret], [3, "s"]);
  }
  assertEquals(chaptersSeen.length, 2);
});

test("Framework.initialize() refuses lean where documents are written", () => {
  for (const operation of [create, update, remove, removeAll]) {
    @rest({ route: "/x", methods: [operation({ lean: true })] as never[] })
    class Wrong extends Named {}
    const act = () => Framework.initialize({ models: [Wrong] });
    assertThrows(act, TypeError, 'Cannot mount "Wrong"');
  }
});

test("Framework.initialize() refuses lean where the model shows other values than are stored", () => {
  const transform = (text: string) => text.slice(-2);
  class Card extends FrameworkModel {
    @prop({ transform })
    number?: string;
  }
  class Masked extends Card {}
  class Wallet extends FrameworkModel {
    @arrayProp({ items: Card, embedded: true })
    cards?: Card[];
  }
  class Loud extends Named {
    static override schemaOptions = { toJSON: { getters: true } };
  }
  class Shaped extends Named {
    static override schemaOptions = { toJSON: { transform: () => ({}) } };
  }
  const bases: readonly (new () => FrameworkModel)[] = [Masked, Wallet, Loud, Shaped];
  for (const base of bases) {
    for (const operation of [all, one]) {
      @rest({ route: "/x", methods: [operation({ lean: true })] as never[] })
      class Wrong extends base {}
      const act = () => Framework.initialize({ models: [Wrong] });
      assertThrows(act, TypeError, "() cannot be lean, because the model shows other values");
    }
  }
});

test("all() takes hooks of instances only with lean, and of documents only without", () => {
  class Film extends FrameworkModel {
    @prop()
    name?: string;
    loud(): string {
      return `${this.name}!`;
    }
  }
  const document = (_req: FrameworkRequest, film: Entity<Film>) => film;
  const instance = (_req: FrameworkRequest, film: Film) => film;
  const accept = (_methods: readonly unknown[]) => {};
  accept([all<Film>({ lean: true, preSend: instance }), all<Film>({ preSend: document })]);
  accept([one<Film>({ lean: true, postFetch: (_req, film) => film.loud() ? film : null })]);
  accept([one<Film>({ postFetch: (_req, film) => film.isModified() ? film : null })]);
  // @ts-expect-error -- documents have members that instances do not have
  accept([all<Film>({ lean: true, preSend: document })]);
  // @ts-expect-error -- an instance has no such member
  accept([all<Film>({ lean: true, preSend: (_req, film) => film.isModified() ? film : null })]);

  // @ts-expect-error -- the class is held against the hooks: under lean they get no document
  @rest({ route: "/films", methods: [all({ lean: true, preSend: document })] })
  class Other extends FrameworkModel {
    @prop()
    name?: string;
    loud(): string {
      return "";
    }
  }
  assertEquals([typeof Film, typeof Other], ["function", "function"]);
});
