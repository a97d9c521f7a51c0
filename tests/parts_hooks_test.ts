import { assertEquals } from "@std/assert";
import {
  all,
  arrayProp,
  asFilter,
  create,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
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
} from "../mod.ts";
import { request } from "./harness/request.ts";
import { test } from "./harness/testing.ts";
import { asQuery, type EntityBody, type ErrorBody, mount, NOBODY } from "./support.ts";
import { hooksFor } from "./hooked.ts";

const SIX = [all(), one(), create(), update(), remove(), removeAll()];

const post = (url: string, body: unknown) => request<EntityBody>(url, { method: "POST", body });
const patch = (url: string, body: unknown) => request<EntityBody>(url, { method: "PATCH", body });
const erase = (url: string) => request<ErrorBody>(url, { method: "DELETE" });

async function namesAt(url: string): Promise<string> {
  const { body } = await request<EntityBody[]>(url);
  return body.map(({ name }) => name).join("");
}

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
  @arrayProp({ items: Item, embedded: true })
  items?: Item[];
  @rest({ methods: hooked, scope: inScope })
  @arrayProp({ items: Item })
  refs?: Ref<Item>[];
}

async function putBox(url: string) {
  const friend = await getModel(Friend).create({ name: "F", secret: "x" });
  const items = [
    { name: "B", rank: 2, quiet: "q", friend: friend._id },
    { name: "C", rank: 3, quiet: "q" },
    { name: "A", rank: 1, quiet: "q" },
  ];
  const refs = (await getModel(Item).create(items as never[]) as Item[]).map(({ _id }) => _id);
  const box = await getModel(Box).create({ name: "X", items, refs } as never) as Box;
  hooks = {};
  const at = `${url}/boxes/${box._id}`;
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
  const { bases } = await putBox(app.url);
  for (const [base] of bases) {
    for (const sort of [{ name: 1 }, "name", { name: "asc" }]) {
      ask({ sort });
      assertEquals([sort, await namesAt(base)], [sort, "ABC"]);
    }
    ask({ sort: "-rank", skip: 1, limit: 1 });
    assertEquals(await namesAt(base), "B");
    ask({ skip: 1, limit: undefined });
    assertEquals(await namesAt(base), "CA");
    for (const limit of [NaN, 0, -1]) {
      ask({ limit });
      assertEquals([limit, (await request(base)).status], [limit, 500]);
    }
  }
});

test("skip and limit of a hook have no say where a part is named", async () => {
  await using app = await mount([Box]);
  const { bases } = await putBox(app.url);
  for (const [base, [first, second]] of bases) {
    ask({ skip: 1, limit: 1, sort: { name: 1 } });
    assertEquals((await request<EntityBody>(`${base}/${first}`)).body.name, "B");
    assertEquals((await patch(`${base}/${first}`, { name: "D" })).status, 200);
    assertEquals((await post(base, { name: "E", rank: 9 })).body.name, "E");
    assertEquals((await erase(`${base}/${second}`)).status, 204);
    hooks = {};
    assertEquals((await namesAt(base)).split("").sort().join(""), "ADE");
  }
});

test("removeAll() of embedded documents honours the page that a hook asks for", async () => {
  await using app = await mount([Box]);
  const { bases } = await putBox(app.url);
  for (const [base] of bases) {
    ask({ sort: "-name", skip: 1, limit: 1 });
    assertEquals((await erase(base)).status, 204);
    ask({ sort: "name" });
    assertEquals(await namesAt(base), "AC");
  }
});

test("a projection of a hook works on parts as on roots, in every form", async () => {
  await using app = await mount([Box]);
  const { bases } = await putBox(app.url);
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
      const { body } = await request<EntityBody>(`${base}/${id}`);
      assertEquals([base, projection, keys(body)], [base, projection, expected]);
      const listed = (await request<EntityBody[]>(base)).body;
      assertEquals([projection, keys(listed[0] ?? {})], [projection, expected]);
    }
    ask({}, { name: 1 });
    assertEquals(keys((await patch(`${base}/${id}`, { rank: 5 })).body), "_id name");
  }
});

