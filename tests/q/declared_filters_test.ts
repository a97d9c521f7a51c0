import { assert, assertEquals, assertThrows } from "@std/assert";
import type { Schema } from "mongoose";
import {
  all,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type QueryObject,
  type Ref,
  remove,
  removeAll,
  rest,
  update,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { asQuery, type ErrorBody, mount } from "../support/support.ts";

class Inner extends FrameworkModel {
  @prop()
  text?: string;
  @prop()
  other?: string;
}

class Fields extends FrameworkModel {
  @prop()
  state?: string;
  @prop()
  title?: string;
  @arrayProp({ items: String })
  tags?: string[];
  @prop({ type: Object })
  free?: Record<string, unknown>;
  @prop({ type: Map, of: Number })
  counts?: Map<string, number>;
  @prop({ type: () => Inner })
  inner?: Inner;
  @arrayProp({ items: Inner, embedded: true })
  inners?: Inner[];
}

const filter = [
  ...["state", "tags", "free", "counts", "inner.text", "inners", "inners.text"] as const,
];

@rest({
  route: "/listed",
  methods: [
    all({ filter }),
    one({ filter: ["state"] }),
    update({ filter }),
    remove(),
    removeAll({ filter }),
  ],
})
@rest({ route: "/any", methods: [all(), one(), create()] })
class Listed extends Fields {}

const ALLOWED = [
  ...[{ state: "x" }, { tags: "x" }, { "tags.0": "x" }, { free: { a: 1 } }, { "free.a.b": 1 }],
  ...[{ "counts.a": 1 }, { "inner.text": "x" }, { "inners.0.text": "x" }, { "inners.text": "x" }],
  ...[{ inners: { $elemMatch: { text: "x" } } }, { $or: [{ state: "x" }, { tags: { $size: 1 } }] }],
];

const REFUSED: readonly [string, object][] = [
  ["title", { title: "x" }],
  ["_id", { _id: "0".repeat(24) }],
  ["inner", { inner: { text: "x" } }],
  ["inner.other", { "inner.other": "x" }],
  ["inners.0.other", { "inners.0.other": "x" }],
  ["inners.other", { inners: { $elemMatch: { other: "x" } } }],
  ["title", { $or: [{ state: "x" }, { $and: [{ title: "x" }] }] }],
  ["undeclared", { undeclared: "x" }],
];

test("q names what its operation lists", async () => {
  await using app = await mount([Listed]);
  const { _id } = await app.created("/any", { state: "x" });
  for (const q of ALLOWED) {
    const { status, text } = await app.get(`/listed${asQuery(q)}`);
    assertEquals(status, 200, text);
  }
  for (const [field, q] of REFUSED) {
    for (const [method, path] of [["GET", ""], ["PATCH", `/${_id}`], ["DELETE", ""]] as const) {
      const body = method === "PATCH" ? {} : undefined;
      const { status, body: told } = await app.send<ErrorBody & { field?: string }>(
        method,
        `/listed${path}${asQuery(q)}`,
        { body },
      );
      assertEquals([status, told.field], [400, field], told.message);
      assert(told.message.includes('"state", "tags"'), told.message);
    }
  }
  assertEquals((await app.get(`/listed/${_id}${asQuery({ tags: "x" })}`)).status, 400);
  assertEquals((await app.delete(`/listed/${_id}${asQuery({ title: "x" })}`)).status, 404);
});

class Deep extends FrameworkModel {
  @arrayProp({ items: Inner, embedded: true })
  inners?: Inner[];
}

@rest({
  route: "/inside",
  methods: [all({ filter: ["inners.text", "deep.inners.text", "counts"] }), create()],
})
class Inside extends Fields {
  @arrayProp({ items: Deep, embedded: true })
  deep?: Deep[];
}

const textX = { $elemMatch: { text: "x" } };

const INSIDE: readonly (readonly [q: object, count: number])[] = [
  [{ inners: textX }, 1],
  [{ inners: { $not: textX } }, 1],
  [{ inners: { $elemMatch: { $or: [{ text: "x" }, { text: "y" }] } } }, 2],
  [{ inners: { $elemMatch: { $nor: [{ text: "x" }] } } }, 1],
  [{ inners: { $elemMatch: { text: { $gt: "x" } } } }, 1],
  [{ "inners.text": "y" }, 1],
  [{ deep: { $elemMatch: { inners: textX } } }, 1],
  [{ deep: { $not: { $elemMatch: { "inners.text": "x" } } } }, 1],
  [{ "deep.inners": textX }, 1],
  [{ "deep.0.inners": textX }, 1],
  [{ $nor: [{ inners: textX }] }, 1],
];

const OUTSIDE: readonly (readonly [field: string, q: object])[] = [
  ["inners", { inners: { text: "x" } }],
  ["inners", { inners: { $size: 1 } }],
  ["inners", { inners: { $exists: true } }],
  ["inners", { inners: { $elemMatch: { text: "x" }, $size: 1 } }],
  ["inners", { inners: { $not: { $size: 1 } } }],
  ["inners", { inners: { $not: { $not: { $size: 1 } } } }],
  ["inners", { inners: { $elemMatch: { $eq: { text: "x", other: "secret" } } } }],
  ["inners", { inners: { $elemMatch: { $exists: true } } }],
  ["inners", { inners: { $not: { $elemMatch: { $not: { $type: "object" } } } } }],
  ["inners.other", { inners: { $elemMatch: { other: "x" } } }],
  ["inners.other", { inners: { $not: { $elemMatch: { $or: [{ other: "x" }] } } } }],
  ["inners._id", { inners: { $elemMatch: { _id: "0".repeat(24) } } }],
  ["deep.inners.other", { deep: { $elemMatch: { inners: { $elemMatch: { other: "x" } } } } }],
  ["deep._id", { deep: { $elemMatch: { _id: "0".repeat(24) } } }],
  ["tags", { tags: { $elemMatch: { $eq: "x" } } }],
  ["inner", { inner: { $elemMatch: { text: "x" } } }],
];

test("q looks into the elements of an array for the fields that are listed", async () => {
  await using app = await mount([Inside]);
  for (const text of ["x", "y"]) {
    await app.created("/inside", { inners: [{ text }], deep: [{ inners: [{ text }] }] });
  }
  for (const [q, count] of INSIDE) {
    const { status, body, text } = await app.get<unknown[]>(`/inside${asQuery(q)}`);
    assertEquals([status, body.length], [200, count], `${JSON.stringify(q)} ${text}`);
  }
  for (const [field, q] of OUTSIDE) {
    const { status, body, text } = await app.get<{ field: string }>(`/inside${asQuery(q)}`);
    assertEquals([status, body.field], [400, field], `${JSON.stringify(q)} ${text}`);
  }
  const listed = Framework.describe({ models: [Inside] }).find(({ filter }) => filter);
  const told = listed?.filter?.fields.map(({ path, operators }) => `${path} ${operators.length}`);
  assert(told?.includes("inners 2") && told.includes("deep 2"), String(told));
});

test('with "listed", an operation without a list takes no q', async () => {
  await using app = await mount([Listed], { filters: "listed" });
  const { _id } = await app.created("/any", { state: "x" });
  for (const q of [{}, { state: "x" }]) {
    for (const path of ["/any", `/any/${_id}`]) {
      assertEquals((await app.get(`${path}${asQuery(q)}`)).status, 400);
      assertEquals((await app.get(path)).status, 200);
    }
    assertEquals((await app.delete(`/listed/${_id}${asQuery(q)}`)).status, 400);
    assertEquals((await app.get(`/listed${asQuery(q)}`)).status, 200);
  }
});

test("the description tells what q may name", () => {
  const routes = Framework.describe({ models: [Listed] });
  const [listed] = routes.filter(({ path, operation }) =>
    path === "/listed" && operation === "all"
  );
  assertEquals(listed?.filter?.fields.map(({ path }) => path), [
    ...["state", "tags", "free", "counts", "inner.text", "inners", "inners.text"],
  ]);
  const strict = Framework.describe({ models: [Listed], filters: "listed" });
  const [any] = strict.filter(({ path, operation }) => path === "/any" && operation === "all");
  assertEquals([any?.filter, any?.parameters], [undefined, []]);
});

function refuse(message: RegExp, make: () => void): void {
  const { message: told } = assertThrows(make, TypeError);
  assert(message.test(told), told);
}

test("a start refuses lists of what q cannot name", () => {
  const wrong: [RegExp, object, object][] = [
    [/all\(\) has "nothing" in "filter"/, all, { filter: ["nothing"] }],
    [/all\(\) has "inner.nothing" in "filter"/, all, { filter: ["inner.nothing"] }],
    [/all\(\) needs a list of paths/, all, { filter: [] }],
    [/all\(\) needs a list of paths/, all, { filter: "state" }],
    [/create\(\) cannot have "filter"/, create, { filter: ["state"] }],
  ];
  for (const [message, operation, options] of wrong) {
    class Wrong extends Fields {}
    const method = (operation as (options: unknown) => never)(options);
    rest({ route: "/wrong", methods: [method] })(Wrong as never, contextOf(Wrong));
    refuse(message, () => Framework.initialize({ models: [Wrong] }));
  }
  refuse(
    /"filters" is "all", not "listed"/,
    () => Framework.initialize({ models: [Listed], filters: "all" as never }),
  );
});

function contextOf(target: object) {
  const { [Symbol.metadata]: metadata = Object.create(null) } = target as {
    [Symbol.metadata]?: object;
  };
  Object.defineProperty(target, Symbol.metadata, { value: metadata });
  return { kind: "class", metadata, addInitializer: () => {} } as never;
}

/** What the scope and the hook of the routes below give. */
let given: QueryObject = {};

const scope = () => given;

function addFilter(req: FrameworkRequest): boolean {
  Object.assign(req.framework.filter, given);
  return true;
}

@rest({ route: "/scoped", methods: [all(), one(), create()], scope, main: true })
@rest({ route: "/hooked", methods: [all({ preFetch: addFilter })] })
class Named extends Fields {
  static override schemaOptions = { timestamps: true };

  static override configure(schema: Schema): void {
    schema.add({ grid: [[Number]] });
  }

  @arrayProp({ items: Deep, embedded: true })
  deep?: Deep[];
}

@rest({ route: "/open", methods: [all()], scope })
class Open extends FrameworkModel {
  static override schemaOptions = { strict: false };
}

const DECLARED: readonly QueryObject[] = [
  ...[{ _id: null }, { __v: 1 }, { createdAt: null }, { "free.a.b": 1 }, { "counts.x": 1 }],
  ...[{ "inners.0.text": 1 }, { "inners.text": "" }, { inners: { $elemMatch: { text: "" } } }],
  ...[{ $or: [{ state: 1 }] }, { $expr: { $eq: ["$x", 1] } }, { state: { $not: { $eq: 1 } } }],
  { inners: { $not: { $elemMatch: { $or: [{ text: "" }, { _id: null }] } } } },
  { inners: { $all: [{ $elemMatch: { text: { $not: { $eq: "" } } } }] } },
  { free: { $not: { $elemMatch: { any: { $elemMatch: { other: 1 } } } } } },
  { "free.list": { $all: [{ $elemMatch: { any: 1 } }] } },
  { grid: { $not: { $elemMatch: { $elemMatch: { $gt: 5 } } } } },
  { tags: { $not: { $elemMatch: { $in: ["x"] } } } },
];

const UNDECLARED: readonly (readonly [name: string, filter: QueryObject])[] = [
  ["deletdAt", { deletdAt: null }],
  ["deletdAt", { state: "x", deletdAt: { $ne: 1 } }],
  ["inner.txt", { "inner.txt": "x" }],
  ["state.deep", { "state.deep": "x" }],
  ["inners.txt", { inners: { $elemMatch: { txt: "x" } } }],
  ["other", { $or: [{ state: "x" }, { other: null }] }],
  ["inners.txt", { inners: { $not: { $elemMatch: { txt: "x" } } } }],
  ["inners.txt", { inners: { $not: { $not: { $elemMatch: { txt: "x" } } } } }],
  ["inners.txt", { inners: { $not: { $all: [{ $elemMatch: { txt: "x" } }] } } }],
  ["inners.txt", {
    inners: { $all: [{ $elemMatch: { text: "" } }, { $elemMatch: { txt: null } }] },
  }],
  ["inners.txt", { inners: { $elemMatch: { $nor: [{ text: "x", txt: "x" }] } } }],
  ["inners.txt", { $nor: [{ inners: { $elemMatch: { $or: [{ $and: [{ txt: "x" }] }] } } }] }],
  ["deep.inners.txt", { deep: { $elemMatch: { inners: { $not: { $elemMatch: { txt: 1 } } } } } }],
  ["deep.0.inners.txt", { "deep.0.inners": { $not: { $elemMatch: { txt: 1 } } } }],
  ["inner.txt", { inner: { $not: { $elemMatch: { txt: "x" } } } }],
  ["tags.txt", { tags: { $not: { $elemMatch: { txt: "x" } } } }],
  ["grid.txt", { grid: { $not: { $elemMatch: { $elemMatch: { txt: 1 } } } } }],
];

test("scopes and hooks name what the model declares", async () => {
  await using app = await mount([Named, Open]);
  for (const right of DECLARED) {
    given = right;
    for (const route of ["/scoped", "/hooked"]) {
      assertEquals((await app.get(route)).status, 200, JSON.stringify(right));
    }
  }
  given = { anything: 1 };
  assertEquals((await app.get("/open")).status, 200);
});

test("a scope or a hook that names something else is a 500 that tells the application", async () => {
  const reported: unknown[] = [];
  await using app = await mount([Named], { onError: (_req, error) => void reported.push(error) });
  for (const [name, wrong] of UNDECLARED) {
    given = wrong;
    for (const route of ["/scoped", "/hooked", `/scoped/${"0".repeat(24)}`]) {
      reported.length = 0;
      const { status, text } = await app.get(route);
      assertEquals(status, 500, `${route} ${JSON.stringify(wrong)}`);
      assert(!text.includes(name));
      const told = String(reported[0]);
      assert(told.includes(`"Named" declares no field "${name}"`), told);
    }
  }
});

class Person extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ type: Date })
  deletedAt?: Date;
}

