import { assert, assertEquals, assertMatch } from "@std/assert";
import mongoose, { Schema, type SchemaOptions, Types } from "mongoose";
import {
  all,
  arrayProp,
  create,
  type Entity,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  type ModelClass,
  one,
  prop,
  type Ref,
  removeAll,
  rest,
  update,
} from "../mod.ts";
import { Movie } from "./fixtures/movie.ts";
import { Actor } from "./fixtures/actor.ts";
import { Writer } from "./fixtures/writer.ts";
import { Book } from "./fixtures/book.ts";
import { request } from "./harness/request.ts";
import { test } from "./harness/testing.ts";
import { mount } from "./support.ts";

type Json = Record<string, unknown>;

/** Sends a POST, expects 201, and gives the answer. */
async function post(url: string, body: unknown): Promise<Json & { _id: string }> {
  const reply = await request<Json & { _id: string }>(url, { method: "POST", body });
  assertEquals(reply.status, 201, reply.text);
  return reply.body;
}

/** Sends a PATCH, expects 200, and gives the answer. */
async function patch(url: string, body: unknown): Promise<Json> {
  const reply = await request<Json>(url, { method: "PATCH", body });
  assertEquals(reply.status, 200, reply.text);
  return reply.body;
}

/** Sends a GET, expects 200, and gives the answer. */
async function get<Body = Json>(url: string): Promise<Body> {
  const reply = await request<Body>(url);
  assertEquals(reply.status, 200, reply.text);
  return reply.body;
}

// Fields: their types and defaults

enum Genre {
  Comedy = "comedy",
  Drama = "drama",
}
enum Level {
  Low = 1,
  High = 10,
  Below = -1,
}

class Address extends FrameworkModel {
  @prop({ required: true })
  street!: string;
  @prop({ hidden: true })
  code?: string;
}

@rest({ route: "/kinds", methods: [all(), one(), create(), update()] })
class Kind extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ type: Number })
  number?: number;
  @prop({ type: Boolean })
  flag?: boolean;
  @prop({ type: Date })
  at?: Date;
  @prop({ type: Types.ObjectId })
  id1?: Types.ObjectId;
  @prop({ type: Schema.Types.ObjectId })
  id2?: string;
  @prop({ type: Object })
  free?: object;
  @prop({ type: Schema.Types.Mixed })
  mixed?: object;
  @prop({ type: Map, of: Number })
  map?: Map<string, number>;
  @prop({ type: Address })
  address?: Address;
  @prop({ type: () => Address })
  second?: Address;
  @prop()
  type?: string;
  @arrayProp({ items: Number })
  numbers?: number[];
  @arrayProp({ items: Date })
  dates?: Date[];
  @arrayProp({ items: Object })
  frees?: object[];
  @arrayProp({ items: () => Address, embedded: true })
  addresses?: Address[];
}

test("prop() stores each type as what it says", async () => {
  await using app = await mount([Kind]);
  const body = {
    text: "a",
    number: 1.5,
    flag: false,
    at: "2020-01-02T03:04:05.678Z",
    id1: "0123456789abcdef01234567",
    id2: "0123456789abcdef01234568",
    free: { a: [1, { b: null }], c: "d", e: null },
    mixed: { x: true },
    map: { a: 1, b: 2 },
    type: "t",
    numbers: [1, 2],
    dates: ["2020-01-02T00:00:00.000Z"],
    frees: [{ a: 1 }, { b: 2 }],
  };
  const { _id, ...created } = await post(`${app.url}/kinds`, body);
  const free = { a: [1, { b: null }], c: "d" };
  assertEquals(created, { ...body, free, addresses: [], __v: 0 });
  assertEquals(await get(`${app.url}/kinds/${_id}`), { _id, ...created });
  const stored = await getModel(Kind).collection.findOne();
  assert(stored?.at instanceof Date && stored.dates[0] instanceof Date);
  assert(stored.id1 instanceof Types.ObjectId && stored.id2 instanceof Types.ObjectId);
  assertEquals([typeof stored.number, stored.flag, stored.map], ["number", false, body.map]);
});

test("prop() casts what JSON says to the type, and refuses what cannot be one", async () => {
  await using app = await mount([Kind]);
  const { text, number } = await post(`${app.url}/kinds`, { text: 5, number: "7" });
  assertEquals([text, number], ["5", 7]);
  const bad = { number: "x", flag: "maybe", at: "never", id1: "1", map: 1, address: "a" };
  const reply = await request<{ code: string; errors: Json }>(`${app.url}/kinds`, {
    method: "POST",
    body: { ...bad, numbers: [1, "x"], text: {} },
  });
  assertEquals([reply.status, reply.body.code], [400, "BAD_DATA"]);
  const paths = [...Object.keys(bad), "numbers.1", "text"].sort();
  assertEquals(Object.keys(reply.body.errors).sort(), paths);
});

