import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type QueryObject,
  rest,
} from "../mod.ts";
import { request } from "./harness/request.ts";
import { test } from "./harness/testing.ts";
import { asQuery, type EntityBody, mount } from "./support.ts";
import { pass, type SentCommand, watchCommands } from "./both_paths.ts";

/** What the next request's `preFetch` hook puts on it. */
let next: { projection?: QueryObject; options?: QueryObject; filter?: QueryObject } = {};

const preFetch = (req: FrameworkRequest) => {
  Object.assign(req.framework, structuredClone(next));
  return true;
};

class Inner extends FrameworkModel {
  static override schemaOptions = { _id: false };
  @prop({ default: "inner" })
  a?: string;
  @prop({ select: false })
  unselected?: string;
}

@rest({ route: "/fast", methods: [all({ preFetch }), one({ preFetch })] })
@rest({
  route: "/slow",
  methods: [all({ preFetch, preSend: pass }), one({ preFetch, preSend: pass })],
})
class Movie extends FrameworkModel {
  @prop({ default: "none" })
  a?: string;
  @prop({ type: Number, default: null })
  b?: number | null;
  @prop({ type: Date, default: () => new Date(0) })
  computed?: Date;
  @prop({ type: Inner })
  inner?: Inner;
  @arrayProp({ items: Inner, embedded: true })
  inners?: Inner[];
  @arrayProp({ items: String })
  tags?: string[];
  @prop({ hidden: true, default: "SECRET" })
  hidden?: string;
  @prop({ select: false, default: "unselected" })
  unselected?: string;
  @prop({ ref: () => Movie })
  next?: string;
  @prop({ type: Object })
  free?: object;
}

/** Whether the last `find` was of the path without documents: it asks for larger batches. */
function readsFast(sent: readonly SentCommand[]): boolean {
  const found = sent.filter(({ name }) => name === "find");
  return found.length === 1 && found[0]?.command.batchSize === 1024;
}

async function seed(): Promise<void> {
  const inner = { a: "x", unselected: "SECRET", undeclared: "SECRET" };
  const odd = { free: /odd/, inner, inners: [inner], hidden: "SECRET", unselected: "u", b: 3 };
  const values = {
    a: "1",
    b: 1,
    inner,
    inners: [inner],
    tags: ["t"],
    hidden: "SECRET",
    unselected: "u",
  };
  const documents = [values, { b: 2 }, odd, { inner: {}, inners: [{}] }, { a: null, tags: null }];
  const ids = documents.map(() => new mongoose.Types.ObjectId());
  await getModel(Movie).collection.insertMany(
    documents.map((each, i) => ({ ...each, _id: ids[i], next: ids[(i + 1) % 5] })) as never[],
  );
}

/** What both paths answer, with the commands of each. */
async function both(url: string, sent: SentCommand[], path = "") {
  sent.length = 0;
  const fast = await request<EntityBody[]>(`${url}/fast${path}`);
  const commands = sent.splice(0);
  const slow = await request<EntityBody[]>(`${url}/slow${path}`);
  assertEquals(readsFast(sent), false);
  return { fast, slow, commands };
}

/** Projections that the database and Mongoose read alike. */
const SIMPLE: QueryObject[] = [
  {},
  { a: 1 },
  { a: true, tags: true },
  { a: 0 },
  { a: false, _id: 0 },
  { _id: 0 },
  { _id: 1 },
  { _id: 0, a: 1 },
  { unselected: 1 },
  { unselected: 0 },
  { hidden: 1 },
  { hidden: 0 },
  { nosuch: 1 },
  { nosuch: 0 },

  { b: 1 },
  { inner: 0 },
  { computed: 1 },
  { computed: 0 },
  { free: 1 },
  { free: 0 },
  { free: 1, _id: 0 },
  { __v: 0 },
  { tags: 1 },
];

test("all() reads without documents what a simple projection shows", async () => {
  await using app = await mount([Movie]);
  const sent = await watchCommands(app.database.uri);
  await seed();
  for (const projection of SIMPLE) {
    next = { projection };
    const { fast, slow, commands } = await both(app.url, sent);
    assertEquals([readsFast(commands), fast.status], [true, 200], JSON.stringify(projection));
    assertEquals(fast.body, slow.body, JSON.stringify(projection));
    assertEquals(fast.text.includes("SECRET"), false, JSON.stringify(projection));
  }
});

