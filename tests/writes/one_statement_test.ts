import { assertEquals, assertNotEquals } from "@std/assert";
import type { Schema } from "mongoose";
import mongoose from "mongoose";
import { z } from "zod";
import {
  arrayProp,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  prop,
  type QueryObject,
  remove,
  removeAll,
  rest,
  update,
} from "../../mod.ts";
import type { Client } from "../support/client.ts";
import { test } from "../harness/testing.ts";
import { asQuery, type EntityBody, type ErrorBody, mount, NOBODY } from "../support/support.ts";
import { pass, type SentCommand, watchCommands } from "../support/both_paths.ts";

/** Does what a request's own headers say. */
const preFetch = (req: FrameworkRequest) => {
  const { filter, projection, options } = JSON.parse(String(req.headers["x-ask"] ?? "{}"));
  req.framework.filter = { ...req.framework.filter, ...filter };
  req.framework.options = { ...options };
  req.framework.projection = { ...projection };
  return true;
};

@rest({
  route: "/fast",
  methods: [update({ preFetch, parameters: ["page"] }), remove({ preFetch }), removeAll()],
})
@rest({ route: "/slow", methods: [update({ preFetch, preSend: pass }), remove({ preSave: pass })] })
class Movie extends FrameworkModel {
  static override schemaOptions = { timestamps: true, autoIndex: false };
  @prop({ required: true })
  name!: string;
  @prop({ type: Number, min: 1888, max: [2100, "Too late"] })
  year?: number;
  @prop({ trim: true, lowercase: true, minLength: 2, maxLength: 5, match: /^[a-z]+$/ })
  code?: string;
  @prop({ uppercase: true })
  loud?: string;
  @prop({ enum: ["good", "bad"] })
  rating?: string;
  @arrayProp({ items: String, lowercase: true, trim: true, enum: ["a", "b"] })
  tags?: string[];
  @arrayProp({ items: Number, min: 2 })
  numbers?: number[];
  @prop({ type: Date, min: new Date(0) })
  date?: Date;
  @prop({ type: Boolean, default: false })
  seen?: boolean;
  @prop({ type: BigInt })
  big?: bigint;
  @prop({ type: mongoose.Types.Decimal128 })
  price?: mongoose.Types.Decimal128;
  @prop({ type: mongoose.Types.UUID })
  uuid?: mongoose.Types.UUID;
  @prop({ ref: () => Movie })
  sequel?: string;
  @prop({ unique: true, sparse: true })
  slug?: string;
  @prop({ hidden: true, minLength: 3 })
  secret?: string;
  @prop({ readonly: true })
  owner?: string;
  @prop({ type: Object })
  free?: object;
  @prop({ validate: (text: string) => text !== "bad" })
  judged?: string;
  @prop({ type: Number, validate: z.number().int() })
  whole?: number;
  @prop({ validate: (text: string) => Promise.resolve(text !== "bad") })
  later?: string;
}

const ID = "0123456789abcdef01234567";
const OTHER = "aaaaaaaaaaaaaaaaaaaaaaaa";

/** Stores two movies as creation would. */
async function seed(): Promise<void> {
  const movies = getModel(Movie);
  await movies.collection.deleteMany({});
  const common = { name: "Up", tags: [], numbers: [], seen: false, __v: 3, createdAt: new Date(0) };
  const kept = { owner: "me", secret: "SECRET", code: "abc", updatedAt: new Date(0) };
  const _id = new mongoose.Types.ObjectId(ID);
  const other = { ...common, _id: new mongoose.Types.ObjectId(OTHER), slug: "taken" };
  await movies.collection.insertMany([{ ...common, ...kept, _id }, other] as never[]);
}

/** Serves movies; gives the list of the commands that are sent. */
async function watched() {
  const app = await mount([Movie], { indexes: "lazy" });
  return Object.assign(app, { sent: await watchCommands(app.database.uri) });
}

/** One update: its body, which entity it is for, and what its `preFetch` hook asks for. */
interface Given {
  readonly body: unknown;
  readonly path?: string;
  readonly ask?: { projection?: QueryObject; options?: QueryObject; filter?: QueryObject };
}

function send({ patch }: Client, route: string, { body, path = ID, ask = {} }: Given) {
  return patch(`/${route}/${path}`, body, { headers: { "x-ask": JSON.stringify(ask) } });
}

