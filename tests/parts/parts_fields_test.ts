import { assert, assertEquals } from "@std/assert";
import { Types } from "mongoose";
import type { Schema } from "mongoose";
import {
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  rest,
  update,
} from "../../mod.ts";
import { FOUR, SIX } from "../fixtures/operations.ts";
import { test } from "../harness/testing.ts";
import { asQuery, type EntityBody, type ErrorBody, mount } from "../support/support.ts";

/** The only document of a collection, past Mongoose. */
async function onlyOne(model: { collection: { findOne(): Promise<unknown> } }) {
  return await model.collection.findOne() as Record<string, unknown>;
}

class Clue extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ hidden: true })
  answer?: string;
}

class Riddle extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ hidden: true, minLength: 3 })
  answer?: string;
  @prop({ readonly: true, default: "draft" })
  state!: string;
  @rest({ methods: SIX })
  @arrayProp({ items: Clue, embedded: true })
  clues?: Clue[];
  @prop({ type: Clue })
  hint?: Clue;
}

@rest({ route: "/quizzes", methods: SIX })
class Quiz extends FrameworkModel {
  @prop()
  name?: string;
  @rest({ methods: SIX })
  @arrayProp({ items: Riddle, embedded: true })
  riddles?: Riddle[];
  @rest({ methods: FOUR })
  @prop({ type: Clue })
  clue?: Clue;
  @rest({ methods: SIX })
  @arrayProp({ items: Riddle })
  others?: Ref<Riddle>[];
}

const SECRET = "s3cret";

async function putQuiz() {
  const riddle = {
    name: "A",
    answer: SECRET,
    clues: [{ text: "T", answer: SECRET }],
    hint: { text: "H", answer: SECRET },
  };
  const other = await getModel(Riddle).create(riddle as never) as Riddle;
  const fields = { riddles: [riddle], clue: { text: "C", answer: SECRET }, others: [other._id] };
  const quiz = await getModel(Quiz).create(fields as never) as Quiz;
  const at = `/quizzes/${quiz._id}`;
  const items = [[`${at}/riddles`, quiz.riddles?.[0]?._id], [`${at}/others`, other._id]] as const;
  return { quiz, at, items, clues: `${at}/riddles/${quiz.riddles?.[0]?._id}/clues` };
}

test("a hidden field inside embedded documents is in no answer of any operation", async () => {
  await using app = await mount([Quiz]);
  const { at, items, clues } = await putQuiz();
  const replies = [await app.get("/quizzes"), await app.get(at), await app.get(clues)];
  for (const [base, id] of items) {
    replies.push(await app.get(base), await app.get(`${base}/${id}`));
    const body = { name: "B", answer: SECRET, clues: [{ answer: SECRET }], hint: {} };
    replies.push(await app.post(base, body), await app.patch(`${base}/${id}`, body));
  }
  replies.push(await app.post(clues, { answer: SECRET }), await app.get(`${at}/clue`));
  replies.push(
    await app.patch(`${at}/clue`, { answer: SECRET }),
    await app.patch(at, { name: "Q" }),
  );
  for (const { status, text } of replies) {
    assert(status < 300 && text.length > 2 && !text.includes(SECRET), text);
  }
});

test("a hidden field inside embedded documents may be written", async () => {
  await using app = await mount([Quiz]);
  const { at, clues } = await putQuiz();
  await app.patch(`${at}/clue`, { answer: "other" });
  const added = await app.post(clues, { answer: "one" });
  await app.patch(`${clues}/${added.body._id}`, { answer: "two" });
  const quiz = await getModel(Quiz).findOne();
  assertEquals(quiz?.clue?.answer, "other");
  assertEquals(quiz?.riddles?.[0]?.clues?.map(({ answer }) => answer), [SECRET, "two"]);
});

test("no q may touch a hidden field inside embedded documents", async () => {
  await using app = await mount([Quiz]);
  const { at, items, clues } = await putQuiz();
  const bad = [
    ["/quizzes", { "riddles.answer": SECRET }],
    ["/quizzes", { riddles: { $elemMatch: { answer: SECRET } } }],
    ["/quizzes", { "riddles.0.clues.answer": SECRET }],
    ["/quizzes", { clue: { answer: SECRET } }],
    [clues, { answer: { $exists: true } }],
    [`${at}/clue`, { answer: SECRET }],
    ...items.flatMap(([base]) => [
      [base, { answer: SECRET }],
      [base, { "clues.answer": { $regex: "^s" } }],
      [base, { "hint.answer": SECRET }],
      [base, { hint: { text: "H", answer: SECRET } }],
      [base, { $or: [{ clues: { $elemMatch: { answer: SECRET } } }] }],
    ]),
  ] as [string, object][];
  for (const [url, q] of bad) {
    const reply = await app.get<ErrorBody>(`${url}${asQuery(q)}`);
    assertEquals([url, q, reply.status, reply.body.code], [url, q, 400, "BAD_FORMAT"]);
    assert(!reply.text.includes(SECRET));
  }
});