test("all() reads documents when a projection is not simple", async () => {
  await using app = await mount([Movie]);
  const sent = await watchCommands(app.database.uri);
  await seed();
  const projections: QueryObject[] = [
    { "inner.a": 1 },
    { "+unselected": true },
    { tags: { $slice: 1 } },
    { "inner.a": 0 },
    { inners: { $elemMatch: { a: "x" } } },
    { a: "$b" },
    { inner: 1 },
    { inners: 1, b: 1 },
  ];
  for (const projection of projections) {
    next = { projection };
    const { fast, slow, commands } = await both(app.url, sent);
    assertEquals([readsFast(commands), fast.status], [false, 200], JSON.stringify(projection));
    assertEquals(fast.body, slow.body, JSON.stringify(projection));
  }
});

test("all() reads without documents with the options that the driver knows", async () => {
  await using app = await mount([Movie]);
  const sent = await watchCommands(app.database.uri);
  await seed();
  const given: QueryObject[] = [
    { sort: "-b a" },
    { sort: { b: -1 } },

    { sort: { b: "desc" } },
    { skip: 1 },
    { skip: "2", limit: "2" },
    { limit: 2, sort: { _id: -1 } },
    { comment: "c" },
    { hint: { _id: 1 } },
    { hint: "_id_" },
    { collation: { locale: "de" } },
    { skip: NaN, limit: undefined },
  ];
  for (const options of given) {
    next = { options };
    const { fast, slow, commands } = await both(app.url, sent);
    assertEquals([readsFast(commands), fast.status], [true, 200], JSON.stringify(options));
    assertEquals(fast.body, slow.body, JSON.stringify(options));
  }
});

test("all() reads documents with options that Mongoose alone knows", async () => {
  await using app = await mount([Movie]);
  const sent = await watchCommands(app.database.uri);
  await seed();
  for (const options of [{ populate: "next" }, { populate: [{ path: "next" }] }]) {
    next = { options };
    const { fast, slow, commands } = await both(app.url, sent);
    assertEquals([readsFast(commands), fast.status], [false, 200], JSON.stringify(options));
    assertEquals(fast.body, slow.body);
    assertEquals(fast.text.includes("SECRET"), false);
  }
});

test("all() reads plain objects past Mongoose, as Mongoose reads them", async () => {
  await using app = await mount([Movie]);
  await seed();
  const options = { lean: true };
  for (const projection of [...SIMPLE, { "inner.a": 1 }, { tags: { $slice: 1 } }]) {
    next = { options, projection };
    const lean = await getModel(Movie).find({}, projection, options);
    for (const path of ["fast", "slow"]) {
      const { body } = await request<EntityBody[]>(`${app.url}/${path}`);
      const { hidden: _hidden, ...shown } = lean[0] as unknown as EntityBody;
      assertEquals(body[0], JSON.parse(JSON.stringify(shown)), JSON.stringify(projection));
      assertEquals(body.length, lean.length);
    }
  }
});

test("all() casts q and the filter of hooks without documents", async () => {
  await using app = await mount([Movie]);
  const sent = await watchCommands(app.database.uri);
  await seed();
  const queries = [{ b: "1" }, { b: { $in: [2, "3"] } }, { "inner.a": "x" }, { a: null }, {
    _id: "x",
  }];
  for (const query of queries) {
    next = {};
    const { fast, slow } = await both(app.url, sent, asQuery(query));
    assertEquals([fast.status, fast.body], [slow.status, slow.body], JSON.stringify(query));
  }
  for (const filter of [{ b: "2" }, { $or: [{ b: "1" }, { b: 3 }] }, { b: { $gt: "x" } }]) {
    next = { filter };
    const { fast, slow } = await both(app.url, sent);
    assertEquals([fast.status, fast.body], [slow.status, slow.body], JSON.stringify(filter));
  }
});

test("one() reads without documents, with the same answers and refusals", async () => {
  await using app = await mount([Movie]);
  const sent = await watchCommands(app.database.uri);
  await seed();
  const ids = (await getModel(Movie).find().lean()).map(({ _id }) => String(_id));
  const filtered = asQuery({ b: 1 });
  const names = [...ids, ...ids.map((id) => id + filtered), "x", "0".repeat(24), `${ids[0]}?q={`];
  for (
    const given of [{}, { projection: { a: 1 } }, { options: { skip: 3, limit: 9, sort: "b" } }]
  ) {
    next = given;
    for (const name of names) {
      const { fast, slow } = await both(app.url, sent, `/${name}`);
      assertEquals([fast.status, fast.body], [slow.status, slow.body], name);
      assertEquals(fast.text.includes("SECRET"), false);
    }
  }
  next = {};
  const { commands } = await both(app.url, sent, `/${ids[0]}`);
  assertEquals([readsFast(commands), commands.length], [true, 1]);
});

