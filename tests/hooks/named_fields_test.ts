import { assert, assertEquals, assertMatch } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  and,
  arrayProp,
  asFilter,
  type EntityHook,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  leaveOut,
  one,
  onlyIf,
  or,
  prop,
  type Ref,
  rest,
  RestError,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { asDocuments } from "../support/both_paths.ts";
import { type EntityBody, mount } from "../support/support.ts";

class Place extends FrameworkModel {
  @prop()
  city?: string;
  @prop({ hidden: true })
  key?: string;
  shout(): string {
    return `${this.city}!`;
  }
}

class Tag extends FrameworkModel {
  @prop()
  name?: string;
}

/** The object that the last test has got. */
let seen: Record<string, unknown> = {};

/** Passes all entities, and keeps the object that it gets. */
const keep = onlyIf(
  ["name", "rank", "at", "home", "tags", "extra", "secret", "aside", "apart", "texts", "ref"],
  (_req: FrameworkRequest, thing: Omit<Thing, "_id" | "__v">) => {
    seen = thing as unknown as Record<string, unknown>;
    return true;
  },
);

const isFirst = onlyIf(["rank"], (_req: FrameworkRequest, { rank }: Pick<Thing, "rank">) => {
  if (rank === 13) throw new RestError(409, "unlucky");
  if (rank === 14) throw new Error("a bug");
  if (rank === 15) return Promise.resolve(true);
  if (rank === 16) return "yes" as unknown as boolean;
  return rank < 10;
});

const secretly = leaveOut(
  ["name", "at"],
  ["secret"],
  (req: FrameworkRequest, { secret }: Pick<Thing, "secret">) => req.headers["x-secret"] !== secret,
);

const LISTED = { filter: ["rank"], sort: ["rank"], select: ["name", "rank"] } as const;

@rest({ route: "/kept", methods: [all({ postFetch: keep }), one({ preSend: keep })] })
@rest({ route: "/first", methods: [all({ postFetch: isFirst }), one({ postFetch: isFirst })] })
@rest({
  route: "/pages",
  methods: [all({ postFetch: isFirst, page: { size: 2, max: 5 }, formats: ["ndjson", "csv"] })],
})
@rest({ route: "/quiet", methods: [all({ postFetch: asFilter(isFirst) })] })
@rest({
  route: "/left",
  methods: [
    all({ ...LISTED, preSend: secretly, populate: { ref: { always: true } } }),
    one({ filter: ["rank"], preSend: secretly }),
  ],
})
@rest({
  route: "/documents",
  methods: [
    all({ ...LISTED, preSend: secretly, preFetch: asDocuments }),
    one({ filter: ["rank"], preSend: secretly, postFetch: keep, preFetch: asDocuments }),
  ],
})
@rest({
  route: "/lean",
  methods: [all({ filter: ["rank"], lean: true, postFetch: keep, preSend: secretly })],
})
class Thing extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Number, default: 1 })
  rank!: number;
  @prop({ type: Date })
  at?: Date;
  @prop({ type: Place })
  home?: Place;
  @arrayProp({ items: Place, embedded: true })
  tags?: Place[];
  @prop({ type: Map, of: Number })
  extra?: Map<string, number>;
  @prop({ hidden: true })
  secret?: string;
  @prop({ select: false })
  aside?: string;
  @rest({ methods: [all()] })
  @arrayProp({ items: Place, embedded: true, apart: true })
  apart?: Place[];
  @arrayProp({ items: String })
  texts?: string[];
  @prop({ ref: Tag })
  ref?: Ref<Tag>;
}

const WHOLE = {
  name: "a",
  rank: 2,
  at: new Date(5),
  home: { city: "Bern", key: "k" },
  tags: [{ city: "Rome", key: "l" }],
  extra: { one: 1 },
  secret: "s",
  aside: "x",
  apart: [{ city: "Oslo" }],
  texts: ["t"],
};

async function mountThings(...things: object[]) {
  const app = await mount([Thing]);
  const { insertedIds } = await getModel(Thing).collection.insertMany(
    things.map((each) => ({ ...each })),
  );
  return { ...app, ids: Object.values(insertedIds).map(String) };
}

/** Checks the values and the types of the object that the last test has got. */
function checkSeen(): void {
  const { _id: _, home, tags, apart, extra, aside, ...scalars } = seen as unknown as Thing;
  assertEquals(Object.keys(seen).sort(), ["_id", ...Object.keys(WHOLE)].sort());
  assertEquals(scalars as unknown, {
    name: "a",
    rank: 2,
    at: new Date(5),
    secret: "s",
    texts: ["t"],
  });
  assertEquals([aside, apart?.[0]?.city], ["x", "Oslo"]);
  assertEquals([home?.shout(), home?.key, tags?.[0]?.shout()], ["Bern!", "k", "Rome!"]);
  assertEquals([...extra ?? []], [["one", 1]]);
  assert([seen, home, tags, tags?.[0], extra, scalars.texts].every(Object.isFrozen));
  for (const change of [() => extra?.set("two", 2), () => extra?.clear()]) {
    let error: unknown;
    try {
      change();
    } catch (thrown) {
      error = thrown;
    }
    assert(error instanceof TypeError);
  }
}