test("the message of a hidden field inside embedded documents carries no value", async () => {
  await using app = await mount([Quiz]);
  const { items } = await putQuiz();
  const short = "zq";
  for (const [base] of items) {
    const reply = await app.post<ErrorBody>(base, { name: "A", answer: short });
    assertEquals([reply.status, reply.body.errors?.answer?.kind], [400, "minlength"]);
    assert(!reply.text.includes(short));
  }
  const riddles = [{ name: "A", answer: short }];
  const whole = await app.post<ErrorBody>("/quizzes", { riddles });
  assertEquals(Object.keys(whole.body.errors ?? {}), ["riddles.0.answer"]);
  assert(!whole.text.includes(short));
});

test("a readonly field inside embedded documents is taken from no body", async () => {
  await using app = await mount([Quiz]);
  const { items, at } = await putQuiz();
  const given = { name: "B", state: "done" };
  for (const [base, id] of items) {
    assertEquals((await app.post(base, given)).body.state, "draft");
    assertEquals((await app.patch(`${base}/${id}`, given)).body.state, "draft");
  }
  const { body } = await app.patch(at, { riddles: [given] });
  assertEquals((body as unknown as Quiz).riddles?.map(({ state }) => state), ["draft"]);
});

test("an array that is readonly changes through its sub-routes only", async () => {
  @rest({ route: "/ledgers", methods: [one(), create(), update()] })
  class Ledger extends FrameworkModel {
    @rest({ methods: SIX })
    @arrayProp({ items: Clue, embedded: true, readonly: true })
    entries?: Clue[];
  }
  await using app = await mount([Ledger]);
  const made = await app.post("/ledgers", { entries: [{ text: "no" }] });
  const at = `/ledgers/${made.body._id}`;
  assertEquals((await app.post(`${at}/entries`, { text: "yes" })).status, 201);
  assertEquals((await app.patch(at, { entries: [] })).status, 200);
  assertEquals((await app.get<EntityBody[]>(`${at}/entries`)).body.map(({ text }) => text), [
    "yes",
  ]);
});

class Quiet extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ select: false })
  note?: string;
}

class Holder extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ select: false, required: true })
  note!: string;
  @arrayProp({ items: Quiet, embedded: true })
  inner?: Quiet[];
}

@rest({ route: "/muted", methods: [one()] })
class Muted extends FrameworkModel {
  @rest({ methods: SIX })
  @arrayProp({ items: Holder, embedded: true })
  parts?: Holder[];
}

test("a field with select: false inside elements is read by no operation, and kept by all", async () => {
  await using app = await mount([Muted]);
  const { _id } = await getModel(Muted).create({});
  const url = `/muted/${_id}/parts`;
  const body = { name: "A", note: "n", inner: [{ name: "I", note: "m" }] };
  const made = await app.post(url, body);
  const item = `${url}/${made.body._id}`;
  const replies = [
    made,
    await app.patch(item, { name: "B" }),
    await app.get(item),
    await app.get(url),
  ];
  for (const { status, text } of replies) assert(status < 300 && !text.includes("note"), text);
  const [part] = (await onlyOne(getModel(Muted))).parts as Holder[];
  assertEquals([part?.name, part?.note, part?.inner?.[0]?.note], ["B", "n", "m"]);
  const found = await app.get<ErrorBody>(`${url}${asQuery({ note: "n" })}`);
  assertEquals([found.status, found.body.code], [400, "BAD_FORMAT"]);
});

test("update() answers what it wrote where the part no longer matches q", async () => {
  await using app = await mount([Muted]);
  const { _id } = await getModel(Muted).create({});
  const url = `/muted/${_id}/parts`;
  const made = await app.post(url, { name: "A", note: "n" });
  const hit = `${url}/${made.body._id}${asQuery({ name: "A" })}`;
  const reply = await app.patch(hit, { name: "B" });
  assertEquals([reply.status, reply.body.name], [200, "B"]);
  assertEquals((await app.patch(hit, { name: "C" })).status, 404);
});

test("an array with select: false is read through its sub-routes only", async () => {
  @rest({ route: "/archives", methods: [one()] })
  class Archive extends FrameworkModel {
    @rest({ methods: SIX })
    @arrayProp({ items: Quiet, embedded: true, select: false })
    papers?: Quiet[];
    @rest({ methods: SIX })
    @arrayProp({ items: Quiet, select: false })
    refs?: Ref<Quiet>[];
  }
  await using app = await mount([Archive]);
  const { _id } = await getModel(Archive).create({});
  const at = `/archives/${_id}`;
  for (const base of [`${at}/papers`, `${at}/refs`]) {
    const made = await app.post(base, { name: "A" });
    const { body } = await app.get<EntityBody[]>(base);
    assertEquals(body.map((each) => each._id), [made.body._id]);
    assertEquals((await app.patch(`${base}/${made.body._id}`, { name: "B" })).body.name, "B");
  }
  assertEquals((await app.get(at)).body, { _id: String(_id), __v: 3 });
});