test("prop() embeds a model, given as a class or as a thunk", async () => {
  await using app = await mount([Kind]);
  const address = { street: "a" };
  const made = await post(`${app.url}/kinds`, {
    address,
    second: { street: "b", other: 1 },
    addresses: [address],
  });
  const street = (value: unknown) => {
    const { _id, ...others } = value as Json;
    assertMatch(String(_id), /^[0-9a-f]{24}$/);
    return others;
  };
  assertEquals(street(made.address), address);
  assertEquals(street(made.second), { street: "b" });
  assertEquals((made.addresses as unknown[]).map(street), [address]);
  const reply = await request<{ errors: Json }>(`${app.url}/kinds`, {
    method: "POST",
    body: { address: {}, addresses: [{}] },
  });
  assertEquals(Object.keys(reply.body.errors).sort(), ["address.street", "addresses.0.street"]);
});

test("prop() keeps an empty object, as the answer says", async () => {
  await using app = await mount([Kind]);
  const made = await post(`${app.url}/kinds`, { free: {}, map: {} });
  assertEquals([made.free, made.map], [{}, {}]);
  assertEquals(await get(`${app.url}/kinds/${made._id}`), made);
  assertEquals(await get<Json[]>(`${app.url}/kinds`), [made]);
});

test("arrayProp() gives [] for what is not supplied, in the answer and in the database", async () => {
  await using app = await mount([Kind]);
  const { _id: _, __v: __, ...made } = await post(`${app.url}/kinds`, {});
  assertEquals(made, { numbers: [], dates: [], frees: [], addresses: [] });
  assertEquals((await getModel(Kind).collection.findOne())?.numbers, []);
});

@rest({ route: "/defaults", methods: [create(), update()] })
class Default extends FrameworkModel {
  @prop({ default: "a" })
  text!: string;
  @prop({ default: 5 })
  number!: number;
  @prop({ default: 0 })
  zero!: number;
  @prop({ default: false })
  flag!: boolean;
  @prop({ default: 5n })
  big!: bigint;
  @prop({ default: new Date(0) })
  at!: Date;
  @prop({ type: Date, default: Date.now })
  now!: Date;
  @prop({ type: Number, default: () => 7 })
  made!: number;
  @prop({ type: Object, default: () => ({ a: 1 }) })
  free!: object;
  @prop({ default: null })
  none!: string | null;
  @arrayProp({ items: String, default: ["x"] })
  tags!: string[];
}

test("prop() takes the type from the default, and the default where nothing is supplied", async () => {
  await using app = await mount([Default]);
  const { _id, now, ...made } = await post(`${app.url}/defaults`, {});
  assert(Math.abs(Date.parse(String(now)) - Date.now()) < 60_000);
  assertEquals(made, {
    __v: 0,
    text: "a",
    number: 5,
    zero: 0,
    flag: false,
    big: 5,
    at: "1970-01-01T00:00:00.000Z",
    made: 7,
    free: { a: 1 },
    none: null,
    tags: ["x"],
  });
  const changed = await patch(`${app.url}/defaults/${_id}`, { number: "6", flag: true, tags: [] });
  assertEquals([changed.number, changed.flag, changed.tags], [6, true, []]);
  const reply = await request(`${app.url}/defaults`, { method: "POST", body: { number: "x" } });
  assertEquals(reply.status, 400);
});

test("prop() gives each entity a default of its own", async () => {
  await using app = await mount([Default]);
  const { _id } = await post(`${app.url}/defaults`, {});
  await patch(`${app.url}/defaults/${_id}`, { free: { b: 2 }, tags: ["y"] });
  const { free, tags } = await post(`${app.url}/defaults`, {});
  assertEquals([free, tags], [{ a: 1 }, ["x"]]);
});

@rest({ route: "/enums", methods: [create()] })
class Enum extends FrameworkModel {
  @prop({ enum: Genre })
  genre?: Genre;
  @prop({ type: Number, enum: Level })
  level?: Level;
  @prop({ enum: ["a", "b"] })
  letter?: "a" | "b";
  @prop({ enum: { values: ["c"], message: "Only c" } })
  only?: string;
  @arrayProp({ items: String, enum: Genre })
  genres?: Genre[];
  @arrayProp({ items: Number, enum: [1, 2] })
  numbers?: number[];
}

