import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import mongoose from "mongoose";
import { all, arrayProp, FrameworkModel, getModel, one, prop, rest, update } from "../../mod.ts";
import type { FrameworkRequest } from "../../mod.ts";
import { casesOf } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

const { Decimal128, Int32, ObjectId, UUID } = mongoose.Types as typeof mongoose.Types & {
  Int32: typeof mongoose.mongo.Int32;
};

class Inner extends FrameworkModel {
  // Mongoose makes a new identifier for one that is stored without, each time it is read.
  static override schemaOptions = { _id: false };
  @prop()
  text?: string;
  @prop({ type: Date })
  at?: Date;
  @prop({ type: Object })
  free?: Record<string, unknown>;
}

/** What a hook gets; what it may do is not bound by types. */
// deno-lint-ignore no-explicit-any
type Loose = any;

type Change = (entity: Loose) => unknown;

/** A date of which JSON shows the day alone. */
function dayOnly(): Date {
  return Object.assign(new Date(1e12), { toJSON: () => "2001-09-09" });
}

function hideIn(entity: object, name: string): void {
  Object.defineProperty(entity, name, { value: true, enumerable: false });
}

/** What hooks do to an entity, by name. A change that an entity has no place for does nothing. */
const CHANGES: Readonly<Record<string, Change>> = {
  "sets a text": (e) => e.text = 'new "é\u2028',
  "sets a text to what it is": (e) => e.text = `${e.text}`,
  "clears a text": (e) => e.text = undefined,
  "sets a text to null": (e) => e.text = null,
  "sets a number": (e) => e.number = 1.5,
  "sets a number to one that JSON cannot say": (e) => e.number = Infinity,
  "sets a flag": (e) => e.flag = !e.flag,
  "replaces a date": (e) => e.day = new Date(5),
  "changes a date in place": (e) => e.day?.setTime?.(7),
  "makes a date invalid in place": (e) => e.day?.setTime?.(NaN),
  "replaces bytes": (e) => e.bytes = Buffer.from("new"),
  "changes bytes in place": (e) => e.bytes?.fill?.(1),
  "replaces a date by one that JSON shows otherwise": (e) => e.day?.setTime && (e.day = dayOnly()),
  "sets a decimal": (e) => e.decimal = Decimal128.fromString("9.90"),
  "changes a decimal in place": (e) => e.decimal?.bytes && (e.decimal.bytes[0] = 7),
  "sets a big number": (e) => e.big = 2n ** 60n,
  "sets an identifier": (e) => e.id1 = new ObjectId("0123456789abcdef01234567"),
  "changes an identifier in place": (e) => e.id1?.id && (e.id1.id = Buffer.from("twelve bytes")),
  "changes a UUID": (e) => e.uuid = new UUID("00000000-0000-4000-8000-000000000000"),
  "adds to a list": (e) => e.tags?.push?.("more"),
  "sets an element": (e) => e.tags?.length > 0 && (e.tags[0] = "first"),
  "deletes an element": (e) => e.tags?.length > 0 && delete e.tags[0],
  "empties a list": (e) => e.tags && (e.tags.length = 0),
  "replaces a list": (e) => e.tags = ["other", "tags"],
  "sorts a list in place": (e) => e.tags?.sort?.(),
  "changes a date in a list": (e) => e.days?.[0]?.setTime?.(9),
  "changes free-form data in place": (e) => e.free && (e.free.x = { deep: 1 }),
  "changes free-form data deep inside": (e) => e.free?.deep && (e.free.deep.list = [1]),
  "deletes from free-form data": (e) => delete e.free?.deep,
  "sets a key of a Map": (e) => e.map?.set?.("new", 2),
  "deletes a key of a Map": (e) => e.map?.delete?.("a"),
  "changes an embedded object": (e) => e.inner && (e.inner.text = "inside"),
  "changes a date of an embedded object": (e) => e.inner?.at?.setTime?.(11),
  "changes free-form data of an embedded object": (e) => e.inner?.free && (e.inner.free.y = 1),
  "removes an embedded object": (e) => e.inner = undefined,
  "replaces an embedded object": (e) => e.inner = { text: "replaced" },
  "changes an embedded element": (e) => e.inners?.[0] && (e.inners[0].text = "element"),
  "removes an embedded element": (e) => e.inners?.pop?.(),
  "adds to a default": (e) => e.listed?.push?.("added"),
  "sets a default": (e) => e.letter = "z",
  "sets a hidden field": (e) => e.secret = "SECRET",
  "sets a field that reads leave out": (e) => e.quiet = "shown",
  "sets what is not declared": (e) => e.extra = { text: "x" },
  "hides a field": (e) => e.flag !== undefined && hideIn(e, "flag"),
  "sets a JSON form of its own": (e) => e.toJSON = () => ({ own: true }),
};