class Stamped extends FrameworkModel {
  static override schemaOptions = { timestamps: true };
  @prop()
  name?: string;
  @rest({ methods: SIX })
  @arrayProp({ items: () => Stamped, embedded: true })
  inner?: Stamped[];
}

@rest({ route: "/clocks", methods: [one(), update()], schemaOptions: { timestamps: true } })
class Clock extends FrameworkModel {
  @rest({ methods: SIX })
  @arrayProp({ items: Stamped, embedded: true })
  parts?: Stamped[];
  @rest({ methods: FOUR })
  @prop({ type: Stamped })
  single?: Stamped;
}

type Stamps = { createdAt: string; updatedAt: string };

test("timestamps of a part and of its parent are set, and are what the answer says", async () => {
  await using app = await mount([Clock]);
  const { _id } = await getModel(Clock).create({});
  const at = `/clocks/${_id}`;
  const before = (await app.get<Stamps>(at)).body;
  for (const url of [`${at}/parts`, `${at}/single`]) {
    const forged = { createdAt: "2001-01-01", updatedAt: "2001-01-01" };
    const made = (await app.post(url, { name: "A", ...forged })).body as EntityBody & Stamps;
    const item = url.endsWith("parts") ? `${url}/${made._id}` : url;
    assertEquals((await app.get(item)).body, made);
    assert(made.createdAt > before.createdAt && made.updatedAt >= made.createdAt);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const changed = (await app.patch(item, { name: "B", ...forged })).body as EntityBody & Stamps;
    assertEquals((await app.get(item)).body, changed);
    assert(changed.updatedAt > made.updatedAt && changed.createdAt === made.createdAt);
  }
  const after = (await app.get<Stamps>(at)).body;
  assert(after.updatedAt > before.updatedAt && after.createdAt === before.createdAt);
});

test("a part with timestamps is removed like any other, and kept by an empty patch", async () => {
  await using app = await mount([Clock]);
  const fields = { single: { name: "S", inner: [{ name: "I" }] }, parts: [{ name: "A" }] };
  const { _id } = await getModel(Clock).create(fields as never);
  const at = `/clocks/${_id}`;
  const before = (await app.get(`${at}/single`)).body;
  await new Promise((resolve) => setTimeout(resolve, 5));
  assertEquals((await app.patch(`${at}/single`, {})).body, before as never);
  assertEquals((await app.get(`${at}/single`)).body, before);
  const [part] = (await app.get<EntityBody[]>(`${at}/parts`)).body;
  for (const path of [`parts/${part?._id}`, "single"]) {
    assertEquals((await app.delete(`${at}/${path}`)).status, 204);
  }
  const after = await onlyOne(getModel(Clock));
  assertEquals([after.parts, "single" in after], [[], false]);
});

const ran: string[] = [];

class Hooked extends FrameworkModel {
  @prop({ set: (text: string) => `${text}!` })
  shout?: string;
  @prop()
  slug?: string;

  static override configure(schema: Schema): void {
    schema.pre("validate", () => void ran.push("pre validate"));
    schema.pre("save", function () {
      ran.push("pre save");
      if (this.isModified("shout")) this.set("slug", `${this.get("shout")} as saved`);
    });
    schema.post("save", () => void ran.push("post save"));
  }
}

@rest({ route: "/rigs", methods: [one()] })
class Rig extends FrameworkModel {
  @prop({ ref: Quiet })
  changedBy?: string;
  @rest({ methods: SIX })
  @arrayProp({ items: Hooked, embedded: true })
  parts?: Hooked[];
  @rest({ methods: FOUR })
  @prop({ type: Hooked })
  single?: Hooked;

  static override configure(schema: Schema): void {
    schema.pre("updateOne", function () {
      this.set({ changedBy: "0123456789abcdef01234567" });
    });
  }
}

test("the save middleware of an embedded model runs, and its setters run once", async () => {
  await using app = await mount([Rig]);
  const { _id } = await getModel(Rig).create({});
  const at = `/rigs/${_id}`;
  for (const url of [`${at}/parts`, `${at}/single`]) {
    ran.length = 0;
    const made = await app.post(url, { shout: "a" });
    assertEquals(ran, ["pre validate", "pre save", "post save"]);
    assertEquals([made.body.shout, made.body.slug], ["a!", "a! as saved"]);
    const item = url.endsWith("parts") ? `${url}/${made.body._id}` : url;
    assertEquals((await app.get(item)).body, made.body);
    const changed = await app.patch(item, { shout: "b" });
    assertEquals([changed.body.shout, changed.body.slug], ["b!", "b! as saved"]);
    assertEquals((await app.get(item)).body, changed.body);
  }
});