test("prop() takes a list or a TypeScript enum, whose names are no values", async () => {
  await using app = await mount([Enum]);
  const good = { genre: "comedy", level: 10, letter: "a", genres: ["drama"], numbers: [2] };
  const { _id: _, __v: __, ...made } = await post(`${app.url}/enums`, good);
  assertEquals(made, good);
  await post(`${app.url}/enums`, { level: -1 });
  const bad = { genre: "Comedy", level: 5, letter: "c", genres: ["Drama"], only: "d" };
  const reply = await request<{ errors: Record<string, Json> }>(`${app.url}/enums`, {
    method: "POST",
    body: { ...bad, numbers: [1, 3] },
  });
  const { errors } = reply.body;
  const paths = ["genre", "genres.0", "letter", "level", "numbers.1", "only"];
  assertEquals(Object.keys(errors).sort(), paths);
  assertEquals(errors.only, { message: "Only c", kind: "enum" });
});

@rest({ route: "/validated", methods: [create(), update()] })
class Validated extends FrameworkModel {
  @prop({ required: [true, "Name it"], trim: true, lowercase: true, minLength: 2, maxLength: 5 })
  name!: string;
  @prop({ type: Number, min: 1, max: [9, "Too big"] })
  number?: number;
  @prop({ match: /^a/ })
  match?: string;
  @prop({ type: Number, validate: (value: number) => value % 2 === 0 })
  even?: number;
  @prop({
    validate: { validator: (value: string) => Promise.resolve(value === "x"), message: "No x" },
  })
  later?: string;
  @arrayProp({ items: String, uppercase: true, minLength: 2, validate: (list) => list.length < 3 })
  tags?: string[];
  @prop({ immutable: true })
  fixed?: string;
  @prop({ uppercase: true, alias: "nick" })
  up?: string;
}

test("prop() passes Mongoose's validators and setters through", async () => {
  await using app = await mount([Validated]);
  const made = await post(`${app.url}/validated`, { name: " AB ", tags: ["xy"], up: "q" });
  assertEquals([made.name, made.tags, made.up], ["ab", ["XY"], "Q"]);
  const body = {
    name: " ",
    number: 10,
    match: "b",
    even: 1,
    later: "y",
    tags: ["a", "bb", "cc"],
  };
  const reply = await request<{ errors: Record<string, Json> }>(`${app.url}/validated`, {
    method: "POST",
    body,
  });
  const { errors } = reply.body;
  const messages = [errors.name?.message, errors.number?.message, errors.later?.message];
  assertEquals(messages, ["Name it", "Too big", "No x"]);
  const kinds = ["name", "number", "match", "even", "later", "tags", "tags.0"];
  assertEquals(Object.keys(errors).sort(), kinds.sort());
});

test("prop() holds an update to the same validators, and an immutable field to its value", async () => {
  await using app = await mount([Validated]);
  const { _id } = await post(`${app.url}/validated`, { name: "abc", fixed: "a" });
  const url = `${app.url}/validated/${_id}`;
  const changed = await patch(url, { fixed: "b", number: 2 });
  assertEquals([changed.fixed, changed.number], ["a", 2]);
  for (const body of [{ name: null }, { number: 0 }, { tags: ["a"] }, { even: 3 }]) {
    assertEquals((await request(url, { method: "PATCH", body })).status, 400);
  }
});

// Inheritance

abstract class Owned extends FrameworkModel {
  static override schemaOptions = { timestamps: true } as SchemaOptions;
  static limit = 3;
  @prop({ required: true })
  owner!: string;
  @prop()
  title?: string;
  greet(): string {
    return `I am ${this.owner}`;
  }
  get label(): string {
    return `${this.title} of ${this.owner}`;
  }
  set label(text: string) {
    [this.title = "", this.owner = ""] = text.split(" of ");
  }
  static describe(): string {
    return `at most ${this.limit}`;
  }
  static get double(): number {
    return 2 * this.limit;
  }
}

// deno-lint-ignore no-explicit-any -- the compiler asks for it in mixins
function Tagged<B extends abstract new (...args: any[]) => FrameworkModel>(Base: B) {
  abstract class Mixin extends Base {
    @arrayProp({ items: String })
    tags?: string[];
    countTags(): number {
      return this.tags?.length ?? 0;
    }
  }
  return Mixin;
}

const show = (_req: FrameworkRequest, note: Entity<Note>) => ({
  ...note.toObject(),
  greeting: note.greet(),
  label: note.label,
  count: note.countTags(),
});

@rest({ route: "/notes", methods: [all(), create({ preSend: show })] })
class Note extends Tagged(Owned) {
  static override limit = 5;
  @prop({ type: Number, default: 1 })
  override title = undefined as never;
  override greet(): string {
    return `${super.greet()}!`;
  }
}

@rest({ route: "/memos", methods: [all(), create()] })
class Memo extends Owned {}