const NAMES = Object.keys(CHANGES);

/** The changes that the next requests run. */
let changes: readonly string[] = [];

function change(_req: FrameworkRequest, entity: Loose): Loose {
  for (const name of changes) CHANGES[name]?.(entity);
  return entity;
}

/** Gives documents that Mongoose has made itself. */
async function byMongoose({ framework, params }: Loose): Promise<unknown> {
  const model = await framework.model();
  return params.id === undefined ? model.find().sort("_id") : model.findById(params.id);
}

/** Changes an instance, and gives another one with the same values. */
function changeCopy(req: FrameworkRequest, entity: Loose): Loose {
  const changed = change(req, entity);
  return Object.defineProperties(
    Object.create(Object.getPrototypeOf(changed)),
    Object.getOwnPropertyDescriptors(changed),
  );
}

const page = { size: 20, max: 20 };

/** Its answers show all that hooks see. */
@rest({ route: "/updated", methods: [update({ preSend: change })] })
@rest({ route: "/updated-made", methods: [update({ fetch: byMongoose, preSend: change })] })
class Shown extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ type: Number })
  number?: number;
  @prop({ type: Boolean })
  flag?: boolean;
  @prop({ type: Date })
  day?: Date;
  @prop({ type: Buffer })
  bytes?: Buffer;
  @prop({ type: mongoose.Types.Decimal128 })
  decimal?: mongoose.Types.Decimal128;
  @prop({ type: BigInt })
  big?: bigint;
  @prop({ type: mongoose.Types.ObjectId })
  id1?: mongoose.Types.ObjectId;
  @prop({ type: mongoose.Types.UUID })
  uuid?: mongoose.Types.UUID;
  @arrayProp({ items: String })
  tags?: string[];
  @arrayProp({ items: Date })
  days?: Date[];
  @prop({ type: Object })
  free?: Record<string, unknown>;
  @prop({ type: Map, of: Number })
  map?: Map<string, number>;
  @prop({ type: Inner })
  inner?: Inner;
  @arrayProp({ items: Inner, embedded: true })
  inners?: Inner[];
  @arrayProp({ items: String, default: ["default"] })
  listed?: string[];
  @prop({ default: "a" })
  letter?: string;
  @prop({ hidden: true })
  secret?: string;
}

@rest({ route: "/documents", methods: [all({ postFetch: change }), one({ postFetch: change })] })
@rest({ route: "/pages", methods: [all({ page, preSend: change })] })
@rest({
  route: "/made",
  methods: [
    all({ fetch: byMongoose, postFetch: change }),
    one({ fetch: byMongoose, postFetch: change }),
  ],
})
@rest({
  route: "/lean",
  methods: [all({ lean: true, postFetch: change }), one({ lean: true, postFetch: change })],
})
@rest({
  route: "/copies",
  methods: [all({ lean: true, postFetch: changeCopy }), one({ lean: true, postFetch: changeCopy })],
})
class Thing extends Shown {
  @prop({ select: false })
  quiet?: string;
}

const inner = () => ({ text: "i", at: new Date(2e12), free: { x: { y: 1 } } });

const WHOLE = (): Record<string, unknown> => ({
  text: "é text",
  number: 5,
  flag: true,
  day: new Date(1e12),
  bytes: Buffer.from("bytes"),
  decimal: Decimal128.fromString("1.10"),
  big: 3n,
  id1: new ObjectId(),
  uuid: new UUID(),
  tags: ["b", "a"],
  days: [new Date(3e12)],
  free: { deep: { a: 1 }, list: [1] },
  map: { a: 1 },
  inner: inner(),
  inners: [inner(), inner()],
  listed: ["stored"],
  letter: "b",
  secret: "SECRET",
  quiet: "q",
});

/** Values that do not fit their field. */
const ODD: Record<string, unknown> = {
  text: 5,
  number: Int32 ? new mongoose.mongo.Double(NaN) : NaN,
  day: "2024-01-01",
  tags: "one",
  inner: [],
  inners: [5, { text: "x" }],
  map: null,
  big: 1.5,
};

