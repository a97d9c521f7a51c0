import { assertEquals, assertStringIncludes } from "@std/assert";
import mongoose from "mongoose";
import {
  action,
  all,
  arrayProp,
  create,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type Ref,
  remove,
  rest,
  update,
} from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { test } from "../harness/testing.ts";
import {
  asQuery,
  type ErrorBody,
  mount,
  type Mounted,
  type MountOptions,
} from "../support/support.ts";

class Address extends FrameworkModel {
  @prop()
  city?: string;
}

@rest({ route: "/authors", methods: [create()], scope: ({ ip }) => ({ state: ip && "open" }) })
class Author extends FrameworkModel {
  @prop({ index: true })
  name?: string;
  @prop({ type: Number })
  born?: number;
  @prop({ default: "open" })
  state?: string;
  @prop({ type: Address })
  address?: Address;
  @prop({ ref: () => Author })
  teacher?: Ref<Author>;
}

class Shop extends FrameworkModel {
  static override configure(schema: mongoose.Schema): void {
    schema.add({ _id: String } as never);
  }
  @prop()
  city?: string;
}

class Chapter extends FrameworkModel {
  @prop({ type: Number })
  page?: number;
  @prop({ ref: Author })
  editor?: Ref<Author>;
}

const filter = [
  ...["title", "author", "author.name", "author.born", "author.address.city"] as const,
  ...["authors.name", "authors.born", "chapters.page", "chapters.editor.name"] as const,
  ...["owners", "owners.sales.name"] as const,
];

async function sendEarly({ framework }: FrameworkRequest): Promise<boolean> {
  return await getModel(Book).collection.countDocuments(framework.filter as never) >= 0;
}

/** Shows the number of books that the filter selects before a hook adds a condition. */
async function counts({ framework, res }: FrameworkRequest): Promise<boolean> {
  res?.setHeader("x-filter", JSON.stringify(framework.filter));
  res?.setHeader("x-count", await framework.count());
  framework.filter = { $and: [framework.filter, { title: { $ne: "c" } }] };
  return true;
}

/** Copies an object of the request into the filter, as hooks do with a parsed query string. */
function copiesTitle({ framework }: FrameworkRequest): boolean {
  Object.assign(framework.filter, { title: { $ne: "x" } });
  return true;
}

const page = { size: 2, max: 100 };

@rest({
  route: "/books",
  methods: [
    all({ filter: [...filter, "shop.city", "writer.name"] as never, page, sort: ["title"] }),
    one({ filter }),
    create(),
    update({ filter }),
    remove({ filter }),
    action("report", {
      on: "all",
      method: "GET",
      filter,
      run: async ({ res }, { model, filter }) => {
        res?.setHeader("x-count", await model.countDocuments(filter));
      },
    }),
  ],
})
@rest({ route: "/hooked", methods: [all({ filter, page, postFetch: pass })] })
@rest({ route: "/counted", methods: [all({ filter, preFetch: counts })] })
@rest({ route: "/early", methods: [all({ filter, preFetch: sendEarly })] })
@rest({
  route: "/fetched",
  methods: [all({
    filter,
    fetch: ({ framework }) => getModel(Book).find(framework.filter as never).sort("title"),
  })],
})
@rest({ route: "/copied", methods: [all({ filter, preFetch: copiesTitle })] })
@rest({ route: "/any", methods: [all()] })
class Book extends FrameworkModel {
  @prop()
  title?: string;
  @prop({ ref: Author })
  author?: Ref<Author>;
  @arrayProp({ items: Author })
  authors?: Ref<Author>[];
  @rest({ methods: [all({ filter: ["editor.name", "page"] })] })
  @arrayProp({ items: Chapter, embedded: true, apart: false })
  chapters?: Chapter[];
  @prop({ type: String, ref: Shop })
  shop?: string;
  /** The identifier of an author, stored as a text. */
  @prop({ type: String, ref: Author })
  writer?: string;
  @prop({ type: Map, of: mongoose.Types.ObjectId, ref: Author } as never)
  owners?: Map<string, Ref<Author>>;
}

@rest({ route: "/shelves", methods: [one(), create()] })
class Shelf extends FrameworkModel {
  @rest({ methods: [all({ filter: ["author.name"] })] })
  @arrayProp({ items: Book })
  books?: Ref<Book>[];
}

interface Library extends Mounted {
  /** The titles of the books that a filter selects, or the message of the refusal. */
  titles(q: object, path?: string): Promise<string>;
  readonly ids: Readonly<Record<"ann" | "bob" | "gone" | "a", string>>;
}