test("FrameworkModel passes fields, options and members on to subclasses, mixins included", async () => {
  await using app = await mount([Note, Memo]);
  const made = await post(`${app.url}/notes`, { owner: "Ada", title: "7", tags: ["a", "b"] });
  assertEquals([made.owner, made.title, made.tags], ["Ada", 7, ["a", "b"]]);
  assertEquals([made.greeting, made.label, made.count], ["I am Ada!", "7 of Ada", 2]);
  assert("createdAt" in made && "updatedAt" in made);
  const memo = await post(`${app.url}/memos`, { owner: "Bob", title: "x", tags: ["a"] });
  assertEquals([memo.title, "tags" in memo, "createdAt" in memo], ["x", false, true]);
  const missing = await request(`${app.url}/memos`, { method: "POST", body: {} });
  assertEquals(missing.status, 400);
});

test("FrameworkModel has its methods, getters, setters and statics on documents and models", () => {
  const NoteModel = getModel(Note);
  const MemoModel = getModel(Memo);
  const memo = new MemoModel({ owner: "Ada" });
  memo.label = "Novel of Bob";
  assertEquals([memo.title, memo.owner, memo.label], ["Novel", "Bob", "Novel of Bob"]);
  assertEquals([NoteModel.describe(), MemoModel.describe()], ["at most 5", "at most 3"]);
  assertEquals([NoteModel.double, MemoModel.double], [10, 6]);
  assertEquals(memo.greet(), "I am Bob");
});

test("FrameworkModel lets a subclass replace a getter and a setter: the parent's do not run", () => {
  const calls: string[] = [];
  class Parent extends FrameworkModel {
    @prop()
    name?: string;
    get shown(): string {
      calls.push("parent get");
      return "parent";
    }
    set shown(name: string) {
      calls.push("parent set");
      this.name = name;
    }
  }
  class Child extends Parent {
    override get shown(): string {
      return `child ${this.name}`;
    }
    override set shown(name: string) {
      this.name = `<${name}>`;
    }
  }
  const doc = new (getModel(Child))();
  doc.shown = "a";
  assertEquals([doc.shown, doc.name, calls], ["child <a>", "<a>", []]);
});

class Base extends FrameworkModel {
  @prop({ required: true, hidden: true })
  first!: string;
  @prop()
  second?: string;
}
@rest({ route: "/plain-children", methods: [create()] })
class PlainChild extends Base {}
@rest({ route: "/redeclared", methods: [create()] })
class Redeclared extends Base {
  @prop()
  override first = "";
  @arrayProp({ items: Number })
  third?: number[];
}
@rest({ route: "/bases", methods: [create(), all()] })
class RoutedBase extends Base {}
@rest({ route: "/grandchildren", methods: [create(), all()] })
class Grandchild extends RoutedBase {
  @prop()
  own?: string;
}

test("prop() on a subclass replaces the field, and leaves the parent and its other children alone", async () => {
  await using app = await mount([PlainChild, Redeclared]);
  const made = await post(`${app.url}/redeclared`, { second: "b" });
  assertEquals([made.first, made.second, made.third], [undefined, "b", []]);
  assertEquals((await post(`${app.url}/redeclared`, { first: "a" })).first, "a");
  const child = await post(`${app.url}/plain-children`, { first: "a", third: [1] });
  assertEquals(["first" in child, "third" in child], [false, false]);
  const missing = await request(`${app.url}/plain-children`, { method: "POST", body: {} });
  assertEquals(missing.status, 400);
});

test("rest() on a subclass makes a model of its own, with a collection of its own", async () => {
  await using app = await mount([RoutedBase, Grandchild]);
  await post(`${app.url}/bases`, { first: "a", own: "x" });
  const child = await post(`${app.url}/grandchildren`, { first: "b", own: "y" });
  assertEquals(child.own, "y");
  assertEquals((await get<Json[]>(`${app.url}/bases`)).length, 1);
  assertEquals((await get<Json[]>(`${app.url}/grandchildren`)).map(({ own }) => own), ["y"]);
  assertEquals((await get<Json[]>(`${app.url}/bases`))[0]?.own, undefined);
});

class Stored extends FrameworkModel {
  static override schemaOptions: SchemaOptions = { collection: "stored_parents" };
  @prop()
  name?: string;
}
class StoredChild extends Stored {}

test("schemaOptions.collection names the collection of its class, not of a subclass", () => {
  assertEquals(getModel(Stored).collection.name, "stored_parents");
  assertEquals(getModel(StoredChild).collection.name, "storedchildren");
});

test("getModel() names the collection by Mongoose's plural of the class name", () => {
  assertEquals(getModel(Grandchild).collection.name, mongoose.pluralize()?.("Grandchild"));
  assertEquals(getModel(Address).collection.name, "addresses");
});

// Schema options and configure()

let configured = 0;