const storedEntity = fc.record({
  left: fc.subarray(Object.keys(WHOLE())),
  odd: fc.subarray(Object.keys(ODD), { maxLength: 2 }),
}).map(({ left, odd }) => {
  const whole = WHOLE();
  for (const name of left) delete whole[name];
  for (const name of odd) whole[name] = ODD[name];
  return { ...whole, undeclared: "u", __v: 0, _id: new ObjectId() };
});

test("whatever hooks change in an entity is shown, and nothing else than where Mongoose has made it", async () => {
  await using app = await mount([Thing]);
  const { collection } = getModel(Thing);
  await fc.assert(
    fc.asyncProperty(
      fc.array(storedEntity, { minLength: 1, maxLength: 3 }),
      fc.subarray(NAMES, { maxLength: 6 }),
      async (entities, names) => {
        await collection.deleteMany({});
        await collection.insertMany(entities as never);
        changes = names;
        const read = async (path: string) => {
          const { status, body, text } = await app.get(path);
          assert(!text.includes("SECRET"), `${path} shows a secret`);
          return [status, body];
        };
        const made = await read("/made");
        assertEquals(await read("/documents"), made);
        assertEquals(await read("/pages"), made);
        assertEquals(await read("/lean"), await read("/copies"));
        const id = String(entities[0]?._id);
        assertEquals(await read(`/documents/${id}`), await read(`/made/${id}`));
        assertEquals(await read(`/lean/${id}`), await read(`/copies/${id}`));
      },
    ),
    { numRuns: casesOf(75) },
  );
});

test("whatever hooks change in an entity that was saved is shown", async () => {
  await using app = await mount([Shown]);
  const { collection } = getModel(Shown);
  await fc.assert(
    fc.asyncProperty(
      storedEntity,
      fc.subarray(NAMES, { maxLength: 6 }),
      fc.subarray(["text", "day", "tags", "inner", "free"]),
      async (entity, names, patched) => {
        const whole = WHOLE();
        const body = Object.fromEntries(patched.map((name) => [name, whole[name]]));
        changes = names;
        const patch = async (route: string) => {
          await collection.deleteMany({});
          await collection.insertOne({ ...entity } as never);
          const { status, body: shown, text } = await app.patch(`${route}/${entity._id}`, body);
          assert(!text.includes("SECRET"), `${route} shows a secret`);
          return [status, shown];
        };
        assertEquals(await patch("/updated"), await patch("/updated-made"));
      },
    ),
    { numRuns: casesOf(75) },
  );
});

test("every single change of a hook is shown", async () => {
  await using app = await mount([Thing]);
  const stored = { ...WHOLE(), __v: 0, _id: new ObjectId() };
  await getModel(Thing).collection.insertOne(stored as never);
  const show = async (route: string, names: readonly string[]) => {
    changes = names;
    return (await app.get(`${route}/${stored._id}`)).text;
  };
  const silent = new Set(["sets a text to what it is", "sets a hidden field"]);
  // Documents show what is declared, whatever other properties they have.
  const silentOnDocuments = new Set([...silent, "sets what is not declared", "hides a field"]);
  for (const name of NAMES) {
    for (const route of ["/documents", "/lean"]) {
      const isShown = await show(route, [name]) !== await show(route, []);
      const isSilent = (route === "/documents" ? silentOnDocuments : silent).has(name);
      assertEquals([route, name, isShown], [route, name, !isSilent]);
    }
  }
});

class Account extends FrameworkModel {
  @prop({ hidden: true })
  name?: string;
}

/** Gives an instance what other classes hide. */
const BORROWED: Readonly<Record<string, Change>> = {
  prototype: (e) => Object.setPrototypeOf(e, Account.prototype),
  copy: (e) => Object.assign(e, new (getModel(Account))({ _id: e._id, name: "SECRET" }).toObject()),
};

@rest({
  route: "/people",
  methods: [
    one({
      lean: true,
      postFetch: (req, person) => BORROWED[String(req.query.how)]?.(person) as Person,
    }),
  ],
})
class Person extends FrameworkModel {
  @prop()
  name?: string;
}

test("an instance that a hook gives another class, or a copy of another entity, hides what these hide", async () => {
  await using app = await mount([Person]);
  const { _id } = await getModel(Person).create({ name: "SECRET" });
  for (const how of Object.keys(BORROWED)) {
    const { body } = await app.get(`/people/${_id}?how=${how}`);
    assertEquals([how, body], [how, { __v: 0, _id: String(_id) }]);
  }
});
