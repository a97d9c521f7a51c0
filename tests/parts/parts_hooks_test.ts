import { assertEquals } from "@std/assert";
import {
  all,
  arrayProp,
  asFilter,
  create,
  type Entity,
  FrameworkModel,
  getModel,
  type HooksOf,
  type ModelClass,
  one,
  prop,
  type Ref,
  remove,
  removeAll,
  rest,
  RestError,
  update,
} from "../../mod.ts";
import { SIX } from "../fixtures/operations.ts";
import { test } from "../harness/testing.ts";
import { type EntityBody, mount } from "../support/support.ts";
import { hooksFor } from "../support/hooked.ts";
import { namesIn, namesOf, sortedIn } from "../support/names.ts";

class Item extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Number })
  rank?: number;
  @prop({ select: false })
  quiet?: string;
  @prop({ ref: () => Friend })
  friend?: string;
}

class Friend extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ hidden: true })
  secret?: string;
}

/** Hooks of the operation under test, set by each test. */
let hooks: HooksOf<Item> = {};

/** All operations, each with the hooks of the moment. */
const current: HooksOf<Item> = {
  preFetch: (req) => hooks.preFetch?.(req) ?? true,
  postFetch: (req, item) => hooks.postFetch === undefined ? item : hooks.postFetch(req, item),
  preSave: (req, item, previous) =>
    hooks.preSave === undefined ? item : hooks.preSave(req, item, previous as Entity<Item>),
  preSend: (req, item, previous) =>
    hooks.preSend === undefined ? item : hooks.preSend(req, item, previous as Entity<Item>),
};

const hooked = [
  all<Item>(hooksFor("all", current)),
  one<Item>(hooksFor("one", current)),
  create<Item>(current),
  update<Item>(current),
  remove<Item>(hooksFor("remove", current)),
  removeAll<Item>({ preFetch: (req) => hooks.preFetch?.(req) ?? true }),
];

const inScope = () => ({ rank: { $lt: 100 } });

@rest({ route: "/boxes", methods: SIX })
class Box extends FrameworkModel {
  @prop()
  name?: string;
  @rest({ methods: hooked, scope: inScope })
  @arrayProp({ items: Item, embedded: true, apart: false })
  items?: Item[];
  @rest({ methods: hooked, scope: inScope })
  @arrayProp({ items: Item })
  refs?: Ref<Item>[];
}

async function putBox() {
  const friend = await getModel(Friend).create({ name: "F", secret: "x" });
  const items = [
    { name: "B", rank: 2, quiet: "q", friend: friend._id },
    { name: "C", rank: 3, quiet: "q" },
    { name: "A", rank: 1, quiet: "q" },
  ];
  const refs = (await getModel(Item).create(items as never[]) as Item[]).map(({ _id }) => _id);
  const box = await getModel(Box).create({ name: "X", items, refs } as never) as Box;
  hooks = {};
  const at = `/boxes/${box._id}`;
  const ids = (box.items ?? []).map(({ _id }) => String(_id));
  const bases = [[`${at}/items`, ids], [`${at}/refs`, refs.map(String)]] as const;
  return { box, at, bases };
}

/** Has every operation run with these options and projection. */
function ask(options: object, projection: unknown = {}): void {
  hooks = {
    preFetch: (req) => {
      Object.assign(req.framework.options, options);
      req.framework.projection = projection as Record<string, unknown>;
      return true;
    },
  };
}

test("skip, limit and sort of a hook work on parts, in every form that Mongoose takes", async () => {
  await using app = await mount([Box]);
  const { bases } = await putBox();
  for (const [base] of bases) {
    for (const sort of [{ name: 1 }, "name", { name: "asc" }]) {
      ask({ sort });
      assertEquals([sort, await namesIn(app, base)], [sort, "ABC"]);
    }
    ask({ sort: "-rank", skip: 1, limit: 1 });
    assertEquals(await namesIn(app, base), "B");
    ask({ skip: 1, limit: undefined });
    assertEquals(await namesIn(app, base), "CA");
    for (const limit of [NaN, 0, -1]) {
      ask({ limit });
      assertEquals([limit, (await app.get(base)).status], [limit, 500]);
    }
  }
});

test("skip and limit of a hook have no say where a part is named", async () => {
  await using app = await mount([Box]);
  const { bases } = await putBox();
  for (const [base, [first, second]] of bases) {
    ask({ skip: 1, limit: 1, sort: { name: 1 } });
    assertEquals((await app.get<EntityBody>(`${base}/${first}`)).body.name, "B");
    assertEquals((await app.patch(`${base}/${first}`, { name: "D" })).status, 200);
    assertEquals((await app.post(base, { name: "E", rank: 9 })).body.name, "E");
    assertEquals((await app.delete(`${base}/${second}`)).status, 204);
    hooks = {};
    assertEquals(await sortedIn(app, base), "ADE");
  }
});