test("populate of a hook works on parts, and hides what is hidden there", async () => {
  await using app = await mount([Box]);
  const { bases } = await putBox(app.url);
  for (const [base, [id]] of bases) {
    for (const options of [{ populate: "friend" }, { populate: "friend", lean: true }]) {
      ask(options);
      const one = (await request<EntityBody>(`${base}/${id}`)).body.friend as EntityBody;
      const [first] = (await request<EntityBody[]>(base)).body;
      for (const friend of [one, first?.friend as EntityBody]) {
        assertEquals([friend.name, "secret" in friend], ["F", false]);
      }
    }
  }
});

test("lean of a hook shows plain parts, and does not keep them from being changed", async () => {
  await using app = await mount([Box]);
  const { bases } = await putBox(app.url);
  for (const [base, [id]] of bases) {
    const plain = (await request(`${base}/${id}`)).body;
    ask({ lean: true });
    assertEquals((await request(`${base}/${id}`)).body, plain);
    assertEquals((await patch(`${base}/${id}`, { name: "D" })).body.name, "D");
    assertEquals((await erase(`${base}/${id}`)).status, 204);
  }
});

test("a hook of a part that narrows the filter binds every operation", async () => {
  await using app = await mount([Box]);
  const { bases } = await putBox(app.url);
  hooks = {
    preFetch: (req) => {
      req.framework.filter.rank = { $gt: "1" };
      return true;
    },
  };
  for (const [base, [, , a]] of bases) {
    assertEquals((await namesAt(base)).split("").sort().join(""), "BC");
    const found = [
      await request(`${base}/${a}`),
      await patch(`${base}/${a}`, {}),
      await erase(`${base}/${a}`),
    ];
    assertEquals(found.map(({ status }) => status), [404, 404, 404]);
    assertEquals((await erase(base)).status, 204);
  }
  hooks = {};
  for (const [base] of bases) assertEquals(await namesAt(base), "A");
});

test("hooks of a part reject as those of a root do", async () => {
  await using app = await mount([Box]);
  const { bases } = await putBox(app.url);
  for (const [base, [id]] of bases) {
    hooks = {
      postFetch: asFilter((_req, item) => {
        if (item.name === "B") throw new RestError(403, "no");
        return item;
      }),
    };
    assertEquals((await namesAt(base)).split("").sort().join(""), "AC");
    assertEquals((await patch(`${base}/${id}`, { name: "D" })).status, 404);
    hooks = { preSave: () => null };
    const refused = [
      await post(base, { rank: 1 }),
      await patch(`${base}/${id}`, {}),
      await erase(`${base}/${id}`),
    ];
    assertEquals(refused.map(({ status }) => status), [403, 403, 403]);
    hooks = { preSend: () => null };
    assertEquals([(await request(base)).text, (await request(`${base}/${id}`)).status], [
      "[]",
      404,
    ]);
    const made = await post(base, { name: "N", rank: 1 });
    assertEquals([made.status, made.headers.has("location")], [204, true]);
    hooks = {};
    assertEquals((await namesAt(base)).split("").sort().join(""), "ABCN");
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
    assertEquals((await erase(`${app.url}/bins/${_id}/${property}`)).status, 204);
  }
  const after = await getModel(Bin).findById(_id);
  assertEquals([after?.items?.length, after?.refs?.length], [0, 0]);
});

test("preSave and preSend of a part get what was there before as previous", async () => {
  await using app = await mount([Box]);
  const { bases } = await putBox(app.url);
  for (const [base, [id]] of bases) {
    const seen: unknown[] = [];
    const look = (_req: unknown, item: Entity<Item>, previous?: Entity<Item>) => {
      seen.push([item.name, previous?.name]);
      return item;
    };
    hooks = { preSave: look, preSend: look };
    await patch(`${base}/${id}`, { name: "D" });
    await post(base, { name: "E", rank: 1 });
    await erase(`${base}/${id}`);
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
  const { box, bases } = await putBox(app.url);
  hooks = {
    preSave: async (_req, item) => {
      await moveOut(item);
      return item;
    },
  };
  for (const [base, [first, second]] of bases) {
    const changed = await patch(`${base}/${first}`, { name: "no" });
    const removed = await erase(`${base}/${second}`);
    assertEquals([base, changed.status, removed.status], [base, 409, 409]);
  }
  const items = (await getModel(Box).findById(box._id))?.items ?? [];
  assertEquals(items.map(({ name, rank }) => `${name}${rank}`), ["B100", "C100", "A1"]);
  assertEquals((await getModel(Item).find()).map(({ name }) => name).sort(), ["A", "B", "C"]);
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
    assertEquals((await erase(`${app.url}/tubs/${_id}/${property}`)).status, 204);
  }
  const after = await getModel(Tub).findById(_id);
  assertEquals(after?.items?.map(({ name }) => name), ["B"]);
  assertEquals((await getModel(Item).find()).map(({ name }) => name), ["B"]);
});