/** Serves three authors, of which one is outside of the scope, and five books. */
async function serve(options: MountOptions = {}): Promise<Library> {
  const app = await mount([Book, Author, Shelf], options);
  const idOf = async (path: string, body: object) => (await app.created(path, body))._id;
  const ann = await idOf("/authors", { name: "Ann", born: 1900, address: { city: "Rome" } });
  const bob = await idOf("/authors", { name: "Bob", born: 1950 });
  const gone = String(
    (await getModel(Author).create({ name: "Ann", state: "closed", born: 1900 }))._id,
  );
  await getModel(Shop).create({ _id: "s1", city: "Oslo" });
  const chapters = [{ page: 1, editor: ann }, { page: 9, editor: bob }];
  const a = await idOf("/books", { title: "a", author: ann, authors: [ann, bob], shop: "s1" });
  await app.created("/books", { title: "b", author: bob, authors: [bob], chapters });
  await app.created("/books", { title: "c", authors: [], owners: { sales: ann }, writer: bob });
  await app.created("/books", { title: "d", author: gone, authors: [gone, bob] });
  await app.created("/books", { title: "e", author: "0".repeat(24), authors: [ann] });
  const titles = async (q: object, path = "/books") => {
    const { status, body } = await app.get(`${path}${asQuery(q)}&limit=100`);
    if (status !== 200) return (body as ErrorBody).message;
    return (body as { title?: string }[]).map(({ title }) => title).sort().join("");
  };
  return { ...app, titles, ids: { ann, bob, gone, a } };
}

/** The titles of the books that filters select. */
const selecting = (ann: string): readonly (readonly [titles: string, q: object])[] => [
  ["a", { "author.name": "Ann" }],
  ["a", { "author.address.city": "Rome" }],
  ["b", { "author.name": { $ne: "Ann" } }],
  ["b", { "author.name": { $nin: ["Ann", "Cid"] } }],
  ["bcde", { $nor: [{ "author.name": "Ann" }] }],
  ["bcde", { "author.name": { $not: { $eq: "Ann" } } }],
  ["acde", { "author.name": { $not: { $ne: "Ann" } } }],
  ["b", { "author.address.city": null }],
  ["a", { "author.name": { $regex: "^a", $options: "i" } }],
  ["ab", { "author.born": { $gt: 1 } }],
  ["a", { "author.born": { $gt: 1, $not: { $gt: 1940 } }, author: ann }],
  ["a", { $and: [{ "author.born": 1900 }], "author.name": "Ann", author: ann }],
  ["", { "author.name": "Ann", author: { $ne: ann } }],
  ["ae", { "authors.name": "Ann" }],
  ["abd", { "authors.name": { $ne: "Ann" } }],
  ["bcd", { "authors.name": { $not: { $eq: "Ann" } } }],
  // Two conditions may be fulfilled by two entities, and the operators of one condition by one entity.
  ["a", { "authors.name": "Ann", "authors.born": 1950 }],
  ["", { "authors.born": { $gt: 1900, $lt: 1950 } }],
  ["b", { "authors.0.name": "Bob", "authors.born": 1950 }],
  ["b", { "chapters.editor.name": "Ann" }],
  ["b", { "chapters.1.editor.name": "Bob" }],
  ["b", { chapters: { $elemMatch: { page: 1, "editor.name": "Ann" } } }],
  ["", { chapters: { $elemMatch: { page: 9, "editor.name": "Ann" } } }],
  ["b", { chapters: { $elemMatch: { $or: [{ page: 3 }, { "editor.name": "Bob" }] } } }],
  ["acde", { chapters: { $not: { $elemMatch: { "editor.name": "Bob" } } } }],
  ["a", { "shop.city": "Oslo" }],
  ["c", { "owners.sales.name": "Ann" }],
  ["c", { "writer.name": "Bob" }],
  ["abde", { "writer.name": { $not: { $eq: "Bob" } } }],
];

test("q names fields of the entities of a reference", async () => {
  await using app = await serve();
  const told = selecting(app.ids.ann);
  for (const [titles, q] of told) assertEquals(await app.titles(q), titles, JSON.stringify(q));
  for (const [titles, q] of told.slice(0, 8)) {
    assertEquals(await app.titles(q, "/hooked"), titles, JSON.stringify(q));
  }
});

const listed = [...filter, "shop.city", "writer.name"].map((name) => `"${name}"`).join(", ");