test("removeAll() of embedded documents honours the page that a hook asks for", async () => {
  await using app = await mount([Box]);
  const { bases } = await putBox();
  for (const [base] of bases) {
    ask({ sort: "-name", skip: 1, limit: 1 });
    assertEquals((await app.delete(base)).status, 204);
    ask({ sort: "name" });
    assertEquals(await namesIn(app, base), "AC");
  }
});

test("a projection of a hook works on parts as on roots, in every form", async () => {
  await using app = await mount([Box]);
  const { bases } = await putBox();
  const keys = (body: object) => Object.keys(body).filter((key) => key !== "__v").sort().join(" ");
  const cases: [unknown, string][] = [
    [{ name: 1 }, "_id name"],
    ["name rank", "_id name rank"],
    [{ name: true, _id: 0 }, "name"],
    [{ friend: 0, rank: 0 }, "_id name"],
    [{ "+quiet": 1 }, "_id friend name quiet rank"],
    [{ quiet: 1 }, "_id quiet"],
    [{ friend: 0, "+quiet": true }, "_id name quiet rank"],
    [{ _id: 0 }, "friend name rank"],
    [{ _id: 1 }, "_id"],
  ];
  for (const [base, [id]] of bases) {
    for (const [projection, expected] of cases) {
      ask({}, projection);
      const { body } = await app.get<EntityBody>(`${base}/${id}`);
      assertEquals([base, projection, keys(body)], [base, projection, expected]);
      const listed = (await app.get<EntityBody[]>(base)).body;
      assertEquals([projection, keys(listed[0] ?? {})], [projection, expected]);
    }
    ask({}, { name: 1 });
    assertEquals(keys((await app.patch(`${base}/${id}`, { rank: 5 })).body), "_id name");
  }
});

test("populate of a hook works on parts, and hides what is hidden there", async () => {
  await using app = await mount([Box]);
  const { bases } = await putBox();
  for (const [base, [id]] of bases) {
    for (const options of [{ populate: "friend" }, { populate: "friend", lean: true }]) {
      ask(options);
      const one = (await app.get<EntityBody>(`${base}/${id}`)).body.friend as EntityBody;
      const [first] = (await app.get<EntityBody[]>(base)).body;
      for (const friend of [one, first?.friend as EntityBody]) {
        assertEquals([friend.name, "secret" in friend], ["F", false]);
      }
    }
  }
});

test("lean of a hook shows plain parts, and does not keep them from being changed", async () => {
  await using app = await mount([Box]);
  const { bases } = await putBox();
  for (const [base, [id]] of bases) {
    const plain = (await app.get(`${base}/${id}`)).body;
    ask({ lean: true });
    assertEquals((await app.get(`${base}/${id}`)).body, plain);
    assertEquals((await app.patch(`${base}/${id}`, { name: "D" })).body.name, "D");
    assertEquals((await app.delete(`${base}/${id}`)).status, 204);
  }
});

test("a hook of a part that narrows the filter binds every operation", async () => {
  await using app = await mount([Box]);
  const { bases } = await putBox();
  hooks = {
    preFetch: (req) => {
      req.framework.filter.rank = { $gt: "1" };
      return true;
    },
  };
  for (const [base, [, , a]] of bases) {
    assertEquals(await sortedIn(app, base), "BC");
    const found = [
      await app.get(`${base}/${a}`),
      await app.patch(`${base}/${a}`, {}),
      await app.delete(`${base}/${a}`),
    ];
    assertEquals(found.map(({ status }) => status), [404, 404, 404]);
    assertEquals((await app.delete(base)).status, 204);
  }
  hooks = {};
  for (const [base] of bases) assertEquals(await namesIn(app, base), "A");
});

test("hooks of a part reject as those of a root do", async () => {
  await using app = await mount([Box]);
  const { bases } = await putBox();
  for (const [base, [id]] of bases) {
    hooks = {
      postFetch: asFilter((_req, item) => {
        if (item.name === "B") throw new RestError(403, "no");
        return item;
      }),
    };
    assertEquals(await sortedIn(app, base), "AC");
    assertEquals((await app.patch(`${base}/${id}`, { name: "D" })).status, 404);
    hooks = { preSave: () => null };
    const refused = [
      await app.post(base, { rank: 1 }),
      await app.patch(`${base}/${id}`, {}),
      await app.delete(`${base}/${id}`),
    ];
    assertEquals(refused.map(({ status }) => status), [403, 403, 403]);
    hooks = { preSend: () => null };
    assertEquals([(await app.get(base)).text, (await app.get(`${base}/${id}`)).status], [
      "[]",
      404,
    ]);
    const made = await app.post(base, { name: "N", rank: 1 });
    assertEquals([made.status, made.headers.has("location")], [204, true]);
    hooks = {};
    assertEquals(await sortedIn(app, base), "ABCN");
  }
});