test("a test with names gets a frozen object with these fields and _id", async (t) => {
  await using app = await mountThings(WHOLE);
  const [id] = app.ids;
  for (const path of ["/kept", `/kept/${id}`, `/documents/${id}`, "/lean"]) {
    await t.step(path, async () => {
      seen = {};
      const { status, text } = await app.get(path);
      assertEquals(status, 200, text);
      assertEquals(String(seen._id), id);
      checkSeen();
      assert(!/"(secret|aside|apart|key)"/.test(text), text);
    });
  }
});
test("a test with names gets the defaults of fields that are not stored", async () => {
  await using app = await mountThings({});
  await app.get("/kept");
  assertEquals({ ...seen, _id: undefined }, {
    _id: undefined,
    rank: 1,
    tags: [],
    apart: [],
    texts: [],
  });
});

test("onlyIf() with names passes entities by true alone, and errors keep their status", async () => {
  await using app = await mountThings(...[1, 10, 15, 16].map((rank) => ({ rank })));
  const { body } = await app.get<EntityBody[]>("/first");
  assertEquals(body.map(({ rank }) => rank), [1, 15]);
  assertEquals((await app.get(`/first/${app.ids[0]}`)).status, 200);
  assertEquals((await app.get(`/first/${app.ids[1]}`)).status, 404);
  assertEquals((await app.get(`/first/${app.ids[3]}`)).status, 404);
  await getModel(Thing).collection.insertOne({ rank: 13 });
  assertEquals((await app.get("/first")).status, 409);
  assertEquals((await app.get("/quiet")).status, 200);
  await getModel(Thing).collection.updateOne({ rank: 13 }, { $set: { rank: 14 } });
  assertEquals((await app.get("/first")).status, 500);
});

test("pages of hooks with names are full, and their lines and tables as well", async () => {
  const ranks = [20, 1, 21, 2, 22, 3, 23, 4, 24];
  await using app = await mountThings(...ranks.map((rank) => ({ rank })));
  const first = await app.get<EntityBody[]>("/pages");
  assertEquals(first.body.map(({ rank }) => rank), [1, 2]);
  const [, next = ""] = /<([^>]*)>; rel="next"/.exec(first.headers.get("link") ?? "") ?? [];
  const second = await app.get<EntityBody[]>(next);
  assertEquals(second.body.map(({ rank }) => rank), [3, 4]);
  assertEquals(/rel="next"/.test(second.headers.get("link") ?? ""), false);
  const lines = await app.get("/pages", { headers: { accept: "application/x-ndjson" } });
  assertEquals(lines.text.trim().split("\n").map((line) => JSON.parse(line).rank), [1, 2]);
  const table = await app.get("/pages?limit=3", { headers: { accept: "text/csv" } });
  assertEquals(table.text.trim().split(/\r?\n/).length, 4);
});

test("leaveOut() leaves fields out unless its test gives false, with bytes and documents", async (t) => {
  await using app = await mountThings({ ...WHOLE }, { ...WHOLE, secret: "t" });
  const tag = await getModel(Tag).collection.insertOne({ name: "n" });
  await getModel(Thing).collection.updateMany({}, { $set: { ref: tag.insertedId } });
  for (const route of ["/left", "/documents", "/lean"]) {
    await t.step(route, async () => {
      const options = { headers: { "x-secret": "t" } };
      const { body } = await app.get<EntityBody[]>(route, options);
      assertEquals(body.map(({ name, at }) => [name, at]), [
        [undefined, undefined],
        ["a", "1970-01-01T00:00:00.005Z"],
      ]);
      assertEquals(body.map(({ rank, secret }) => [rank, secret]), [[2, undefined], [
        2,
        undefined,
      ]]);
      if (route !== "/lean") {
        const selected = await app.get<EntityBody[]>(`${route}?select=name`, options);
        assertEquals(selected.body.map((each) => Object.keys(each)), [["_id"], ["_id", "name"]]);
        const [first, second] = await Promise.all(
          app.ids.map((id) => app.get<EntityBody>(`${route}/${id}`, options)),
        );
        assertEquals([first?.body.name, second?.body.name], [undefined, "a"]);
      }
      if (route === "/left") {
        assertEquals(body[0]?.ref, { _id: String(tag.insertedId), name: "n" });
      }
    });
  }
});