/** An answer and what is stored after it, without the time of the change. */
async function patched(app: Client, route: string, given: Given) {
  await seed();
  const reply = await send(app, route, given);
  const stored = await getModel(Movie).collection.find().sort({ _id: 1 }).toArray();
  const { updatedAt, ...shown } = reply.body ?? {} as EntityBody;
  if (updatedAt !== undefined) {
    assertEquals(String(updatedAt), (stored[0]?.updatedAt as Date).toISOString());
    assertNotEquals(updatedAt, new Date(0).toISOString());
  }
  const values = stored.map(({ updatedAt: _updatedAt, ...each }) => each);
  return { status: reply.status, shown, stored: JSON.stringify(values.map(sorted)) };
}

function sorted(value: object): object {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1));
}

/** Answers and data of both ways are the same; gives the status and the commands of the first. */
async function compare(app: Client & { readonly sent: SentCommand[] }, given: Given) {
  await seed();
  app.sent.length = 0;
  await send(app, "fast", given);
  const commands = app.sent.splice(0).map(({ name }) => name);
  const fast = await patched(app, "fast", given);
  const slow = await patched(app, "slow", given);
  assertEquals(fast, slow, JSON.stringify(given));
  return { ...fast, commands };
}

const ONE = ["findAndModify"];

/** The commands of an update and a removal by documents. */
const DOCUMENTS = ["find", "findAndModify", "delete"];

/** Patches that one statement can make. */
const FLAT: object[] = [
  {},
  { name: "Down" },
  { name: "  x  " },
  { year: 1999 },
  { year: "1999" },
  { year: "" },
  { code: "  ABC " },
  { loud: "abc" },
  { rating: "good" },
  { date: "2020-01-01" },
  { date: 5 },
  { seen: true },
  { seen: "yes" },
  { big: "9007199254740993" },
  { price: "1.50" },
  { uuid: "01234567-89ab-4def-8123-456789abcdef" },
  { sequel: OTHER },
  { slug: "new" },
  { secret: "other" },
  { nosuch: 1, name: "x" },
  { owner: "you" },
  { _id: OTHER, __v: 9 },
  { createdAt: "2020-01-01", updatedAt: "2020-01-01" },
  { name: "a.b", "na.me": "x" },
  { $set: { name: "x" } },
  { name: "$year" },
  { code: "abcde", year: 2100, loud: "" },
  { judged: "good", whole: "5", later: "good" },
];

/** Patches that replace an array: whether it was changed meanwhile, only a read before can tell. */
const ARRAYS: object[] = [
  { tags: [" A ", "b"] },
  { tags: [] },
  { numbers: [2, "3"] },
  { numbers: [null, 5] },
  { code: "abcde", year: 2100, tags: ["b"], loud: "" },
];

test("update() is one statement for values at declared fields", async () => {
  await using app = await watched();
  for (const body of FLAT) {
    const { status, commands, shown } = await compare(app, { body });
    assertEquals([status, commands, shown.__v], [200, ONE, 4], JSON.stringify(body));
    assertEquals(JSON.stringify(shown).includes("SECRET"), false);
  }
});

/** Patches that some rule refuses. */
const REFUSED: object[] = [
  { judged: "bad" },
  { whole: 1.5 },
  { later: "bad" },
  { name: "x", judged: "bad", later: "bad" },
  { name: "" },
  { year: 1 },
  { year: 3000 },
  { year: "abc" },
  { code: "A" },
  { code: "abcdef" },
  { code: "a1" },
  { rating: "ugly" },
  { tags: ["c"] },
  { tags: ["a", "C "] },
  { tags: "a" },
  { numbers: [1] },
  { numbers: ["x"] },
  { numbers: [3, 1, 0] },
  { date: "nope" },
  { date: -5 },
  { seen: "perhaps" },
  { big: "x" },
  { price: {} },
  { uuid: "x" },
  { sequel: "x" },
  { secret: "s" },
  { name: {} },
  { name: [] },
  { year: 1, code: "A", rating: "ugly" },
];

test("update() refuses in one statement what the document refuses", async () => {
  await using app = await watched();
  for (const body of REFUSED) {
    const { status, shown, stored } = await compare(app, { body });
    assertEquals(
      [status, (shown as unknown as ErrorBody).code],
      [400, "BAD_DATA"],
      JSON.stringify(body),
    );
    assertEquals(stored.includes('"__v":4'), false);
  }
  for (const body of [[], "x", 5, null]) {
    assertEquals((await compare(app, { body })).status, 400);
  }
});

test("update() takes the document for what one statement cannot say", async () => {
  await using app = await watched();
  const cleared = [{ code: null }, { tags: null }, { seen: null }, { secret: null }];
  const bodies = [...cleared, ...ARRAYS, { free: { a: 1 } }];
  for (const body of bodies) {
    const { status, commands } = await compare(app, { body });
    assertEquals([status, commands[0]], [200, "find"], JSON.stringify(body));
  }
  assertEquals((await compare(app, { body: { name: null } })).status, 400);
});