test("the hooks of removeAll() get parts whole, whatever a read would show", async () => {
  const narrow: HooksOf<Item> = {
    preFetch: (req) => {
      Object.assign(req.framework, { options: { lean: true }, projection: { name: 1 } });
      return true;
    },
    preSave: (_req, item) => item.quiet === "q" && item.rank === 1 ? item : null,
  };
  @rest({ route: "/bins", methods: [one()] })
  class Bin extends FrameworkModel {
    @rest({ methods: [removeAll<Item>(narrow)] })
    @arrayProp({ items: Item, embedded: true })
    items?: Item[];
    @rest({ methods: [removeAll<Item>(narrow)] })
    @arrayProp({ items: Item })
    refs?: Ref<Item>[];
  }
  await using app = await mount([Bin]);
  const item = { name: "A", rank: 1, quiet: "q" };
  const ref = await getModel(Item).create(item as never);
  const { _id } = await getModel(Bin).create({ items: [item], refs: [ref._id] } as never);
  for (const property of ["items", "refs"]) {
    assertEquals((await app.delete(`/bins/${_id}/${property}`)).status, 204);
  }
  const after = await getModel(Bin).findById(_id);
  assertEquals([after?.items?.length, after?.refs?.length], [0, 0]);
});

test("preSave and preSend of a part get what was there before as previous", async () => {
  await using app = await mount([Box]);
  const { bases } = await putBox();
  for (const [base, [id]] of bases) {
    const seen: unknown[] = [];
    const look = (_req: unknown, item: Entity<Item>, previous?: Entity<Item>) => {
      seen.push([item.name, previous?.name]);
      return item;
    };
    hooks = { preSave: look, preSend: look };
    await app.patch(`${base}/${id}`, { name: "D" });
    await app.post(base, { name: "E", rank: 1 });
    await app.delete(`${base}/${id}`);
    assertEquals(seen, [["D", "B"], ["D", "B"], ["E", undefined], ["E", undefined], ["D", "D"]]);
  }
});

/** Takes a part out of its scope, as someone else would in the middle of a request. */
async function moveOut(item: { _id: unknown }, parent: ModelClass = Box): Promise<void> {
  const outside = { $set: { "items.$.rank": 100 } };
  await getModel(parent).collection.updateOne({ "items._id": item._id as never }, outside);
  await getModel(Item).collection.updateOne({ _id: item._id as never }, { $set: { rank: 100 } });
}

test("a part that leaves its scope between fetch and save is not changed", async () => {
  await using app = await mount([Box]);
  const { box, bases } = await putBox();
  hooks = {
    preSave: async (_req, item) => {
      await moveOut(item);
      return item;
    },
  };
  for (const [base, [first, second]] of bases) {
    const changed = await app.patch(`${base}/${first}`, { name: "no" });
    const removed = await app.delete(`${base}/${second}`);
    assertEquals([base, changed.status, removed.status], [base, 409, 409]);
  }
  const items = (await getModel(Box).findById(box._id))?.items ?? [];
  assertEquals(items.map(({ name, rank }) => `${name}${rank}`), ["B100", "C100", "A1"]);
  assertEquals(namesOf(await getModel(Item).find()).sort(), ["A", "B", "C"]);
});

test("removeAll() leaves the part that leaves its scope between fetch and save", async () => {
  const leaving = async (_req: unknown, item: Entity<Item>) => {
    if (item.name === "B") await moveOut(item, Tub);
    return item;
  };
  @rest({ route: "/tubs", methods: [one()] })
  class Tub extends FrameworkModel {
    @rest({ methods: [removeAll<Item>({ preSave: leaving })], scope: inScope })
    @arrayProp({ items: Item, embedded: true })
    items?: Item[];
    @rest({ methods: [removeAll<Item>({ preSave: leaving })], scope: inScope })
    @arrayProp({ items: Item })
    refs?: Ref<Item>[];
  }
  await using app = await mount([Tub]);
  const items = ["A", "B", "C"].map((name) => ({ name, rank: 1 }));
  const refs = (await getModel(Item).create(items)).map(({ _id }) => _id);
  const { _id } = await getModel(Tub).create({ items, refs } as never);
  for (const property of ["items", "refs"]) {
    assertEquals((await app.delete(`/tubs/${_id}/${property}`)).status, 204);
  }
  const after = await getModel(Tub).findById(_id);
  assertEquals(after?.items?.map(({ name }) => name), ["B"]);
  assertEquals(namesOf(await getModel(Item).find()), ["B"]);
});

test("a part that vanishes between fetch and save is 409, and does not come back", async () => {
  await using app = await mount([Box]);
  const { box, bases } = await putBox();
  hooks = {
    preSave: async (_req, item) => {
      await getModel(Box).collection.updateOne(
        {},
        { $pull: { items: { _id: item._id } } } as never,
      );
      await getModel(Item).collection.deleteOne({ _id: item._id });
      return item;
    },
  };
  for (const [base, [first, second]] of bases) {
    assertEquals((await app.patch(`${base}/${first}`, { name: "no" })).status, 409);
    assertEquals((await app.delete(`${base}/${second}`)).status, 409);
  }
  assertEquals(namesOf((await getModel(Box).findById(box._id))?.items), ["A"]);
  assertEquals(namesOf(await getModel(Item).find()), ["A"]);
});