test("a filter through references is refused where a filter on the entity is", async () => {
  await using app = await serve();
  const told: [string, object][] = [
    [`Field "author.state" cannot be used in "q", which takes ${listed}`, { "author.state": "x" }],
    [
      `Field "author.teacher.name" cannot be used in "q", which takes ${listed}`,
      { "author.teacher.name": "x" },
    ],
    [`Field "authors" cannot be used in "q", which takes ${listed}`, {
      authors: { $elemMatch: { name: "Ann" } },
    }],
    [`Field "owners.other.name" is unknown`, { "owners.other.name": "Ann" }],
    [`Value at "author.born" cannot be read as Number`, { "author.born": "x" }],
    [`Operator "$where" is not allowed at "author.name"`, { "author.name": { $where: "1" } }],
    [`Operator "$not" at "author.name" takes operators`, { "author.name": { $not: null } }],
    [`Operator "$not" at "author.name" takes operators`, { "author.name": { $not: {} } }],
    [`The database refused the filter`, { "author.name": { $type: "foo" } }],
    [`The database refused the filter`, { $nor: [{ "author.name": { $regex: "*" } }] }],
  ];
  for (const [message, q] of told) assertEquals(await app.titles(q), message, JSON.stringify(q));
  assertEquals(
    await app.titles({ "author.name": "Ann" }, "/any"),
    `Field "author.name" is unknown`,
  );
});

test("conditions whose identifiers are too many for one statement are a 400", async () => {
  await using app = await serve({ limits: { query: { maxReferred: 10_000 } } });
  const many = Array.from({ length: 6_000 }, () => ({ name: "many", state: "open" }));
  await getModel(Author).collection.insertMany(many);
  const either = (length: number) => ({
    $or: Array.from({ length }, () => ({ "author.name": "many" })),
  });
  assertEquals(await app.titles(either(2)), "");
  assertStringIncludes(await app.titles(either(198)), "select too many entities");
});

test("a condition through a reference selects at most maxReferred entities of the scope", async () => {
  await using app = await serve({ limits: { query: { maxReferred: 1 } } });
  const { status, body } = await app.get(`/books${asQuery({ "author.born": { $gt: 0 } })}`);
  assertEquals([status, body], [400, {
    code: "BAD_FORMAT",
    message: `The condition on "author.born" selects more than 1 entities: narrow it`,
    field: "author.born",
  }]);
  // The second author of this year is outside of the scope.
  assertEquals(await app.titles({ "author.born": 1900 }), "a");
});

test("equal conditions on a class are asked once, before the list and with the time limit", async () => {
  await using app = await serve({ limits: { timeMS: 4321 } });
  await mongoose.disconnect();
  await mongoose.connect(app.database.uri, { monitorCommands: true });
  const finds: Record<string, unknown>[] = [];
  mongoose.connection.getClient().on("commandStarted", ({ command }) => {
    if (command.find !== undefined) finds.push(command);
  });
  const name = { "author.name": "Ann" };
  const q = { $or: [name, { $nor: [name, { "authors.name": "Ann" }] }, { "author.name": "Bob" }] };
  assertEquals(await app.titles(q), "abcd");
  assertEquals(finds.map(({ find }) => find), ["authors", "authors", "books"]);
  const limits = finds.slice(0, 2).map(({ maxTimeMS, limit }) => [maxTimeMS, limit]);
  assertEquals(limits, [[4321, 1001], [4321, 1001]]);
  await getModel(Author).init();
  const [{ find, filter, limit } = {}] = finds;
  const explain = { find, filter, limit };
  const plan = await mongoose.connection.db?.command({ explain, verbosity: "queryPlanner" });
  assertStringIncludes(JSON.stringify(plan?.queryPlanner.winningPlan), '"indexName":"name_1"');
});

test("one(), update(), remove(), actions and sub-routes take filters through references", async () => {
  await using app = await serve();
  const { a } = app.ids;
  const [own, other] = ["Ann", "Bob"].map((name) => asQuery({ "author.name": name }));
  assertEquals((await app.get(`/books/${a}${own}`)).status, 200);
  assertEquals((await app.get(`/books/${a}${other}`)).status, 404);
  assertEquals((await app.patch(`/books/${a}${other}`, { title: "x" })).status, 404);
  assertEquals((await app.patch(`/books/${a}${own}`, { title: "z" })).status, 200);
  assertEquals((await app.get(`/books/report${own}`)).headers.get("x-count"), "1");
  const chapters = await app.get<object[]>(
    `/books/${(await app.get<{ _id: string }[]>(`/books${other}`)).body[0]?._id}/chapters${
      asQuery({ "editor.name": "Bob" })
    }`,
  );
  assertEquals(chapters.body.map((each) => Object(each).page), [9]);
  const { _id } = await app.created("/shelves", { books: [a] });
  assertEquals(await app.titles({ "author.name": "Ann" }, `/shelves/${_id}/books`), "z");
  assertEquals(await app.titles({ "author.name": "Bob" }, `/shelves/${_id}/books`), "");
  assertEquals((await app.delete(`/books/${a}${other}`)).status, 404);
  assertEquals((await app.delete(`/books/${a}${own}`)).status, 204);
});