test("what the update middleware of the parent adds is cast to its types", async () => {
  await using app = await mount([Rig]);
  const { _id } = await getModel(Rig).create({});
  await app.post(`/rigs/${_id}/parts`, { shout: "a" });
  const rig = await onlyOne(getModel(Rig));
  assert(rig.changedBy instanceof Types.ObjectId);
  assertEquals((rig.parts as Hooked[])[0]?.shout, "a!");
});

class Typed extends FrameworkModel {
  @prop({ type: Date })
  date?: Date;
  @prop({ type: BigInt })
  big?: bigint;
  @prop({ type: Types.Decimal128 })
  decimal?: Types.Decimal128;
  @prop({ type: Types.UUID })
  uuid?: Types.UUID;
  @prop({ type: Map, of: Number })
  map?: Map<string, unknown>;
  @prop({ type: Object })
  free?: object;
  @arrayProp({ items: Date })
  dates?: Date[];
  @prop({ ref: Quiet })
  friend?: string;
  @prop({ type: Clue })
  clue?: Clue;
}

@rest({ route: "/typed", methods: SIX })
class TypedRoot extends Typed {
  @rest({ methods: SIX })
  @arrayProp({ items: Typed, embedded: true })
  parts?: Typed[];
}

const CREATED = {
  date: "2001-01-01T00:00:00.000Z",
  big: "9007199254740993",
  decimal: "1.50",
  uuid: "3b241101-e2bb-4255-8caf-4136c566a962",
  map: { a: 1 },
  free: { a: { b: [1, { c: 2 }] } },
  dates: ["2001-01-01T00:00:00.000Z"],
  friend: "0123456789abcdef01234567",
  clue: { text: "T" },
};

const CHANGED = {
  date: "2002-01-01T00:00:00.000Z",
  big: "9007199254740995",
  decimal: null,
  map: { b: 2, a: null },
  free: { a: { b: null }, d: 1 },
  dates: ["2002-01-01T00:00:00.000Z"],
  friend: null,
  clue: { text: "U" },
};

/** Values without what the database assigns. */
function bare(value: unknown): unknown {
  const text = JSON.stringify(value, (key, each) => {
    if (key === "_id" || key === "__v" || key === "parts") return undefined;
    if (each?._bsontype !== undefined) return `${each._bsontype} ${each}`;
    return typeof each === "bigint" ? `int64 ${each}` : each;
  });
  return JSON.parse(text);
}

test("a part is stored and answered as a root is, whatever the types of its fields", async () => {
  await using app = await mount([TypedRoot]);
  const root = await app.post("/typed", CREATED);
  const at = `/typed/${root.body._id}`;
  const part = await app.post(`${at}/parts`, CREATED);
  const item = `${at}/parts/${part.body._id}`;
  const compare = async (a: unknown, b: unknown) => {
    assertEquals(bare(b), bare(a));
    const { parts, ...stored } = await onlyOne(getModel(TypedRoot));
    assertEquals(bare((parts as unknown[])[0]), bare(stored));
    assertEquals(bare((await app.get(item)).body), bare(a));
  };
  await compare(root.body, part.body);
  await compare((await app.patch(at, CHANGED)).body, (await app.patch(item, CHANGED)).body);
  const q = asQuery({ date: CHANGED.date, "free.d": 1, "clue.text": "U", "map.b": "2" });
  assertEquals((await app.get<unknown[]>(`${at}/parts${q}`)).body.length, 1);
});

test("immutable fields of a part stay, and its defaults come back for null", async () => {
  class Fixed extends FrameworkModel {
    @prop({ immutable: true })
    origin?: string;
    @prop({ default: "none" })
    mood!: string;
    @prop({ trim: true, lowercase: true })
    code?: string;
  }
  @rest({ route: "/fixed", methods: [one()] })
  class Fixture extends FrameworkModel {
    @rest({ methods: SIX })
    @arrayProp({ items: Fixed, embedded: true })
    parts?: Fixed[];
  }
  await using app = await mount([Fixture]);
  const { _id } = await getModel(Fixture).create({});
  const url = `/fixed/${_id}/parts`;
  const made = (await app.post(url, { origin: "A", mood: "good", code: " X " })).body;
  assertEquals([made.origin, made.mood, made.code], ["A", "good", "x"]);
  const changed = (await app.patch(`${url}/${made._id}`, { origin: "B", mood: null })).body;
  assertEquals([changed.origin, changed.mood, changed.code], ["A", "none", "x"]);
  assertEquals((await app.get(`${url}/${made._id}`)).body, changed);
});