const yes = onlyIf<Tag, "name">(["name"], () => true);
const no = onlyIf<Tag, "name">(["name"], () => false);
const fails = onlyIf<Tag, "name">(["name"], () => {
  throw new RestError(418, "teapot");
});
const hide = leaveOut<Tag, "name", "name">(["name"], ["name"], () => true);
const sees = onlyIf(
  ["name"],
  (_req: FrameworkRequest, { name }: { name?: string }) => name === "a",
);
const COMPOSED: [string, EntityHook<never>, number, boolean][] = [
  ["and(yes, yes)", and(yes, yes) as never, 200, true],
  ["and(yes, no)", and(yes, no) as never, 404, true],
  ["or(no, yes)", or(no, yes) as never, 200, true],
  ["or(fails, yes)", or(fails, yes) as never, 200, true],
  ["or(fails, no)", or(fails, no) as never, 404, true],
  ["or(no, fails)", or(no, fails) as never, 418, true],
  ["asFilter(fails)", asFilter(fails) as never, 404, true],
  ["and(hide, sees)", and(hide, sees) as never, 200, false],
  ["or(no, hide)", or(no, hide) as never, 200, false],
  ["asFilter(and(yes, hide))", asFilter(and(yes, hide)) as never, 200, false],
];

/** Makes a class that is read with a hook, by bytes and by documents. */
function composedOf(hook: EntityHook<never>) {
  const given = { filter: ["rank"], preSend: hook } as never;
  @rest({ route: "/bytes", methods: [one(given)] })
  @rest({ route: "/documents", methods: [one({ ...given as object, preFetch: asDocuments })] })
  class Composed extends FrameworkModel {
    @prop()
    name?: string;
    @prop({ type: Number })
    rank?: number;
  }
  return Composed;
}

test("composed hooks with names say what the composed hooks without names say", async (t) => {
  for (const [name, hook, status, shown] of COMPOSED) {
    await t.step(name, async () => {
      const id = new mongoose.Types.ObjectId();
      const model = composedOf(hook);
      await using app = await mount([model]);
      await getModel(model).collection.insertOne({ _id: id, name: "a", rank: 1 });
      for (const route of ["/bytes", "/documents"]) {
        const reply = await app.get<EntityBody>(`${route}/${id}`);
        assertEquals([reply.status, reply.body.name !== undefined || status !== 200], [
          status,
          shown,
        ], route);
      }
    });
  }
});

test("a hook with names is a function of whole entities too", async () => {
  const req = { headers: {} } as FrameworkRequest;
  const thing = new (getModel(Thing))(WHOLE);
  assert(await keep(req, thing) === thing);
  assertEquals(seen.rank, 2);
  const copy = await secretly(req, thing) as Thing;
  assertEquals([copy.name, copy.rank, thing.name], [undefined, 2, "a"]);
  assertMatch(JSON.stringify(copy), /"rank":2/);
  assertEquals(/"name"|"at"/.test(JSON.stringify(copy)), false);
  const pojo = await secretly(req, { name: "a", secret: "s" } as unknown as Thing);
  assertEquals(pojo, { secret: "s" });
});

test("leaveOut() leaves fields of the entity out, and not those of the objects in it", async () => {
  const hide = leaveOut<Comment, "text" | "replies", "author">(
    ["text"],
    ["author"],
    (_req, { author }) => author === "ann",
  );
  @rest({ route: "/bytes", methods: [all({ filter: ["author"], preSend: hide })] })
  @rest({
    route: "/documents",
    methods: [all({ filter: ["author"], preSend: hide, preFetch: asDocuments })],
  })
  class Comment extends FrameworkModel {
    @prop()
    author?: string;
    @prop()
    text?: string;
    @arrayProp({ items: () => Comment, embedded: true })
    replies?: Comment[];
  }
  await using app = await mount([Comment]);
  const _id = new mongoose.Types.ObjectId();
  const replies = [{ _id, author: "ann", text: "b", replies: [] }];
  await getModel(Comment).collection.insertOne({ author: "ann", text: "a", replies });
  for (const route of ["/bytes", "/documents"]) {
    const [found] = await app.read<Record<string, unknown>[]>(route);
    const shown = [{ ...replies[0], _id: String(_id) }];
    assertEquals([found?.text, found?.replies], [undefined, shown], route);
  }
});

const hooksRun: string[] = [];

const endsResponse = onlyIf(["name"], (req: FrameworkRequest, { name }: Pick<Tag, "name">) => {
  hooksRun.push(`onlyIf ${name}`);
  req.res?.status(200).end("done");
  return true;
});

const afterwards = leaveOut(
  ["name"],
  ["name"],
  (_req: FrameworkRequest, { name }: Pick<Tag, "name">) => {
    hooksRun.push(`leaveOut ${name}`);
    return true;
  },
);

@rest({
  route: "/ended",
  methods: [all({ filter: ["_id"], postFetch: endsResponse, preSend: afterwards })],
})
class Ended extends Tag {}

test("no hook with names runs after a hook that has ended the response", async () => {
  await using app = await mount([Ended]);
  await getModel(Ended).insertMany([{ name: "a" }, { name: "b" }]);
  assertEquals((await app.get("/ended")).text, "done");
  assertEquals(hooksRun, ["onlyIf a"]);
});