/** Takes the parent out of its scope, as someone else would in the middle of a request. */
async function leave(_req: unknown, item: object): Promise<object> {
  await getModel(Case).collection.updateMany({}, { $set: { open: false } });
  return item;
}

@rest({ route: "/cases", methods: [one()], scope: () => ({ open: true }) })
class Case extends FrameworkModel {
  @prop({ default: true })
  open!: boolean;
  @rest({
    methods: [create({ preSave: leave }), update({ preSave: leave }), remove({ preSave: leave })],
  })
  @arrayProp({ items: Item, embedded: true })
  items?: Item[];
  @rest({ methods: [create({ preSave: leave }), remove({ preSave: leave })] })
  @arrayProp({ items: Item })
  refs?: Ref<Item>[];
}

test("a part whose parent leaves its scope between fetch and save is not changed", async () => {
  await using app = await mount([Case]);
  const ref = await getModel(Item).create({ name: "R" });
  const { _id, items } = await getModel(Case).create(
    { items: [{ name: "A" }], refs: [ref._id] } as never,
  ) as Case;
  const at = `${app.url}/cases/${_id}`;
  const item = `${at}/items/${items?.[0]?._id}`;
  const open = () => getModel(Case).collection.updateMany({}, { $set: { open: true } });
  for (
    const send of [
      () => post(`${at}/items`, {}),
      () => patch(item, { name: "B" }),
      () => erase(item),
      () => post(`${at}/refs`, {}),
      () => erase(`${at}/refs/${ref._id}`),
    ]
  ) {
    await open();
    assertEquals((await send()).status, 409);
  }
  const after = await getModel(Case).findById(_id);
  assertEquals([after?.items?.map(({ name }) => name), after?.refs?.length, after?.__v], [
    ["A"],
    1,
    0,
  ]);
  assertEquals(await getModel(Item).countDocuments(), 1);
});

test("a part that vanishes between fetch and save is 409, and does not come back", async () => {
  await using app = await mount([Box]);
  const { box, bases } = await putBox(app.url);
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
    assertEquals((await patch(`${base}/${first}`, { name: "no" })).status, 409);
    assertEquals((await erase(`${base}/${second}`)).status, 409);
  }
  assertEquals((await getModel(Box).findById(box._id))?.items?.map(({ name }) => name), ["A"]);
  assertEquals((await getModel(Item).find()).map(({ name }) => name), ["A"]);
});

/** Takes what a level has just read out of its scope, if the request says so. */
function shut(path: string) {
  return async (req: FrameworkRequest, entity: object) => {
    const outside = { $set: { [path]: false } };
    if (req.headers["x-shut"] === path) await getModel(Safe).collection.updateMany({}, outside);
    return entity;
  };
}

class Folder extends FrameworkModel {
  @prop({ default: true })
  open!: boolean;
  @rest({ methods: [all(), one()] })
  @arrayProp({ items: Item, embedded: true })
  items?: Item[];
}

@rest({
  route: "/safes",
  methods: [one({ postFetch: shut("open") })],
  scope: () => ({ open: true }),
})
class Safe extends FrameworkModel {
  @prop({ default: true })
  open!: boolean;
  @rest({ methods: [one({ postFetch: shut("folders.0.open") })], scope: () => ({ open: true }) })
  @arrayProp({ items: Folder, embedded: true })
  folders?: Folder[];
  @rest({ methods: [all(), one()] })
  @arrayProp({ items: Item, embedded: true })
  items?: Item[];
}

test("a part whose parent leaves its scope once it was read is not shown", async () => {
  await using app = await mount([Safe]);
  const items = [{ name: "A" }];
  const safe = await getModel(Safe).create({ items, folders: [{ items }] } as never) as Safe;
  const at = `${app.url}/safes/${safe._id}`;
  const folder = `${at}/folders/${safe.folders?.[0]?._id}`;
  const cases = [[`${at}/items`, "open"], [`${folder}/items`, "folders.0.open"]] as const;
  for (const [url, path] of cases) {
    const shown = await request(url, { headers: { "x-shut": "other" } });
    assertEquals([shown.status, shown.text.includes("A")], [200, true]);
    const { text } = await request(url, { headers: { "x-shut": path } });
    assertEquals([url, text.includes(`"A"`)], [url, false]);
    await getModel(Safe).collection.updateMany({}, { $set: { [path]: true } });
  }
});