@rest({
  route: "/stamped",
  methods: [all(), create(), update()],
  schemaOptions: { timestamps: { createdAt: "born" }, toJSON: { virtuals: true } },
})
class Stamped extends FrameworkModel {
  static override configure(schema: Schema): void {
    configured++;
    schema.virtual("shout").get(function (this: { name: string }) {
      return this.name.toUpperCase();
    });
    schema.index({ name: 1, born: -1 });
    schema.pre("save", function () {
      this.set("name", `${this.get("name")}!`);
    });
  }
  @prop({ required: true })
  name!: string;
}

test("schemaOptions of rest() reach Mongoose, and timestamps no client", async () => {
  await using app = await mount([Stamped]);
  const old = "2000-01-01T00:00:00.000Z";
  const made = await post(`${app.url}/stamped`, { name: "a", born: old, updatedAt: old });
  assert(made.born !== old && made.updatedAt !== old && made.born === made.updatedAt);
  const changed = await patch(`${app.url}/stamped/${made._id}`, { born: old, name: "b" });
  assertEquals(changed.born, made.born);
  assert(String(changed.updatedAt) > String(made.updatedAt));
});

test("configure() adds virtuals, indexes and middleware, and is called once", async () => {
  await using app = await mount([Stamped]);
  Framework.initialize({ models: [Stamped] });
  const made = await post(`${app.url}/stamped`, { name: "a" });
  assertEquals([made.name, made.shout], ["a!", "A!"]);
  assertEquals(getModel(Stamped).schema.indexes()[0]?.[0], { name: 1, born: -1 });
  assertEquals(configured, 1);
});

@rest({ route: "/thrown", methods: [create()], schemaOptions: { strict: "throw" } })
class Strict extends FrameworkModel {
  static override schemaOptions: SchemaOptions = { versionKey: "version", timestamps: true };
  @prop()
  name?: string;
}

test("static schemaOptions and those of rest() hold together", async () => {
  await using app = await mount([Strict]);
  const made = await post(`${app.url}/thrown`, { name: "a", version: 7 });
  assertEquals([made.version, "__v" in made, "createdAt" in made], [0, false, true]);
  const reply = await request<{ code: string; errors: Json }>(`${app.url}/thrown`, {
    method: "POST",
    body: { name: "a", nope: 1 },
  });
  assertEquals([reply.status, Object.keys(reply.body.errors)], [400, ["nope"]]);
});

test("rest() changes none of the options that it is given", async () => {
  const schemaOptions: SchemaOptions = Object.freeze({ timestamps: true });
  const options = { route: "/frozen/", methods: Object.freeze([all(Object.freeze({}))]) };
  @rest(Object.freeze({ ...options, schemaOptions }))
  class Frozen extends FrameworkModel {
    @prop(Object.freeze({ type: String, enum: Object.freeze(["a"]) }))
    name?: string;
  }
  await using app = await mount([Frozen]);
  assertEquals(await get(`${app.url}/frozen`), [] as unknown as Json);
});

// Hidden and read-only fields

const reveal = (_req: FrameworkRequest, user: Entity<User>) => ({
  ...user.toObject(),
  proof: `${user.secret}/${user.parts?.code}`,
});

@rest({ route: "/users", methods: [all(), one(), create(), update()] })
@rest({ route: "/copies", methods: [all({ preSend: reveal }), create({ preSend: reveal })] })
class User extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ hidden: true })
  secret?: string;
  @arrayProp({ items: String, hidden: true })
  keys?: string[];
  @prop({ type: () => Address })
  parts?: Address;
  @arrayProp({ items: () => Address, embedded: true })
  places?: Address[];
  @prop({ type: Map, of: Address })
  byName?: Map<string, Address>;
  @prop({ type: Number, readonly: true, default: 0 })
  score!: number;
  @arrayProp({ items: String, readonly: true })
  roles?: string[];
}

const SECRETS = {
  name: "a",
  secret: "s1",
  keys: ["s2"],
  parts: { street: "b", code: "s3" },
  places: [{ street: "c", code: "s4" }],
  byName: { x: { street: "d", code: "s5" } },
};

/** Tells what of {@linkcode SECRETS} stands in a text. */
function leaks(text: string): string[] {
  return text.match(/s[1-5]\b/g) ?? [];
}

test("prop() keeps a hidden field out of every answer, at every depth", async () => {
  await using app = await mount([User]);
  const reply = await request<{ _id: string }>(`${app.url}/users`, {
    method: "POST",
    body: SECRETS,
  });
  assertEquals([reply.status, leaks(reply.text)], [201, []]);
  assert(reply.text.includes(`"street":"d"`));
  const url = `${app.url}/users/${reply.body._id}`;
  for (const text of [url, `${app.url}/users`]) assertEquals(leaks((await request(text)).text), []);
  const changed = await request(url, { method: "PATCH", body: { secret: "s1", name: "b" } });
  assertEquals([changed.status, leaks(changed.text)], [200, []]);
  const stored = JSON.stringify(await getModel(User).collection.findOne());
  assertEquals(leaks(stored).sort(), ["s1", "s2", "s3", "s4", "s5"]);
});

