import { assert, assertEquals } from "@std/assert";
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
} from "../../mod.ts";
import { Named } from "../fixtures/named.ts";
import { type Given, giving, takeGiven } from "../support/given.ts";
import { test } from "../harness/testing.ts";
import { asQuery, type EntityBody, mount, type Mounted, NOBODY } from "../support/support.ts";
import { asDocuments, pass, type SentCommand, watchCommands } from "../support/both_paths.ts";

class Inner extends FrameworkModel {
  static override schemaOptions = { _id: false };
  @prop({ default: "inner" })
  a?: string;
  @prop({ select: false })
  unselected?: string;
}

function byMongoose(req: FrameworkRequest): boolean {
  return takeGiven(req) && asDocuments(req);
}

@rest({ route: "/fast", methods: [all({ preFetch: takeGiven }), one({ preFetch: takeGiven })] })
@rest({
  route: "/slow",
  methods: [
    all({ preFetch: byMongoose, preSend: pass }),
    one({ preFetch: byMongoose, preSend: pass }),
  ],
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

/** How many queries of Mongoose have run: the path without documents sends what it reads by the driver. */
let queries = 0;
const prototype = mongoose.Query.prototype as unknown as Record<string, () => unknown>;
for (const name of ["cursor", "exec"]) {
  prototype[name] = new Proxy(prototype[name] as () => unknown, {
    apply(run, query, args) {
      queries++;
      return Reflect.apply(run, query, args);
    },
  });
}

/** Forgets what was sent. */
function forget(sent: SentCommand[]): void {
  sent.length = 0;
  queries = 0;
}

/** Whether the one `find` was of the path without documents. */
function readsFast(sent: readonly SentCommand[]): boolean {
  return queries === 0 && sent.filter(({ name }) => name === "find").length === 1;
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

/** What both paths answer, whether the first has made no documents, and how many commands it has sent. */
async function both(
  app: Mounted,
  sent: SentCommand[],
  { path = "", ...given }: Given & { path?: string } = {},
) {
  forget(sent);
  const fast = await app.get<EntityBody[]>(`/fast${path}`, giving(given));
  const [isFast, count] = [readsFast(sent), sent.length];
  forget(sent);
  const slow = await app.get<EntityBody[]>(`/slow${path}`, giving(given));
  assertEquals(readsFast(sent), false);
  return { fast, slow, isFast, count };
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
    const { fast, slow, isFast } = await both(app, sent, { projection });
    assertEquals([isFast, fast.status], [true, 200], JSON.stringify(projection));
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
    const { fast, slow, isFast } = await both(app, sent, { projection });
    assertEquals([isFast, fast.status], [false, 200], JSON.stringify(projection));
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
    const { fast, slow, isFast } = await both(app, sent, { options });
    assertEquals([isFast, fast.status], [true, 200], JSON.stringify(options));
    assertEquals(fast.body, slow.body, JSON.stringify(options));
  }
});

test("all() reads documents with options that Mongoose alone knows", async () => {
  await using app = await mount([Movie]);
  const sent = await watchCommands(app.database.uri);
  await seed();
  for (const options of [{ populate: "next" }, { populate: [{ path: "next" }] }]) {
    const { fast, slow, isFast } = await both(app, sent, { options });
    assertEquals([isFast, fast.status], [false, 200], JSON.stringify(options));
    assertEquals(fast.body, slow.body);
    assertEquals(fast.text.includes("SECRET"), false);
  }
});

test("all() shows what is declared, and nothing else, where a hook asks for lean objects", async () => {
  await using app = await mount([Movie]);
  await seed();
  for (const projection of [...SIMPLE, { "inner.a": 1 }, { tags: { $slice: 1 } }]) {
    const given = giving({ options: { lean: true }, projection });
    const [fast, slow] = [await app.get("/fast", given), await app.get("/slow", given)];
    assertEquals([fast.status, fast.body], [200, slow.body], JSON.stringify(projection));
    assert(!fast.text.includes("SECRET"));
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
    const { fast, slow } = await both(app, sent, { path: asQuery(query) });
    assertEquals([fast.status, fast.body], [slow.status, slow.body], JSON.stringify(query));
  }
  for (const filter of [{ b: "2" }, { $or: [{ b: "1" }, { b: 3 }] }, { b: { $gt: "x" } }]) {
    const { fast, slow } = await both(app, sent, { filter });
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
    for (const name of names) {
      const { fast, slow } = await both(app, sent, { path: `/${name}`, ...given });
      assertEquals([fast.status, fast.body], [slow.status, slow.body], name);
      assertEquals(fast.text.includes("SECRET"), false);
    }
  }
  const { isFast, count } = await both(app, sent, { path: `/${ids[0]}` });
  assertEquals([isFast, count], [true, 1]);
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
  forget(sent);
  const { body } = await app.get<EntityBody[]>("/scoped");
  assertEquals(body, [{ _id: String(mine?._id), __v: 0 }]);
  assertEquals(readsFast(sent), true);
  assertEquals((await app.get(`/scoped/${other?._id}`)).status, 404);
  assertEquals((await app.get(`/scoped/${mine?._id}`)).body, body[0]);
});

test("all() shows the version when only the request knows the connection", async () => {
  @rest({ route: "/late", methods: [all(), one()], getConnection: () => mongoose.connection })
  @rest({
    route: "/slow",
    methods: [all({ preSend: pass })],
    getConnection: () => mongoose.connection,
  })
  class Late extends Named {}
  await using app = await mount([Late]);
  await app.database.connection.collection("lates").insertOne({ name: "x", __v: 3 });
  const [fast, slow] = await Promise.all(
    ["late", "slow"].map((route) => app.get<EntityBody[]>(`/${route}`)),
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
  const path = `/films/${(film as unknown as { _id: unknown })._id}/actors`;
  forget(sent);
  const { body } = await app.get<EntityBody[]>(path);
  assertEquals(body, [{ _id: String(kept?._id), name: "a", __v: 0 }]);
  // The parent was read by the other
  assertEquals([queries, sent.length], [0, 2]);
  assertEquals((await app.get(`${path}/${kept?._id}`)).body, body[0]);
  assertEquals((await app.get(`${path}/${other?._id}`)).status, 404);
});

test("all() and one() answer 500, and go on, when a hook projects neither way", async () => {
  @rest({
    route: "/lean",
    methods: [
      all({ lean: true, preFetch: takeGiven, preSend: pass }),
      one({ lean: true, preFetch: takeGiven, preSend: pass }),
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
      const given = giving({ projection: { a: value } });
      for (const each of ["", `/${NOBODY}`]) {
        assertEquals((await app.get(`/${path}${each}`, given)).status, 500, path + value);
      }
    }
    const sideways = giving({ options: { sort: { a: "sideways" } } });
    assertEquals((await app.get(`/${path}`, sideways)).status, 500);
    assertEquals((await app.get(`/${path}`)).status, 200);
  }
});