test("a single part that vanishes between fetch and save is 409, and does not come back", async () => {
  const vanish = async (_req: unknown, item: object) => {
    await getModel(Frame).collection.updateOne({}, { $unset: { item: 1, ref: 1 } });
    return item;
  };
  @rest({ route: "/frames", methods: [one()] })
  class Frame extends FrameworkModel {
    @rest({ methods: [update({ preSave: vanish }), remove({ preSave: vanish })] })
    @prop({ type: Item })
    item?: Item;
    @rest({ methods: [remove({ preSave: vanish })] })
    @prop({ ref: Item })
    ref?: Ref<Item>;
  }
  await using app = await mount([Frame]);
  const ref = await getModel(Item).create({ name: "R" });
  const whole = { item: { _id: ref._id, name: "A" }, ref: ref._id };
  const { _id } = await getModel(Frame).create(whole as never);
  const at = `${app.url}/frames/${_id}`;
  for (const send of [() => patch(`${at}/item`, { name: "B" }), () => erase(`${at}/item`)]) {
    await getModel(Frame).collection.updateOne({}, { $set: whole });
    assertEquals((await send()).status, 409);
    assertEquals(await getModel(Frame).collection.findOne(), { _id, __v: 0 } as never);
  }
  await getModel(Frame).collection.updateOne({}, { $set: whole });
  assertEquals((await erase(`${at}/ref`)).status, 409);
  assertEquals(await getModel(Item).countDocuments(), 1);
});

/** How the parent is shown, set by each test. */
let show: (req: FrameworkRequest, crate: Entity<Crate>) => object | null = (_req, crate) => crate;
let read: (req: FrameworkRequest) => unknown = () => getModel(Crate).findOne();

const guard: HooksOf<Crate> = {
  postFetch: (req, crate) => show(req, crate),
  fetch: (req) => read(req),
};

@rest({ route: "/crates", methods: [one<Crate>(guard)] })
class Crate extends FrameworkModel {
  @prop()
  name?: string;
  @rest({ methods: SIX })
  @arrayProp({ items: Item, embedded: true })
  items?: Item[];
  @rest({ methods: SIX })
  @arrayProp({ items: Item })
  refs?: Ref<Item>[];
}

async function putCrate(url: string) {
  const ref = await getModel(Item).create({ name: "R" });
  const fields = { name: "X", items: [{ name: "A" }], refs: [ref._id] };
  const crate = await getModel(Crate).create(fields as never) as Crate;
  show = (_req, each) => each;
  read = () => getModel(Crate).findById(crate._id);
  return { crate, ref, at: `${url}/crates/${crate._id}` };
}

/** Everything that can be done below a parent, whatever its hooks have made of it. */
async function checkParts(at: string): Promise<void> {
  for (const [base, name] of [[`${at}/items`, "A"], [`${at}/refs`, "R"]] as const) {
    assertEquals([base, await namesAt(base)], [base, name]);
    const made = await post(base, { name: "N" });
    assertEquals([base, made.status], [base, 201]);
    assertEquals((await patch(`${base}/${made.body._id}`, { name: "M" })).status, 200);
    assertEquals((await namesAt(base)).split("").sort().join(""), [name, "M"].sort().join(""));
    assertEquals((await erase(`${base}/${made.body._id}`)).status, 204);
    assertEquals(await namesAt(base), name);
  }
}

test("parts are reached below a parent that postFetch has reduced, or copied", async () => {
  await using app = await mount([Crate]);
  const { at } = await putCrate(app.url);
  const shown: typeof show[] = [
    (_req, crate) => ({ _id: crate._id, name: crate.name }),
    (_req, crate) => ({ name: crate.name }),
    (_req, crate) => crate.toObject(),
    (_req, crate) => JSON.parse(JSON.stringify(crate)),
    (_req, crate) => Object.assign(crate, { name: "changed" }),
  ];
  for (show of shown) await checkParts(at);
  assertEquals((await getModel(Crate).findOne())?.name, "X");
});