test("prop() shows a hidden field to hooks, and strips it from the copies that they give", async () => {
  await using app = await mount([User]);
  const reply = await request<{ proof: string }>(`${app.url}/copies`, {
    method: "POST",
    body: SECRETS,
  });
  assertEquals(reply.body.proof, "s1/s3");
  assertEquals(leaks(reply.text), ["s1", "s3"]);
  assertEquals(leaks((await request(`${app.url}/copies`)).text), ["s1", "s3"]);
});

test("prop() strips hidden fields from whatever a hook makes of a document", async () => {
  const shapes: Record<string, (user: Entity<User>) => object> = {
    document: (user) => user,
    spread: (user) => ({ ...user }),
    wrapped: (user) => ({ data: user.toObject() }),
    wrappedDocument: (user) => ({ data: user }),
    listed: (user) => ({ data: [user.toObject(), user] }),
    flat: (user) => user.toObject({ flattenMaps: true }),
    parts: ({ parts, places, byName }) => ({ parts, places, byName }),
    parsed: (user) => JSON.parse(JSON.stringify(user)),
    text: (user) => ({ text: JSON.stringify(user) }),
  };
  for (const [name, make] of Object.entries(shapes)) {
    @rest({
      route: "/u",
      methods: [create({ preSend: (_req, user: Entity<Shown>) => make(user) })],
    })
    class Shown extends User {}
    await using app = await mount([Shown]);
    const reply = await request(`${app.url}/u`, { method: "POST", body: SECRETS });
    assertEquals([name, reply.status, leaks(reply.text)], [name, 201, []]);
  }
});

test("preSend may give { ...document }: its values are meant, not Mongoose's inside", async () => {
  const preSend = (_req: FrameworkRequest, user: Entity<Spread>) => ({
    ...user,
    name: "b",
    parts: { ...user.parts },
  });
  @rest({ route: "/spread", methods: [create({ preSend }), all({ preSend })] })
  class Spread extends User {}
  await using app = await mount([Spread]);
  const made = await post(`${app.url}/spread`, SECRETS);
  const names = ["__v", "_id", "byName", "name", "parts", "places", "roles", "score"];
  assertEquals(Object.keys(made).sort(), names);
  const { _id: _, ...parts } = made.parts as Json;
  assertEquals([made.name, parts], ["b", { street: "b" }]);
  const [read] = await get<Json[]>(`${app.url}/spread`);
  assertEquals(read, made);
});

test("prop() takes a read-only field from no body, and lets hooks set it", async () => {
  const award = (_req: FrameworkRequest, user: Entity<Rated>) => {
    user.score += 1;
    return user;
  };
  @rest({ route: "/rated", methods: [create({ preSave: award }), update({ preSave: award })] })
  class Rated extends User {}
  await using app = await mount([Rated]);
  const body = { name: "a", score: 50, roles: ["admin"] };
  const made = await post(`${app.url}/rated`, body);
  assertEquals([made.score, made.roles], [1, []]);
  const changed = await patch(`${app.url}/rated/${made._id}`, body);
  assertEquals([changed.score, changed.roles], [2, []]);
});

// References

@rest({
  route: "/teams",
  methods: [
    all({ preFetch: populate }),
    one({ preFetch: populate }),
    create(),
  ],
})
class Team extends FrameworkModel {
  static override configure(schema: Schema): void {
    schema.virtual("fans", {
      ref: () => getModel(User),
      localField: "name",
      foreignField: "name",
    });
  }
  @prop()
  name?: string;
  @prop({ ref: User })
  lead?: Ref<User>;
  @arrayProp({ items: () => User })
  members?: string[];
}

/** Asks for what the query string of a request names. */
function populate(req: FrameworkRequest): boolean {
  const { populate, lean } = req.query;
  req.framework.options.populate = String(populate ?? "").split(",").filter(Boolean);
  req.framework.options.lean = lean !== undefined;
  return true;
}

async function teamOf(url: string): Promise<{ user: string; team: string }> {
  const user = await post(`${url}/users`, SECRETS);
  const team = await post(`${url}/teams`, { name: "a", lead: user._id, members: [user._id] });
  assertEquals([team.lead, team.members], [user._id, [user._id]]);
  return { user: user._id, team: team._id };
}

