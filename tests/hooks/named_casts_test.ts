import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  leaveOut,
  one,
  onlyIf,
  prop,
  remove,
  removeAll,
  replace,
  rest,
  update,
  updateAll,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { asDocuments } from "../support/both_paths.ts";
import { asQuery, mount, type Mounted } from "../support/support.ts";

class Inner extends FrameworkModel {
  @prop({ type: Number })
  n?: number;
}

type Read = Pick<Thing, "flag" | "count" | "at" | "words" | "named" | "inner" | "inners" | "made">;

const NAMES = ["flag", "count", "at", "words", "named", "inner", "inners", "made"] as const;

/** Whether an entity is open, if its values have their types. */
function isOpen(_req: unknown, thing: Read): boolean {
  return thing.flag !== true && thing.count !== 7 && thing.at?.getTime() !== 5 &&
    !thing.words?.includes("shut") && thing.named?.get("k") !== 7 && thing.inner?.n !== 7 &&
    thing.inners?.[0]?.n !== 7 && thing.made !== "shut";
}

const named = onlyIf(
  [...NAMES],
  (req: FrameworkRequest, thing: Read) => isOpen(req, thing),
);

const plain = (req: FrameworkRequest, thing: Thing) => isOpen(req, thing) ? thing : null;

const hides = leaveOut(["title"], [...NAMES], (req: FrameworkRequest, thing: Read) => {
  return !isOpen(req, thing);
});

const isNoSecret = onlyIf(
  ["secret"],
  (_req: FrameworkRequest, { secret }: Pick<Thing, "secret">) => secret === false,
);

const operations = (postFetch: typeof plain) => [
  all({ postFetch, select: ["title"], filter: ["_id"] }),
  one({ postFetch }),
  update({ postFetch }),
  remove({ postFetch }),
  replace({ postFetch }),
  updateAll({ fields: ["title"], filter: ["_id"], postFetch }),
  removeAll({ filter: ["_id"], postFetch }),
];

@rest({ route: "/plain", methods: operations(plain) })
@rest({ route: "/named", methods: operations(named as typeof plain) })
@rest({ route: "/left", methods: [all({ filter: ["_id"], preSend: hides })] })
@rest({
  route: "/left-documents",
  methods: [all({ filter: ["_id"], preSend: hides, preFetch: asDocuments })],
})
@rest({ route: "/open", methods: [all({ postFetch: isNoSecret })] })
@rest({
  route: "/open-documents",
  methods: [
    all({ postFetch: isNoSecret, preFetch: asDocuments }),
    update({ postFetch: isNoSecret }),
  ],
})
class Thing extends FrameworkModel {
  @prop()
  title?: string;
  @prop({ type: Boolean, select: false, default: false })
  secret?: boolean;
  @prop({ type: Boolean })
  flag?: boolean;
  @prop({ type: Number, hidden: true })
  count?: number;
  @prop({ type: Date })
  at?: Date;
  @arrayProp({ items: String })
  words?: string[];
  @prop({ type: Map, of: Number })
  named?: Map<string, number>;
  @prop({ type: Inner })
  inner?: Inner;
  @arrayProp({ items: Inner, embedded: true })
  inners?: Inner[];
  @prop({
    default(this: Thing) {
      return this.title === "made" ? "shut" : "open";
    },
  })
  made?: string;
}

/** Stored values that Mongoose casts to a value that shuts the entity. */
const SHUT: [string, object][] = [
  ["a Boolean as a number", { flag: 1 }],
  ["a Boolean as a text", { flag: "true" }],
  ["a Number as a text", { count: "7" }],
  ["a Number as a Decimal128", { count: mongoose.Types.Decimal128.fromString("7") }],
  ["a Date as a text", { at: "1970-01-01T00:00:00.005Z" }],
  ["a Date as a number", { at: 5 }],
  ["a single value in a list", { words: "shut" }],
  ["a value of a Map", { named: { k: "7" } }],
  ["an embedded value", { inner: { n: "7" } }],
  ["an element", { inners: [{ n: "7" }] }],
  ["a single element", { inners: { n: "7" } }],
  ["a default by another field", { title: "made" }],
];