test("parts are reached below a parent that a fetch hook read plainly, or in part", async () => {
  await using app = await mount([Crate]);
  const { crate, at } = await putCrate(app.url);
  const model = getModel(Crate);
  const reads: typeof read[] = [
    () => model.findById(crate._id).lean(),
    () => model.findById(crate._id, { name: 1 }),
    () => model.findById(crate._id, { refs: 0, items: 0 }).lean(),
    () => model.findById(crate._id).populate("refs"),
    () => ({ _id: String(crate._id) }),
    () => [{ _id: crate._id }],
  ];
  for (read of reads) await checkParts(at);
});

test("parts below a parent that was read without _id are 500, and nothing is touched", async () => {
  await using app = await mount([Crate], { onError: () => new RestError(500, "seen") });
  const { crate, at } = await putCrate(app.url);
  for (const each of [() => ({ name: "X" }), () => getModel(Crate).findOne({}, { _id: 0 })]) {
    read = each;
    assertEquals((await request(`${at}/items`)).status, 500);
    assertEquals((await post(`${at}/items`, {})).status, 500);
    assertEquals((await erase(`${at}/refs`)).status, 500);
  }
  const after = await getModel(Crate).findById(crate._id);
  assertEquals([after?.items?.length, after?.refs?.length, after?.__v], [1, 1, 0]);
});

test("what postFetch takes out of the parent's references is out of reach", async () => {
  await using app = await mount([Crate]);
  const { ref, at } = await putCrate(app.url);
  const shown: typeof show[] = [
    (_req, crate) => Object.assign(crate, { refs: [] }),
    (_req, crate) => ({ _id: crate._id, refs: [] }),
  ];
  for (show of shown) {
    assertEquals(await namesAt(`${at}/refs`), "");
    assertEquals((await request(`${at}/refs/${ref._id}`)).status, 404);
    assertEquals((await erase(`${at}/refs/${ref._id}`)).status, 404);
    assertEquals((await erase(`${at}/refs`)).status, 204);
  }
  assertEquals(await getModel(Item).countDocuments(), 1);
});

test("the parts of a parent that lives in another database are those that it lists", async () => {
  await using app = await mount([Crate]);
  const { ref, at } = await putCrate(app.url);
  await getModel(Item).create({ name: "S" });
  read = () => ({ _id: NOBODY, refs: [String(ref._id)] });
  assertEquals(await namesAt(`${at}/refs`), "R");
  assertEquals((await request<EntityBody>(`${at}/refs/${ref._id}`)).body.name, "R");
  assertEquals((await patch(`${at}/refs/${ref._id}`, { name: "T" })).status, 200);
  // There is no such parent here that an identifier could be written to
  assertEquals((await post(`${at}/refs`, { name: "U" })).status, 409);
  assertEquals((await getModel(Item).find()).map(({ name }) => name).sort(), ["S", "T"]);
});

test("fetch and persist of a part replace its reads and writes", async () => {
  const written: unknown[] = [];
  const persist = (_req: FrameworkRequest, item: object) => {
    written.push({ ...item });
    return { ...item, saved: true };
  };
  const fetch = () => [{ name: "P", rank: 1 }];
  @rest({ route: "/mirrors", methods: [one()] })
  class Mirror extends FrameworkModel {
    @rest({ methods: [all({ fetch }), update({ fetch, persist }), remove({ fetch, persist })] })
    @arrayProp({ items: Item, embedded: true })
    items?: Item[];
  }
  await using app = await mount([Mirror]);
  const { _id } = await getModel(Mirror).create({ items: [{ name: "A" }] } as never) as Mirror;
  const url = `${app.url}/mirrors/${_id}/items`;
  assertEquals((await request(url)).body, [{ name: "P", rank: 1 }]);
  assertEquals((await patch(`${url}/any`, { rank: 2 })).body as unknown, {
    name: "P",
    rank: 2,
    saved: true,
  });
  assertEquals((await erase(`${url}/any`)).status, 204);
  assertEquals(written, [{ name: "P", rank: 2 }, { name: "P", rank: 1 }]);
  assertEquals((await getModel(Mirror).findById(_id))?.__v, 0);
  assertEquals((await request(`${app.url}/mirrors/${NOBODY}/items${asQuery({})}`)).status, 404);
});