test("prop() and arrayProp() hold references as identifiers", async () => {
  await using app = await mount([User, Team]);
  const { user } = await teamOf(app.url);
  const [team] = await get<Json[]>(`${app.url}/teams`);
  assertEquals([team?.lead, team?.members], [user, [user]]);
  const stored = await getModel(Team).collection.findOne();
  assert(stored?.lead instanceof Types.ObjectId && stored.members[0] instanceof Types.ObjectId);
  const reply = await request<{ errors: Json }>(`${app.url}/teams`, {
    method: "POST",
    body: { lead: "x", members: [{}] },
  });
  assertEquals(Object.keys(reply.body.errors).sort(), ["lead", "members.0"]);
});

test("options.populate brings in entities without their hidden fields, documents and lean", async () => {
  await using app = await mount([User, Team]);
  const { user, team } = await teamOf(app.url);
  for (const path of [`teams/${team}`, "teams"]) {
    for (const lean of ["", "&lean"]) {
      const reply = await request<Json>(`${app.url}/${path}?populate=lead,members${lean}`);
      const [entity] = [reply.body].flat() as [{ lead: Json; members: Json[] }];
      assertEquals([entity.lead._id, entity.lead.name, entity.members[0]?._id], [user, "a", user]);
      assertEquals([path, lean, leaks(reply.text)], [path, lean, []]);
    }
  }
});

test("options.populate hides no less through a virtual reference", async () => {
  await using app = await mount([User, Team]);
  await teamOf(app.url);
  for (const lean of ["", "&lean"]) {
    const reply = await request(`${app.url}/teams?populate=fans${lean}`);
    assertEquals([reply.status, lean, leaks(reply.text)], [200, lean, []]);
  }
});

// Models that embed each other or themselves

@rest({ route: "/comments", methods: [all(), one(), create(), update()] })
class Comment extends FrameworkModel {
  @arrayProp({ items: () => Comment, embedded: true })
  replies?: Comment[];
  @prop({ type: () => Comment })
  first?: Comment;
  @prop({ required: true })
  text!: string;
  @prop({ hidden: true })
  mail?: string;
  shout(): string {
    return `${this.text}!`;
  }
}

test("prop() and arrayProp() let a model embed itself", async () => {
  await using app = await mount([Comment]);
  const leaf = { text: "c", mail: "s1" };
  const body = { text: "a", replies: [{ text: "b", replies: [leaf] }], first: leaf, mail: "s1" };
  const reply = await request<Json>(`${app.url}/comments`, { method: "POST", body });
  assertEquals([reply.status, leaks(reply.text)], [201, []]);
  const [read] = await get<{ replies: [{ replies: [Json] }]; first: Json }[]>(
    `${app.url}/comments`,
  );
  assertEquals(read?.replies[0].replies[0].text, "c");
  assertEquals([read?.first.text, read?.first.replies], ["c", []]);
  const bad = await request<{ errors: Json }>(`${app.url}/comments`, {
    method: "POST",
    body: { text: "a", replies: [{ text: "b", replies: [{}] }] },
  });
  assertEquals(Object.keys(bad.body.errors), ["replies.0.replies.0.text"]);
});

test("FrameworkModel gives embedded documents the fields and members of their class", () => {
  const CommentModel = getModel(Comment);
  const doc = new CommentModel({ text: "a", replies: [{ text: "b", replies: [{ text: "c" }] }] });
  const [reply] = doc.replies as unknown as [Comment];
  const [leaf] = reply.replies as unknown as [Comment];
  assertEquals([reply.text, leaf.text], ["b", "c"]);
  assertEquals([reply.shout(), leaf.shout()], ["b!", "c!"]);
  leaf.text = "d";
});

class Folder extends FrameworkModel {
  @arrayProp({ items: () => Page, embedded: true })
  pages?: Page[];
  @prop({ required: true })
  title!: string;
  @prop({ ref: () => User })
  owner?: string;
  get line(): string {
    return `<${this.title}>`;
  }
}
class Page extends FrameworkModel {
  @prop({ type: () => Folder })
  folder?: Folder;
  @arrayProp({ items: () => Folder, embedded: true })
  folders?: Folder[];
  @prop({ required: true })
  text!: string;
  shout(): string {
    return `${this.text}!`;
  }
}

test("arrayProp() lets two models embed each other", async () => {
  for (const target of [Folder, Page]) {
    const connection = mongoose.createConnection();
    getModel<ModelClass>(target, connection);
    assert(connection.modelNames().includes("User"), target.name);
  }
  const FolderModel = getModel(Folder, mongoose.createConnection());
  const inner = { title: "b", pages: [{ text: "c" }] };
  const doc = new FolderModel({
    title: "a",
    pages: [{ text: "p", folder: inner, folders: [inner] }],
  });
  const page = (doc.pages as Page[])[0] as Page;
  const again = page.folders?.[0] as Folder;
  assertEquals([page.shout(), page.folder?.line, again.line], ["p!", "<b>", "<b>"]);
  assertEquals([again.title, again.pages?.[0]?.shout(), again.pages?.[0]?.text], ["b", "c!", "c"]);
  again.title = "d";
  assertEquals(JSON.parse(JSON.stringify(doc)).pages[0].folders[0].title, "d");
  await doc.validate();
});

