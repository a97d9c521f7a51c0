import { assertEquals } from "@std/assert";
import mongoose, { type Schema } from "mongoose";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  type Hidden,
  one,
  prop,
  type Ref,
  remove,
  rest,
  update,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import type { EntityBody, Mounted } from "../../support/support.ts";
import { as, SECRET, serveHistory } from "./plans.ts";

const notAdmin = (req: FrameworkRequest) => req.headers["x-user"] !== "admin";

/** An object that nothing identifies in a list. */
class Line extends FrameworkModel {
  static override schemaOptions = { _id: false };
  @prop()
  text?: string;
  @prop({ hidden: true })
  token?: Hidden<string>;
}

class Shape extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ hidden: true })
  token?: Hidden<string>;

  static override configure(schema: Schema): void {
    const kind = { sides: Number, price: { type: Number, hidden: notAdmin } };
    schema.discriminator("Polygon", new mongoose.Schema(kind as never));
  }
}

class Check extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ type: Boolean, readonly: notAdmin })
  approved?: boolean;
}

class Bare extends FrameworkModel {
  static override schemaOptions = { _id: false };
  @prop()
  text?: string;
  @prop({ type: Boolean, readonly: notAdmin })
  approved?: boolean;
}

@rest({ route: "/reviews", methods: [one(), create(), update()], history: true })
class Review extends FrameworkModel {
  @rest({ methods: [update(), remove()] })
  @arrayProp({ items: Check, embedded: true, apart: false })
  checks!: Check[];
  @rest({ methods: [update(), remove()] })
  @prop({ type: Check, apart: false })
  last?: Check;
  @prop({ type: Map, of: Check, apart: false })
  named?: Map<string, Check>;
  @arrayProp({ items: Bare, embedded: true, apart: false })
  bare!: Bare[];
}

@rest({ route: "/sheets", methods: [one(), create(), remove()] })
class Sheet extends FrameworkModel {
  @prop()
  name?: string;
}

/** Runs between the read and the write of a revert by the route `/slow`. */
let meanwhile: (() => Promise<unknown>) | undefined;

@rest({
  route: "/slow",
  methods: [
    one(),
    update({
      async preSave(_req, drawing) {
        await meanwhile?.();
        return drawing.name === "forbidden" ? null : drawing;
      },
    }),
  ],
  history: true,
})
@rest({
  route: "/scoped",
  methods: [one(), update()],
  scope: () => ({ name: { $ne: "outside" } }),
  history: true,
})
@rest({ route: "/careful", methods: [one(), update()], ifMatch: true, history: true })
@rest({
  route: "/drawings",
  methods: [all(), one(), create(), update()],
  history: true,
  main: true,
})
class Drawing extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ type: Number })
  size?: number;
  @prop({ type: Date })
  due?: Date;
  @arrayProp({ items: Line, embedded: true })
  lines!: Line[];
  @arrayProp({ items: Shape, embedded: true })
  shapes!: Shape[];
  @prop({ type: Shape })
  frame?: Shape;
  @prop({ type: Map, of: String })
  words?: Map<string, string>;
  @prop({ type: Object })
  notes?: Record<string, unknown>;
  @prop({ ref: Sheet, exists: true })
  sheet?: Ref<Sheet>;

  static override configure(schema: Schema): void {
    schema.add({ place: { city: String, zip: String } } as never);
  }
}

const serveDrawings = () => serveHistory([Drawing, Sheet]);

/** Reads the stored values of a drawing. */
async function stored({ _id }: { readonly _id: string }): Promise<Record<string, unknown>> {
  const id = new mongoose.Types.ObjectId(_id);
  return await getModel(Drawing).collection.findOne({ _id: id }) as Record<string, unknown>;
}

/** Writes stored values of a drawing that no client can set. */
async function store({ _id }: { readonly _id: string }, $set: object): Promise<void> {
  const id = new mongoose.Types.ObjectId(_id);
  await getModel(Drawing).collection.updateOne({ _id: id }, { $set });
}

const revert = (app: Mounted, { _id }: EntityBody, version: number, user = "eve") =>
  app.post<Record<string, unknown>>(`/drawings/${_id}/revert`, { version }, as(user));

test("a revert sets objects of dotted paths back", async () => {
  await using app = await serveDrawings();
  const made = await app.created("/drawings", { name: "a", place: { city: "Rome", zip: "1" } });
  await app.updated(`/drawings/${made._id}`, { place: { city: "Oslo", zip: null } });
  await revert(app, made, 0);
  assertEquals((await stored(made)).place, { city: "Rome", zip: "1" });
  await app.updated(`/drawings/${made._id}`, { place: null });
  await revert(app, made, 1);
  assertEquals((await stored(made)).place, { city: "Oslo" });
});