test("pages of a filter through references lead on", async () => {
  await using app = await serve();
  const q = asQuery({ $nor: [{ "author.name": "Bob" }] });
  const first = await app.get<{ title: string; _id: string }[]>(`/books${q}&sort=title`);
  assertEquals(first.body.map(({ title }) => title), ["a", "c"]);
  const [, next = ""] = /<([^>]+)>; rel="next"/.exec(first.headers.get("link") ?? "") ?? [];
  const second = await app.get<{ title: string }[]>(next);
  assertEquals(second.body.map(({ title }) => title), ["d", "e"]);
  // The cursor may be an entity that the filter does not select.
  const { _id: b } =
    (await app.get<{ _id: string }[]>(`/books${asQuery({ title: "b" })}`)).body[0] ?? {};
  const after = await app.get<{ title: string }[]>(`/books${q}&sort=title&after=${b}`);
  assertEquals(after.body.map(({ title }) => title), ["c", "d"]);
});

test("hooks count, change and send a filter through references", async () => {
  const errors: unknown[] = [];
  await using app = await serve({ onError: (_req, error) => void errors.push(error) });
  const q = asQuery({ "author.name": { $not: { $eq: "Bob" } } });
  const { headers, body } = await app.get<{ title: string }[]>(`/counted${q}`);
  assertEquals(headers.get("x-count"), "4");
  const told = { $and: [{ $nor: [{ author: { $in: { name: { $eq: "Bob" } } } }] }] };
  assertEquals(headers.get("x-filter"), JSON.stringify(told));
  assertEquals(body.map(({ title }) => title).sort().join(""), "ade");
  assertEquals(await app.titles({ "author.name": { $not: { $eq: "Bob" } } }, "/fetched"), "acde");
  assertEquals((await app.get(`/early${q}`)).status, 500);
  assertStringIncludes(
    String(errors[0]),
    `Cannot send the condition on "author.name": its identifiers are not known in "preFetch"`,
  );
});

/** Values that no condition takes, or that make no sense. */
const HOSTILE: readonly unknown[] = [
  ...[[], {}, [1], [[]], true, { a: 1 }, { $eq: {} }, { $eq: [] }, { $in: {} }, { $in: [[]] }],
  ...[{ $in: [] }, { $nin: [] }, { $all: [] }, { $not: [] }, { $not: { a: 1 } }, {
    $not: { $not: 1 },
  }],
  ...[{ $not: { $options: "i" } }, { $options: "i" }, { $exists: "x" }, { $type: [] }, {
    $mod: [0],
  }],
  ...[{ $elemMatch: {} }, { $elemMatch: { name: 1 } }, { $geoWithin: {} }, { $near: [1, 2] }],
  ...[{ $and: [] }, { $or: [{}] }, { $expr: {} }, { $where: "1" }, { $ne: { $oid: "x" } }],
  ...[{ $gt: { $date: "x" } }, { $not: { $not: { $not: { $eq: "Ann" } } } }, { toBSON: 1 }],
  ...[{ _bsontype: "ObjectId" }, { __proto__: 1 }, { constructor: 1 }, { $regex: "(" }, null, ""],
  { $gt: "A", a: 1 },
];

test("a hostile condition through a reference is a 400 or a filter, never a 500", async () => {
  await using app = await serve();
  const told: Record<number, number> = {};
  for (const path of ["author.name", "author.born", "authors.0.name", "chapters.editor.name"]) {
    for (const condition of HOSTILE) {
      for (const q of [{ [path]: condition }, { $nor: [{ $or: [{ [path]: condition }] }] }]) {
        const { status, text } = await app.get(`/books${asQuery(q)}`);
        assertEquals([200, 400].includes(status), true, `${JSON.stringify(q)}: ${text}`);
        told[status] = (told[status] ?? 0) + 1;
      }
    }
  }
  assertEquals(Object.keys(told), ["200", "400"]);
});

test("sanitizeFilter binds operators of hooks beside a condition through a reference", async () => {
  await using app = await serve();
  const q = { "author.name": { $not: { $eq: "Bob" } } };
  assertEquals(await app.titles(q, "/copied"), "acde");
  mongoose.set("sanitizeFilter", true);
  try {
    // The operator is compared as a value, which is no text.
    assertEquals((await app.get(`/copied${asQuery(q)}`)).status, 500);
    assertEquals(await app.titles(q), "acde");
    assertEquals(await app.titles(q, "/hooked"), "acde");
  } finally {
    mongoose.set("sanitizeFilter", undefined as never);
  }
});