// Names, routes, files

test("getModel() keeps two classes of one name apart", async () => {
  const [One, Two] = ["one_things", "two_things"].map((collection, index) => {
    @rest({ route: `/${collection}`, methods: [all(), create()], schemaOptions: { collection } })
    class Thing extends FrameworkModel {
      @prop({ required: index === 0 })
      name?: string;
    }
    return Thing;
  }) as [typeof User, typeof User];
  await using app = await mount([One, Two]);
  await post(`${app.url}/two_things`, {});
  assertEquals((await request(`${app.url}/one_things`, { method: "POST", body: {} })).status, 400);
  assertEquals((await get<Json[]>(`${app.url}/two_things`)).length, 1);
  assertEquals((await get<Json[]>(`${app.url}/one_things`)).length, 0);
  assertEquals(getModel(Two).collection.name, "two_things");
});

test("prop() refers to the class that it names, whoever shares that name", async () => {
  const [One, Two] = ["first_twins", "second_twins"].map((collection) => {
    class Twin extends FrameworkModel {
      static override schemaOptions: SchemaOptions = { collection };
      @prop()
      name?: string;
      @prop({ hidden: collection === "second_twins" })
      secret?: string;
    }
    return Twin;
  }) as [typeof User, typeof User];
  @rest({ route: "/parents", methods: [all({ preFetch: populate })] })
  class TwinParent extends FrameworkModel {
    @prop({ ref: One })
    one?: string;
    @prop({ ref: () => Two })
    two?: string;
  }
  await using app = await mount([TwinParent]);
  const one = await getModel(One).create({ name: "a", secret: "s1" });
  const two = await getModel(Two).create({ name: "b", secret: "s2" });
  await getModel(TwinParent).create({ one: one.id, two: two.id });
  for (const lean of ["", "&lean"]) {
    const { body, text } = await request<Record<string, Json>[]>(
      `${app.url}/parents?populate=one,two${lean}`,
    );
    assertEquals([body[0]?.one?.name, body[0]?.two?.name, leaks(text)], ["a", "b", ["s1"]]);
  }
});

@rest({ route: "/open", methods: [all({ preSend: (_req, { _id }: Entity<Door>) => ({ _id }) })] })
@rest({ route: "/doors", methods: [all(), create(), removeAll()] })
class Door extends FrameworkModel {
  @prop()
  name?: string;
}

test("rest() twice on a class serves one collection on two routes, each with its own operations", async () => {
  await using app = await mount([Door]);
  const { _id } = await post(`${app.url}/doors`, { name: "a" });
  assertEquals(await get<Json[]>(`${app.url}/open`), [{ _id }]);
  assertEquals(await get<Json[]>(`${app.url}/doors`), [{ _id, __v: 0, name: "a" }]);
  assertEquals((await request(`${app.url}/open`, { method: "POST", body: {} })).status, 404);
  assertEquals((await request(`${app.url}/open`, { method: "DELETE" })).status, 404);
});

test("arrayProp() lets two files refer to each other, whichever is imported first", async () => {
  await using app = await mount([Movie, Actor, Book, Writer]);
  const actor = await post(`${app.url}/actors`, { name: "a" });
  const movie = await post(`${app.url}/movies`, { name: "m", actors: [actor._id] });
  assertEquals([actor.movies, movie.actors], [[], [actor._id]]);
  const writer = await post(`${app.url}/writers`, { name: "w", books: [{ name: "b" }] });
  const book = await post(`${app.url}/books`, { name: "b", writer: writer._id });
  assertEquals((writer.books as Json[])[0]?.name, "b");
  assertEquals(book.writer, writer._id);
  const [populated] = await getModel(Book).find().populate<{ writer: Writer }>("writer");
  assertEquals(populated?.writer.name, "w");
});

test("getModel() compiles the models that a class refers to, routed or not", () => {
  class Unrouted extends FrameworkModel {
    @prop({ type: () => Inner })
    inner?: Inner;
  }
  class Inner extends FrameworkModel {
    @prop({ ref: () => Far })
    far?: string;
  }
  class Far extends FrameworkModel {}
  const connection = mongoose.createConnection();
  getModel(Unrouted, connection);
  assertEquals(connection.modelNames().sort(), ["Far", "Unrouted"]);
});