test("update() tells a conflict, and 404 before anything else, in one statement", async () => {
  await using app = await watched();
  await getModel(Movie).createIndexes();
  const { status, shown } = await compare(app, { body: { slug: "taken" } });
  assertEquals([status, shown.code, shown.fields], [409, "CONFLICT", ["slug"]]);
  for (const path of [NOBODY.replace("0", "f"), "x", `${ID}${asQuery({ year: 5 })}`]) {
    for (const body of [{ year: 1999 }, { year: 1 }, { year: "x" }, { tags: ["c"] }]) {
      assertEquals((await compare(app, { body, path })).status, 404, path);
    }
  }
});

test("update() binds q and the filter of hooks to its statement", async () => {
  await using app = await watched();
  const cases: [object, QueryObject, number][] = [
    [{ name: "Up" }, {}, 200],
    [{ name: "Down" }, {}, 404],
    [{}, { owner: "me" }, 200],
    [{}, { owner: "you" }, 404],
    [{ name: "Up" }, { secret: "SECRET" }, 200],
    [{ secret: "SECRET" }, {}, 400],
    [{ _id: OTHER }, {}, 404],
    [{}, { _id: OTHER }, 404],
    [{ $or: [{ year: 5 }, { name: "Up" }] }, { $or: [{ owner: "me" }] }, 200],
  ];
  for (const [query, filter, expected] of cases) {
    const path = `${ID}${asQuery(query)}`;
    const { status } = await compare(app, { body: { year: 2000 }, path, ask: { filter } });
    assertEquals(status, expected, JSON.stringify([query, filter]));
  }
});

test("update() takes the document when hooks ask for more than a filter", async () => {
  await using app = await watched();
  const given = [{ projection: { name: 1 } }, { options: { populate: "sequel" } }, {
    options: { collation: { locale: "en", strength: 2 } },
    filter: { name: "UP" },
  }];
  for (const ask of given) {
    const { status, commands } = await compare(app, { body: { sequel: OTHER }, ask });
    assertEquals([status, commands[0]], [200, "find"], JSON.stringify(ask));
  }
});

test("update() counts every one of many concurrent statements", async () => {
  await using app = await mount([Movie]);
  await seed();
  const bodies = Array.from(
    { length: 20 },
    (_, i) => i % 2 ? { year: 1900 + i } : { loud: `l${i}` },
  );
  const replies = await Promise.all(
    bodies.map((body) => app.patch(`/fast/${ID}`, body)),
  );
  assertEquals(replies.every(({ status }) => status === 200), true);
  assertEquals((await getModel(Movie).findById(ID))?.__v, 23);
});

test("update() answers the same by either way when the stored version is no number", async () => {
  await using app = await mount([Movie]);
  await seed();
  const { collection } = getModel(Movie);
  for (const route of ["fast", "slow"]) {
    await collection.updateMany({}, { $set: { __v: "3", year: 1 } as never });
    const { status } = await app.patch<ErrorBody>(`/${route}/${ID}`, { year: 2000 });
    const stored = await collection.findOne({});
    assertEquals([status, stored?.year, stored?.__v], [409, 1, "3"] as unknown[]);
  }
});

/** Updates one entity of a class that `configure` has changed, and gives the commands. */
async function commandsOf(configure: (schema: Schema) => void, options = {}): Promise<string[]> {
  @rest({ route: "/made", methods: [update(), remove()], schemaOptions: options })
  class Made extends FrameworkModel {
    static override configure = configure;
    @prop()
    name?: string;
    @prop()
    other?: string;
  }
  await using app = await mount([Made]);
  const { _id } = await getModel(Made).create({ name: "a", other: "b" });
  const sent = await watchCommands(app.database.uri);
  const url = `/made/${_id}`;
  const changed = await app.patch(url, { name: "c" });
  const removed = await app.delete(url);
  assertEquals([changed.status, changed.body.name, removed.status], [200, "c", 204]);
  return sent.map(({ name }) => name);
}

test("update() and remove() are one statement each when nothing is the user's own", async () => {
  assertEquals(await commandsOf(() => {}), ["findAndModify", "delete"]);
  assertEquals(await commandsOf(() => {}, { timestamps: true }), ["findAndModify", "delete"]);
});