test("all() binds the scope without documents, hidden fields included", async () => {
  const scope = () => ({ hidden: "mine" });
  @rest({ route: "/scoped", methods: [all(), one()], scope })
  class Scoped extends FrameworkModel {
    @prop({ hidden: true })
    hidden?: string;
  }
  await using app = await mount([Scoped]);
  const sent = await watchCommands(app.database.uri);
  const [mine, other] = await getModel(Scoped).create([{ hidden: "mine" }, { hidden: "other" }]);
  sent.length = 0;
  const { body } = await request<EntityBody[]>(`${app.url}/scoped`);
  assertEquals(body, [{ _id: String(mine?._id), __v: 0 }]);
  assertEquals(readsFast(sent), true);
  assertEquals((await request(`${app.url}/scoped/${other?._id}`)).status, 404);
  assertEquals((await request(`${app.url}/scoped/${mine?._id}`)).body, body[0]);
});

test("all() shows the version when only the request knows the connection", async () => {
  @rest({ route: "/late", methods: [all(), one()], getConnection: () => mongoose.connection })
  @rest({
    route: "/slow",
    methods: [all({ preSend: pass })],
    getConnection: () => mongoose.connection,
  })
  class Late extends FrameworkModel {
    @prop()
    name?: string;
  }
  await using app = await mount([Late]);
  await app.database.connection.collection("lates").insertOne({ name: "x", __v: 3 });
  const [fast, slow] = await Promise.all(
    ["late", "slow"].map((route) => request<EntityBody[]>(`${app.url}/${route}`)),
  );
  assertEquals(fast?.body[0]?.__v, 3);
  assertEquals(fast?.body, slow?.body);
});

test("all() of a sub-resource reads without documents", async () => {
  class Actor extends FrameworkModel {
    @prop()
    name?: string;
    @prop({ hidden: true })
    secret?: string;
  }
  @rest({ route: "/films", methods: [one()] })
  class Film extends FrameworkModel {
    @rest({ methods: [all(), one()] })
    @arrayProp({ items: Actor })
    actors?: string[];
  }
  await using app = await mount([Film]);
  const [kept, other] = await getModel(Actor).create([{ name: "a", secret: "s" }, { name: "b" }]);
  const film = await getModel(Film).create({ actors: [kept?._id] } as never);
  const sent = await watchCommands(app.database.uri);
  const url = `${app.url}/films/${(film as unknown as { _id: unknown })._id}/actors`;
  const { body } = await request<EntityBody[]>(url);
  assertEquals(body, [{ _id: String(kept?._id), name: "a", __v: 0 }]);
  const batches = sent.filter(({ name }) => name === "find").map(({ command }) =>
    command.batchSize
  );
  assertEquals(batches.at(-1), 1024);
  assertEquals((await request(`${url}/${kept?._id}`)).body, body[0]);
  assertEquals((await request(`${url}/${other?._id}`)).status, 404);
});

test("all() reads documents when a hook is there that sees them", async () => {
  const hooks = [{ fetch: () => [] }, { postFetch: pass }, { preSend: pass }];
  for (const hook of hooks) {
    @rest({ route: "/seen", methods: [all(hook as never)] })
    class Seen extends FrameworkModel {
      @prop()
      name?: string;
    }
    await using app = await mount([Seen]);
    const sent = await watchCommands(app.database.uri);
    assertEquals((await request(`${app.url}/seen`)).body, []);
    assertEquals(readsFast(sent), false);
  }
});

test("all() and one() answer 500, and go on, when a hook projects neither way", async () => {
  @rest({
    route: "/lean",
    methods: [
      all({ lean: true, preFetch, preSend: pass }),
      one({ lean: true, preFetch, preSend: pass }),
    ],
  })
  class Lean extends FrameworkModel {
    @prop()
    a?: string;
  }
  await using app = await mount([Movie, Lean], { onError: () => {} });
  await seed();
  for (const path of ["fast", "slow", "lean"]) {
    for (const value of [null, undefined]) {
      next = { projection: { a: value } };
      for (const each of ["", `/${"0".repeat(24)}`]) {
        assertEquals((await request(`${app.url}/${path}${each}`)).status, 500, path + value);
      }
    }
    next = { options: { sort: { a: "sideways" } } };
    assertEquals((await request(`${app.url}/${path}`)).status, 500);
    next = {};
    assertEquals((await request(`${app.url}/${path}`)).status, 200);
  }
});