const REQUESTS: [
  string,
  (app: Mounted, route: string, id: string) => Promise<{ status: number }>,
][] = [
  ["one", (app, route, id) => app.get(`${route}/${id}`)],
  ["update", (app, route, id) => app.patch(`${route}/${id}`, { title: "made" })],
  ["replace", (app, route, id) => app.put(`${route}/${id}`, { title: "made" })],
  ["remove", (app, route, id) => app.delete(`${route}/${id}`)],
];

test("a hook with names decides as one without them about stored values of other types", async (t) => {
  await using app = await mount([Thing]);
  const { collection } = getModel(Thing);
  for (const [name, shut] of SHUT) {
    await t.step(name, async () => {
      const thing = { title: "t", __v: 0, ...shut };
      const { insertedId } = await collection.insertOne({ ...thing } as never);
      const id = String(insertedId);
      for (const route of ["/plain", "/named"]) {
        assertEquals(await app.read<unknown>(route), [], route);
        assertEquals(await app.read<unknown>(`${route}?select=title`), [], route);
        for (const [operation, send] of REQUESTS) {
          assertEquals((await send(app, route, id)).status, 404, `${route} ${operation}`);
        }
        const query = asQuery({ _id: id });
        const { body } = await app.patch<unknown>(`${route}${query}`, { title: "b" });
        assertEquals(body, { matched: 0, modified: 0 });
        await app.delete(`${route}${query}`);
        const stored = await collection.findOne({ _id: insertedId });
        assertEquals(stored, { _id: insertedId, ...thing } as never, route);
      }
      for (const route of ["/left", "/left-documents"]) {
        const [{ title } = {}] = await app.read<{ title?: string }[]>(route);
        assertEquals(title, undefined, route);
      }
      await collection.deleteMany({});
    });
  }
});

test("a hook with names gets an unselected field as a document would hold it", async () => {
  await using app = await mount([Thing]);
  const { collection } = getModel(Thing);
  await collection.insertMany([
    { title: "no" },
    { title: "0", secret: 0 },
    { title: "1", secret: 1 },
    { title: "true", secret: "true" },
  ] as never);
  for (const route of ["/open", "/open-documents"]) {
    const found = await app.read<{ title: string }[]>(route);
    assertEquals(found.map(({ title }) => title), ["no", "0"], route);
  }
  for (const { _id, title } of await collection.find().toArray()) {
    const { status } = await app.patch(`/open-documents/${_id}`, { count: 1 });
    assertEquals(status, ["no", "0"].includes(title ?? "") ? 200 : 404, title);
  }
});

const isLow = (n: unknown) => n !== 7;

const plainPart = (_req: unknown, part: Part) => isLow(part.n) ? part : null;

const namedPart = onlyIf(["n"], (_req: FrameworkRequest, { n }: Pick<Part, "n">) => isLow(n));

const onParts = (postFetch: typeof plainPart) => ({
  methods: [all({ postFetch }), one({ postFetch }), update({ postFetch }), remove({ postFetch })],
});

class Part extends FrameworkModel {
  @prop({ type: Number })
  n?: number;
  @prop()
  text?: string;
}

@rest({ route: "/wholes", methods: [one()] })
class Whole extends FrameworkModel {
  @rest(onParts(plainPart))
  @arrayProp({ items: Part, embedded: true, apart: true })
  plain?: Part[];
  @rest(onParts(namedPart as typeof plainPart))
  @arrayProp({ items: Part, embedded: true, apart: true })
  named?: Part[];
}

test("a hook with names decides alike about parts with stored values of other types", async () => {
  await using app = await mount([Whole]);
  const { collection } = getModel(Whole);
  const values = ["7", 7, mongoose.Types.Decimal128.fromString("7"), "8", 8, null];
  for (const [index, n] of values.entries()) {
    const parts = [{ _id: new mongoose.Types.ObjectId(), n, text: "t" }];
    const { insertedId } = await collection.insertOne({ plain: parts, named: parts } as never);
    const told = await Promise.all(["plain", "named"].map(async (name) => {
      const list = `/wholes/${insertedId}/${name}`;
      const path = `${list}/${parts[0]?._id}`;
      const shown = [(await app.get(list)).text, (await app.get(path)).text];
      const changed = (await app.patch(path, { text: "u" })).status;
      return [...shown, changed, (await app.delete(path)).status];
    }));
    assertEquals(told[1], told[0], String(n));
    assertEquals(told[0]?.slice(2), index < 3 ? [404, 404] : [200, 204], String(n));
  }
});