test("update() and remove() take the document when the user's middleware has to see it", async () => {
  for (const name of ["save", "validate", "updateOne"] as const) {
    const pre = await commandsOf((schema) => void schema.pre(name as "save", () => {}));
    const post = await commandsOf((schema) => void schema.post(name as "save", () => {}));
    assertEquals([pre, post], [DOCUMENTS, DOCUMENTS], name);
  }
  const document = { document: true, query: false } as const;
  const deleting = await commandsOf((schema) => void schema.pre("deleteOne", document, () => {}));
  assertEquals(deleting, ["findAndModify", "find", "delete"]);
  for (const name of ["find", "findOne", "init"] as const) {
    const both = await commandsOf((schema) => void schema.pre(name as "find", () => {}));
    assertEquals(both, ["find", "findAndModify", "find", "delete"], name);
  }
});

test("update() takes the document when a rule may look at its other fields", async () => {
  const rules = [
    { validate: { validator: () => true, propsParameter: true } },
    {
      validate(this: unknown) {
        return this !== null;
      },
    },
    {
      validate: function (this: unknown) {
        return this !== null;
      },
    },
    { set: (value: unknown) => value },
    { required: () => false },
  ];
  for (const rule of rules) {
    const configure = (schema: Schema) => void schema.add({ other: { type: String, ...rule } });
    assertEquals((await commandsOf(configure))[0], "find", Object.keys(rule)[0]);
  }
  for (const options of [{ versionKey: false }, { optimisticConcurrency: true }]) {
    assertEquals((await commandsOf(() => {}, options))[0], "find");
  }
});

test("update() takes the document when a scope binds it, or fields are not selected", async () => {
  @rest({ route: "/bound", methods: [update()], scope: () => ({ name: { $in: ["a", "b"] } }) })
  class Bound extends FrameworkModel {
    @prop()
    name?: string;
  }
  @rest({ route: "/partly", methods: [update()] })
  class Partly extends FrameworkModel {
    @prop()
    name?: string;
    @prop({ select: false })
    unselected?: string;
  }
  await using app = await mount([Bound, Partly]);
  const bound = await getModel(Bound).create({ name: "a" });
  const partly = await getModel(Partly).create({ name: "a", unselected: "u" });
  const sent = await watchCommands(app.database.uri);
  const send = (path: string, name: string) => app.patch(`/${path}`, { name });
  assertEquals((await send(`bound/${bound._id}`, "c")).status, 403);
  assertEquals((await send(`bound/${bound._id}`, "b")).status, 200);
  assertEquals(
    await send(`partly/${partly._id}`, "c").then(({ body }) => "unselected" in body),
    false,
  );
  // Each of the three requests reads its document first, and the last one reads the selected fields after its write.
  assertEquals(sent.filter(({ name }) => name === "find").length, 4);
});

test("remove() is one statement, with the same answers as with a hook", async () => {
  await using app = await watched();
  const cases: [string, number][] = [
    [ID, 204],
    [NOBODY.replace("0", "f"), 404],
    ["x", 404],
    [`${ID}${asQuery({ name: "no" })}`, 404],
    [`${ID}${asQuery({ name: "Up" })}`, 204],
    [`${ID}?q={`, 400],
    [`${ID}${asQuery({ secret: "s" })}`, 400],
  ];
  for (const [path, expected] of cases) {
    const outcomes = [];
    for (const route of ["fast", "slow"]) {
      await seed();
      app.sent.length = 0;
      const { status, text } = await app.delete(`/${route}/${path}`);
      const names = app.sent.map(({ name }) => name);
      if (route === "fast" && expected === 204) assertEquals(names, ["delete"]);
      outcomes.push([status, text, await getModel(Movie).countDocuments()]);
    }
    assertEquals([outcomes[0], outcomes[0]?.[0]], [outcomes[1], expected], path);
  }
});

test("removeAll() is one statement that deletes all that is selected", async () => {
  await using app = await watched();
  await seed();
  app.sent.length = 0;
  const url = "/fast";
  assertEquals(
    (await app.delete(`${url}${asQuery({ slug: "taken" })}`)).status,
    204,
  );
  assertEquals(app.sent.map(({ name }) => name), ["delete"]);
  assertEquals((app.sent[0]?.command.deletes as { limit: number }[])[0]?.limit, 0);
  assertEquals(await getModel(Movie).countDocuments(), 1);
  assertEquals((await app.delete(`${url}?q={`)).status, 400);
  assertEquals(await getModel(Movie).countDocuments(), 1);
  assertEquals((await app.delete(url)).status, 204);
  assertEquals(await getModel(Movie).countDocuments(), 0);
});