test("a revert keeps the hidden values of elements without `_id`, each in its element", async () => {
  await using app = await serveDrawings();
  const lines = [{ text: "x", token: "1" }, { text: "y", token: "2" }];
  const made = await app.created("/drawings", { name: "a", lines: [{ text: "x" }, { text: "y" }] });
  const path = `/drawings/${made._id}`;
  await app.updated(path, { lines: [{ text: "x" }, { text: "y" }, { text: "z" }] });
  await store(made, { lines: [...lines, { text: "z", token: "3" }] });
  await revert(app, made, 0);
  assertEquals((await stored(made)).lines, lines);
  await app.updated(path, { lines: [{ text: "z" }] });
  await store(made, { lines: [{ text: "z", token: "3" }] });
  await revert(app, made, 0);
  assertEquals((await stored(made)).lines, [{ text: "x" }, { text: "y" }]);
});

test("a part of a kind comes back without the values that the caller does not see", async () => {
  await using app = await serveDrawings();
  const shape = { __t: "Polygon", name: "s", sides: 3 };
  for (const [user, price] of [["eve", {}], ["admin", { price: 5 }]] as const) {
    const made = await app.created("/drawings", { name: "a" });
    const _id = new mongoose.Types.ObjectId();
    await store(made, { shapes: [{ _id, ...shape, price: 5, token: SECRET }] });
    await app.updated(`/drawings/${made._id}`, { shapes: [] });
    await revert(app, made, 0, user);
    assertEquals((await stored(made)).shapes, [{ _id, ...shape, ...price }]);
  }
});

test("a part that comes back has the newest of the values that the caller cannot set", async () => {
  await using app = await serveHistory([Review]);
  const check = (approved?: boolean) => ({ text: "a", approved });
  const all = (approved: boolean) => ({
    checks: [check(approved)],
    last: check(approved),
    named: { x: check(approved) },
    bare: [check(approved)],
  });
  const made = await app.created<EntityBody & { readonly checks: EntityBody[] }>(
    "/reviews",
    all(true),
    as("admin"),
  );
  const path = `/reviews/${made._id}`;
  const [{ _id } = { _id: "" }] = made.checks;
  await app.updated(path, { ...all(false), checks: [{ _id, ...check(false) }] }, as("admin"));
  await app.updated(path, { checks: [], named: null, bare: [] }, as("eve"));
  assertEquals((await app.delete(`${path}/last`, as("eve"))).status, 204);
  const { body } = await app.post(`${path}/revert`, { version: 0 }, as("eve"));
  const { checks, last, named, bare } = JSON.parse(JSON.stringify(body), withoutId);
  assertEquals({ checks, last, named, bare }, {
    ...all(false),
    bare: [{ text: "a" }],
  });
});

function withoutId(name: string, value: unknown): unknown {
  return name === "_id" ? undefined : value;
}

test("an earlier value that does not fit its field is refused as a wrong value", async () => {
  await using app = await serveDrawings();
  const made = await app.created("/drawings", { name: "a" });
  await store(made, { size: "large", due: "soon" });
  await app.updated(`/drawings/${made._id}`, { size: 5, due: "2020-01-01T00:00:00Z" });
  const { status, body } = await revert(app, made, 0);
  const problem = (name: string) => ({ message: `Field "${name}" is not valid`, kind: "cast" });
  assertEquals([status, body.errors], [400, { size: problem("size"), due: problem("due") }]);
});

test("a revert overwrites no change that others have made to a part of a value since it was read", async (t) => {
  await using app = await serveDrawings();
  const changes:
    readonly (readonly [name: string, first: unknown, second: unknown, other: object])[] = [
      ["frame", { name: "a" }, { name: "b" }, { frame: { name: "c" } }],
      ["words", { a: "1", b: "1" }, { a: "2" }, { words: { b: "2" } }],
      ["notes", { a: 1, b: 1 }, { a: 2 }, { notes: { b: 2 } }],
      ["shapes", [{ name: "a" }], [], { shapes: [{ name: "c" }] }],
    ];
  for (const [name, first, second, other] of changes) {
    await t.step(name, async () => {
      const made = await app.created("/drawings", { name: "a", [name]: first });
      await app.updated(`/drawings/${made._id}`, { [name]: second });
      meanwhile = async () => {
        meanwhile = undefined;
        await app.updated(`/drawings/${made._id}`, other);
      };
      const { status } = await app.post(`/slow/${made._id}/revert`, { version: 0 });
      assertEquals([status, (await stored(made)).__v], [409, 2]);
    });
  }
});

test("a revert obeys the rules of an update", async () => {
  await using app = await serveDrawings();
  const sheet = await app.created("/sheets", { name: "s" });
  const made = await app.created("/drawings", { name: "outside" });
  const path = `/drawings/${made._id}`;
  await app.updated(path, { name: "forbidden" });
  await app.updated(path, { name: "b", sheet: sheet._id });
  await app.updated(path, { sheet: null });
  await app.delete(`/sheets/${sheet._id}`);
  const statusOf = async (route: string, version: number) =>
    (await app.post(`/${route}/${made._id}/revert`, { version })).status;
  assertEquals(await statusOf("scoped", 0), 403);
  assertEquals(await statusOf("slow", 1), 403);
  assertEquals(await statusOf("drawings", 2), 400);
  assertEquals(await statusOf("careful", 1), 428);
  assertEquals(await statusOf("drawings", 1), 200);
});