const isThere = () => ({ deletedAt: null });

@rest({ route: "/people", methods: [all(), one(), create()], scope: isThere, main: true })
@rest({ route: "/people/deleted", methods: [all()], scope: () => ({ deletedAt: { $ne: null } }) })
class Removable extends Person {}

const populate = all({ populate: { owner: true } });

@rest({ route: "/notes", methods: [populate, one({ populate: { owner: true } }), create()] })
class Note extends FrameworkModel {
  @prop({ ref: Removable, exists: true })
  owner?: Ref<Removable>;
  @rest({ methods: [all()] })
  @arrayProp({ items: Removable })
  people?: Ref<Removable>[];
}

test("the main @rest of a class binds what refers to it", async () => {
  await using app = await mount([Removable, Note]);
  const there = await app.created("/people", { name: "a" });
  const gone = await getModel(Removable).create({ name: "b", deletedAt: new Date() });
  const { _id } = await app.created("/notes", { owner: there._id, people: [there._id, gone._id] });
  assertEquals((await app.post("/notes", { owner: gone._id })).status, 400);
  const shown = await app.read<{ owner: { name: string } | null }>(`/notes/${_id}?populate=owner`);
  assertEquals(shown.owner?.name, "a");
  await getModel(Note).updateOne({ _id }, { owner: gone._id });
  const left = await app.read<{ owner: unknown }>(`/notes/${_id}?populate=owner`);
  assertEquals(left.owner, null);
  assertEquals((await app.read<unknown[]>(`/notes/${_id}/people`)).length, 1);
  const request = { url: "/people", headers: {}, query: {} } as never;
  const { filter, model } = await Framework.queryFor(request, Removable);
  assertEquals(await model.countDocuments(filter), 1);
});

@rest({ route: "/here", methods: [one()], scope: isThere })
@rest({ route: "/gone", methods: [one()] })
class Unclear extends Person {}

@rest({ route: "/names", methods: [one()] })
class Names extends FrameworkModel {
  @prop({ ref: Unclear, exists: true })
  owner?: Ref<Unclear>;
}

@rest({ route: "/holds", methods: [one()] })
class Holds extends FrameworkModel {
  @rest({ methods: [all()] })
  @arrayProp({ items: Unclear })
  people?: Ref<Unclear>[];
}

@rest({ route: "/populates", methods: [one({ populate: { owner: true } })] })
class Populates extends FrameworkModel {
  @prop({ ref: Unclear, unguarded: true })
  owner?: Ref<Unclear>;
}

@rest({ route: "/a", methods: [one()], main: true })
@rest({ route: "/b", methods: [one()], main: true })
class Two extends Person {}

test("a start asks which of several @rest binds references", () => {
  for (const target of [Names, Holds, Populates]) {
    refuse(/"Unclear".*main: true/, () => Framework.initialize({ models: [target] }));
  }
  Framework.initialize({ models: [Unclear] });
  refuse(/two of its @rest are "main"/, () => Framework.initialize({ models: [Two] }));
});
