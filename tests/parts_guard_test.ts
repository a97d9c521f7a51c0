import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  type MaybePromise,
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

/** The six operations on a part, as requests. */
const SIX = [
  ["GET", false],
  ["GET", true],
  ["POST", false],
  ["PATCH", true],
  ["DELETE", true],
  ["DELETE", false],
] as const;

/** Sends one of the six. */
function send([method, item]: typeof SIX[number], base: string, id: string, headers = {}) {
  const body = method === "POST" || method === "PATCH" ? { body: { name: "new" } } : {};
  return request<ErrorBody>(item ? `${base}/${id}` : base, { method, headers, ...body });
}

// What happened, in order: hooks by level and name, and the calls of the database.
const log: string[] = [];

function note(event: string): void {
  if (event !== "db" || log.at(-1) !== "db") log.push(event);
}

/** Runs a request, and gives what happened meanwhile. */
async function watch(run: () => Promise<{ status: number }>): Promise<string> {
  log.length = 0;
  mongoose.set("debug", (_collection: string, method: string) => {
    if (!/index|collection/i.test(method)) note("db");
  });
  const { status } = await run();
  mongoose.set("debug", false);
  return [...log, status].join(" ");
}

/** Hooks that tell of themselves. */
function spy(level: string) {
  const pass = (hook: string) => (_req: FrameworkRequest, entity: object) => {
    note(`${level}.${hook}`);
    return entity;
  };
  return {
    preFetch: () => {
      note(`${level}.preFetch`);
      return true;
    },
    postFetch: pass("postFetch"),
    preSave: pass("preSave"),
    preSend: pass("preSend"),
  };
}

function scopeOf(level: string) {
  return () => {
    note(`${level}.scope`);
    return { name: { $ne: "hidden" } };
  };
}

/** All operations of a part, each with hooks that tell of themselves. */
function spied(level: string) {
  const { preSave, preSend, ...both } = spy(level);
  return [
    all({ ...both, preSend }),
    one({ ...both, preSend }),
    create({ ...both, preSave, preSend }),
    update({ ...both, preSave, preSend }),
    remove({ ...both, preSave }),
    removeAll({ ...both, preSave }),
  ];
}

class Thing extends FrameworkModel {
  @prop()
  name?: string;
}

class Room extends FrameworkModel {
  @prop()
  name?: string;
  @rest({ methods: spied("c"), scope: scopeOf("c") })
  @arrayProp({ items: Thing })
  held?: Ref<Thing>[];
  @rest({ methods: spied("c"), scope: scopeOf("c") })
  @arrayProp({ items: Thing, embedded: true })
  things?: Thing[];
}

@rest({ route: "/houses", methods: spied("a"), scope: scopeOf("a") })
class House extends FrameworkModel {
  @prop()
  name?: string;
  @rest({ methods: spied("b"), scope: scopeOf("b") })
  @arrayProp({ items: Room, embedded: true })
  rooms?: Room[];
}

async function putHouse(url: string) {
  const held = await getModel(Thing).create({ name: "held" });
  const room = { name: "R", held: [held._id], things: [{ name: "T" }] };
  const house = await getModel(House).create({ name: "H", rooms: [room] } as never) as House;
  const [stored] = house.rooms as [Room];
  const rooms = `${url}/houses/${house._id}/rooms`;
  return {
    house,
    rooms,
    room: String(stored._id),
    below: `${rooms}/${stored._id}`,
    held: String(held._id),
    thing: String(stored.things?.[0]?._id),
  };
}

const GUARD = "a.preFetch b.preFetch";
const OPENED = "a.scope db a.postFetch b.scope";

test("every operation one level down runs its hooks in the order of the contract", async () => {
  await using app = await mount([House]);
  const { rooms, room } = await putHouse(app.url);
  const found = [];
  for (const each of SIX) found.push(await watch(() => send(each, rooms, room)));
  assertEquals(found, [
    `${GUARD} ${OPENED} db b.postFetch b.preSend 200`,
    `${GUARD} ${OPENED} db b.postFetch b.preSend 200`,
    `${GUARD} ${OPENED} b.postFetch b.preSave db b.preSend 201`,
    `${GUARD} ${OPENED} db b.postFetch b.preSave db b.preSend 200`,
    `${GUARD} ${OPENED} db b.postFetch b.preSave db 204`,
    `${GUARD} ${OPENED} db b.postFetch b.preSave db 204`,
  ]);
});

test("every operation two levels down runs its hooks in the order of the contract", async () => {
  await using app = await mount([House]);
  for (const property of ["things", "held"]) {
    const { below, thing, held } = await putHouse(app.url);
    const opened = `${GUARD} c.preFetch ${OPENED} db b.postFetch c.scope`;
    const found = [];
    for (const each of SIX) {
      const id = property === "held" ? held : thing;
      found.push(await watch(() => send(each, `${below}/${property}`, id)));
    }
    assertEquals(found, [
      `${opened} db c.postFetch c.preSend 200`,
      `${opened} db c.postFetch c.preSend 200`,
      `${opened} c.postFetch c.preSave db c.preSend 201`,
      `${opened} db c.postFetch c.preSave db c.preSend 200`,
      `${opened} db c.postFetch c.preSave db 204`,
      `${opened} db c.postFetch c.preSave db 204`,
    ]);
  }
});

test("a preFetch of any level that refuses comes before the database is called", async () => {
  const refusing = (level: string) => (req: FrameworkRequest) => {
    note(level);
    return req.headers["x-no"] !== level;
  };
  const methods = (level: string) => [one({ preFetch: refusing(level) })];
  class Leaf extends FrameworkModel {}
  class Branch extends FrameworkModel {
    @rest({ methods: methods("c") })
    @arrayProp({ items: Leaf, embedded: true })
    leaves?: Leaf[];
  }
  @rest({ route: "/trees", methods: methods("a") })
  class Tree extends FrameworkModel {
    @rest({ methods: methods("b") })
    @arrayProp({ items: Branch })
    branches?: Ref<Branch>[];
  }
  await using app = await mount([Tree]);
  const url = `${app.url}/trees/${NOBODY}/branches/${NOBODY}/leaves/${NOBODY}`;
  const asked = (level: string) => watch(() => request(url, { headers: { "x-no": level } }));
  assertEquals(await asked("a"), "a 403");
  assertEquals(await asked("b"), "a b 403");
  assertEquals(await asked("c"), "a b c 403");
  assertEquals(await asked("none"), "a b c db 404");
});

/** A parent whose one() guards itself in every way, by a header; it is sent back as the guard's answer. */
const guards = {
  preFetch: (req: FrameworkRequest): boolean => {
    if (req.headers["x-guard"] === "401") throw new RestError(401, { code: "UNAUTHENTICATED" });
    return req.headers["x-guard"] !== "403";
  },
  postFetch: (req: FrameworkRequest, entity: object): object | null => {
    if (req.headers["x-guard"] === "418") throw new RestError(418, "Short and stout");
    return req.headers["x-guard"] === "404" ? null : entity;
  },
};

const plain = [all(), one(), create(), update(), remove(), removeAll()];

@rest({
  route: "/safes",
  methods: [one(guards), create()],
  scope: (req) => req.headers["x-tenant"] === undefined ? {} : { tenant: req.headers["x-tenant"] },
})
class Safe extends FrameworkModel {
  @prop()
  tenant?: string;
  @rest({ methods: plain })
  @arrayProp({ items: Thing, embedded: true })
  things?: Thing[];
  @rest({ methods: plain })
  @arrayProp({ items: Thing })
  held?: Ref<Thing>[];
}

async function putSafe(url: string) {
  const held = await getModel(Thing).create({ name: "held" });
  const fields = { tenant: "A", things: [{ name: "T" }], held: [held._id] };
  const safe = await getModel(Safe).create(fields as never) as Safe;
  const at = `${url}/safes/${safe._id}`;
  return {
    parts: [[`${at}/things`, String(safe.things?.[0]?._id)], [`${at}/held`, String(held._id)]],
    state: async () => ({
      safe: await getModel(Safe).collection.findOne({ _id: safe._id }),
      things: await getModel(Thing).find().lean(),
    }),
  };
}

test("the hooks of the parent's one() guard every operation on its parts", async () => {
  await using app = await mount([Safe]);
  const { parts, state } = await putSafe(app.url);
  const before = await state();
  for (const [base = "", id = ""] of parts) {
    for (const each of SIX) {
      for (const guard of ["401", "403", "404", "418"]) {
        const reply = await send(each, base, id, { "x-guard": guard });
        assertEquals([base, ...each, String(reply.status)], [base, ...each, guard]);
      }
    }
  }
  assertEquals(await state(), before);
  const body = { code: "UNAUTHENTICATED" };
  const refused = await request(parts[0]?.[0] ?? "", { headers: { "x-guard": "401" } });
  assertEquals(refused.body, body);
});

test("the scope of the parent binds every operation on its parts", async () => {
  await using app = await mount([Safe]);
  const { parts, state } = await putSafe(app.url);
  const before = await state();
  for (const [base = "", id = ""] of parts) {
    for (const each of SIX) {
      const reply = await send(each, base, id, { "x-tenant": "B" });
      assertEquals([base, ...each, reply.status], [base, ...each, 404]);
    }
    const mine = await request<EntityBody[]>(base, { headers: { "x-tenant": "A" } });
    assertEquals([mine.status, mine.body.length], [200, 1]);
  }
  assertEquals(await state(), before);
});

test("the filter of the parent's preFetch binds every operation on its parts", async () => {
  @rest({
    route: "/chests",
    methods: [one({
      preFetch: (req) => {
        req.framework.filter.owner = req.headers["x-user"] ?? "";
        return true;
      },
    })],
  })
  class Chest extends FrameworkModel {
    @prop()
    owner?: string;
    @rest({ methods: plain })
    @arrayProp({ items: Thing, embedded: true })
    things?: Thing[];
  }
  await using app = await mount([Chest]);
  const chest = await getModel(Chest).create({ owner: "me", things: [{ name: "T" }] } as never);
  const base = `${app.url}/chests/${(chest as Chest)._id}/things`;
  const id = String((chest as Chest).things?.[0]?._id);
  for (const each of SIX) {
    assertEquals((await send(each, base, id, { "x-user": "you" })).status, 404);
  }
  const statuses = [];
  for (const each of SIX) statuses.push((await send(each, base, id, { "x-user": "me" })).status);
  assertEquals(statuses, [200, 200, 201, 200, 204, 204]);
});

test("the parent is 404 where its fetch hook gives nothing, and what it gives is the parent", async () => {
  @rest({
    route: "/vaults",
    methods: [one<Vault>({
      fetch: (req) => req.params.id === "main" ? getModel(Vault).findOne({ name: "main" }) : null,
    })],
  })
  class Vault extends FrameworkModel {
    @prop()
    name?: string;
    @rest({ methods: plain })
    @arrayProp({ items: Thing, embedded: true })
    things?: Thing[];
  }
  await using app = await mount([Vault]);
  const [, main] = await getModel(Vault).create([{ name: "other" }, { name: "main" }]);
  const added = await request<EntityBody>(`${app.url}/vaults/main/things`, {
    method: "POST",
    body: { name: "T" },
  });
  assertEquals(added.status, 201);
  assertEquals((await getModel(Vault).findById(main?._id))?.things?.[0]?.name, "T");
  const item = `${app.url}/vaults/main/things/${added.body._id}`;
  assertEquals((await request<EntityBody>(item)).body.name, "T");
  assertEquals((await request(`${app.url}/vaults/${main?._id}/things`)).status, 404);
});

const byOwner = (req: FrameworkRequest) => ({ owner: String(req.headers["x-user"]) });

@rest({ route: "/pets", methods: plain, scope: byOwner })
class Pet extends FrameworkModel {
  @prop()
  name?: string;
  @prop()
  owner?: string;
  @prop({ default: true })
  shown!: boolean;
}

@rest({ route: "/homes", methods: [one(), create()] })
class Home extends FrameworkModel {
  @rest({ methods: plain })
  @arrayProp({ items: Pet })
  pets?: Ref<Pet>[];
  @rest({ methods: plain })
  @arrayProp({ items: Pet, embedded: true })
  inside?: Pet[];
  @rest({ methods: plain, route: "/shown", scope: () => ({ shown: true }) })
  @arrayProp({ items: Pet })
  others?: Ref<Pet>[];
}

async function putHome(url: string) {
  const pets = [
    { name: "A", owner: "me" },
    { name: "B", owner: "you" },
    { name: "C", owner: "me", shown: false },
  ];
  const ids = (await getModel(Pet).create(pets)).map(({ _id }) => _id);
  const fields = { pets: ids, inside: pets, others: ids };
  const home = await getModel(Home).create(fields as never) as Home;
  const at = `${url}/homes/${home._id}`;
  const inside = (home.inside ?? []).map(({ _id }) => String(_id));
  return { home, at, parts: [[`${at}/pets`, ids.map(String)], [`${at}/inside`, inside]] as const };
}

const ME = { "x-user": "me" };

async function namesAt(url: string, headers = {}): Promise<string> {
  const { body } = await request<EntityBody[]>(url, { headers });
  return body.map(({ name }) => name).sort().join("");
}

test("the scope of the sub-model's class applies through the parent", async () => {
  await using app = await mount([Home, Pet]);
  const { parts } = await putHome(app.url);
  for (const [base, [mine = "", theirs = ""]] of parts) {
    assertEquals([await namesAt(base, ME), await namesAt(base, { "x-user": "you" })], ["AC", "B"]);
    assertEquals((await send(["GET", true] as never, base, mine, ME)).status, 200);
    for (const each of SIX.filter(([, item]) => item)) {
      assertEquals([base, (await send(each, base, theirs, ME)).status], [base, 404]);
    }
    await request(base, { method: "DELETE", headers: ME });
    assertEquals([await namesAt(base, ME), await namesAt(base, { "x-user": "you" })], ["", "B"]);
  }
});

test("a scope of the property's own takes the place of those of the class", async () => {
  await using app = await mount([Home, Pet]);
  const { at } = await putHome(app.url);
  assertEquals(await namesAt(`${at}/shown`, ME), "AB");
  assertEquals(await namesAt(`${at}/shown`, { "x-user": "nobody" }), "AB");
});

test("a part without a scope takes those of every @rest on the class of its model", async () => {
  @rest({ route: "/dogs", methods: [all()], scope: () => ({ tame: true }) })
  @rest({ route: "/hounds", methods: [all()], scope: () => ({ size: { $gt: 1 } }) })
  class Dog extends FrameworkModel {
    @prop()
    name?: string;
    @prop({ type: Boolean })
    tame?: boolean;
    @prop({ type: Number })
    size?: number;
  }
  @rest({ route: "/kennels", methods: [one()] })
  class Kennel extends FrameworkModel {
    @rest({ methods: [all()] })
    @arrayProp({ items: Dog, embedded: true })
    dogs?: Dog[];
  }
  await using app = await mount([Kennel]);
  const dogs = [["A", true, 1], ["B", true, 2], ["C", false, 2]];
  const fields = { dogs: dogs.map(([name, tame, size]) => ({ name, tame, size })) };
  const kennel = await getModel(Kennel).create(fields as never) as Kennel;
  assertEquals(await namesAt(`${app.url}/kennels/${kennel._id}/dogs`), "B");
});

test("a scope of the part binds what is created and what an update would make of it", async () => {
  await using app = await mount([Home, Pet]);
  const { home, parts } = await putHome(app.url);
  const before = await getModel(Home).collection.findOne({ _id: home._id });
  for (const [base, [id]] of parts) {
    const theirs = { method: "POST", body: { name: "D", owner: "you" }, headers: ME };
    const given = { method: "PATCH", body: { owner: "you" }, headers: ME };
    for (const reply of [await request(base, theirs), await request(`${base}/${id}`, given)]) {
      assertEquals([reply.status, (reply.body as ErrorBody).code], [403, "FORBIDDEN"]);
    }
  }
  assertEquals(await getModel(Home).collection.findOne({ _id: home._id }), before);
  assertEquals(await getModel(Pet).countDocuments(), 3);
  for (const [base, [id]] of parts) {
    const mine = { method: "POST", body: { name: "D", owner: "me" }, headers: ME };
    assertEquals((await request(base, mine)).status, 201);
    const renamed = { method: "PATCH", body: { name: "E" }, headers: ME };
    assertEquals((await request(`${base}/${id}`, renamed)).status, 200);
  }
});

test("a scope of any level that is undefined or no object is 500 and touches nothing", async () => {
  const scopes: (() => MaybePromise<Record<string, unknown>>)[] = [
    () => ({ name: undefined }),
    () => undefined as never,
    () => Promise.resolve("all" as never),
  ];
  for (const scope of scopes) {
    @rest({ route: "/crates", methods: [one()] })
    class Crate extends FrameworkModel {
      static override schemaOptions = { collection: "crates" };
      @rest({ methods: plain, scope })
      @arrayProp({ items: Thing, embedded: true })
      things?: Thing[];
    }
    await using app = await mount([Crate], { onError: () => new RestError(500, "seen") });
    const crate = await getModel(Crate).create({ things: [{ name: "T" }] } as never) as Crate;
    const base = `${app.url}/crates/${crate._id}/things`;
    for (const each of SIX) {
      assertEquals((await send(each, base, String(crate.things?.[0]?._id))).status, 500);
    }
    const after = await getModel(Crate).findById(crate._id);
    assertEquals(after?.things?.map(({ name }) => name), ["T"]);
  }
});

test("scopes and filters of parts bind whatever the host has set for its queries", async () => {
  for (const [setting, value] of [["sanitizeFilter", true], ["strictQuery", "throw"]] as const) {
    await using app = await mount([Home, Pet]);
    const { parts } = await putHome(app.url);
    mongoose.set(setting, value);
    for (const [base, [mine = "", theirs = ""]] of parts) {
      const found = await namesAt(`${base}${asQuery({ name: { $gte: "B" } })}`, ME);
      assertEquals([setting, found], [setting, "C"]);
      const statuses = [];
      for (const id of [mine, theirs]) {
        statuses.push((await send(["PATCH", true], base, id, ME)).status);
        statuses.push((await send(["DELETE", true], base, id, ME)).status);
      }
      assertEquals(statuses, [200, 204, 404, 404]);
      assertEquals((await send(["DELETE", false], base, "", ME)).status, 204);
      assertEquals(await namesAt(base, { "x-user": "you" }), "B");
    }
    mongoose.set(setting, setting === "sanitizeFilter" ? false : undefined as never);
  }
});

interface Seen {
  readonly operation: string;
  readonly filter: object;
  readonly options: object;
  readonly model: string;
}

const seen: Seen[] = [];

/** Leaves a mark in its own `req.framework`, which no other level may see. */
async function look(level: string, req: FrameworkRequest): Promise<boolean> {
  const { operation, filter, options, projection } = req.framework;
  const { modelName } = await req.framework.model();
  seen.push({
    operation,
    filter: structuredClone(filter),
    options: { ...options },
    model: modelName,
  });
  Object.assign(options, { comment: level });
  Object.assign(projection, { name: 1 });
  return true;
}

class Cup extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Number })
  size?: number;
}

class Tray extends FrameworkModel {
  @prop()
  name?: string;
  @rest({ methods: [all({ preFetch: (req) => look("cup", req) })] })
  @arrayProp({ items: Cup, embedded: true })
  cups?: Cup[];
}

@rest({ route: "/bars", methods: [one({ preFetch: (req) => look("bar", req) })] })
class Bar extends FrameworkModel {
  @prop()
  name?: string;
  @rest({ methods: [one({ preFetch: (req) => look("tray", req) })] })
  @arrayProp({ items: Tray })
  trays?: Ref<Tray>[];
}

test("req.framework is the running level's own: q, options, projection, operation, model()", async () => {
  await using app = await mount([Bar]);
  const cups = [{ name: "A", size: 1 }, { name: "B", size: 2 }];
  const tray = await getModel(Tray).create({ name: "T", cups } as never) as Tray;
  const bar = await getModel(Bar).create({ name: "X", trays: [tray._id] as never });
  seen.length = 0;
  const url = `${app.url}/bars/${bar._id}/trays/${tray._id}/cups${asQuery({ size: "2" })}`;
  const reply = await request<EntityBody[]>(url);
  assertEquals(reply.body.map(({ name, size }) => [name, size]), [["B", undefined]] as never);
  const own = { filter: {}, options: {} };
  assertEquals(seen.map(({ model: _model, ...rest }) => rest), [
    { ...own, operation: "one" },
    { ...own, operation: "one" },
    { ...own, operation: "all", filter: { size: { $eq: 2 } } },
  ]);
  assertEquals(seen.map(({ model }) => model.replace(/~.*/, "")), ["Bar", "Tray", "Cup"]);
});

test("hooks of a part get documents of its model, with the methods of its class", async () => {
  class Disc extends FrameworkModel {
    @prop({ required: true })
    name!: string;
    shout(): string {
      return this.name.toUpperCase();
    }
  }
  const shout = async (req: FrameworkRequest<Disc>, disc: Disc) => ({
    said: disc.shout(),
    own: disc instanceof (await req.framework.model() as never),
  });
  @rest({ route: "/racks", methods: [one()] })
  class Rack extends FrameworkModel {
    @rest({ methods: [all({ preSend: shout }), create({ preSend: shout })] })
    @arrayProp({ items: Disc, embedded: true })
    discs?: Disc[];
  }
  await using app = await mount([Rack]);
  const rack = await getModel(Rack).create({ discs: [{ name: "a" }] } as never) as Rack;
  const url = `${app.url}/racks/${rack._id}/discs`;
  assertEquals((await request(url)).body, [{ said: "A", own: true }]);
  const added = await request(url, { method: "POST", body: { name: "b" } });
  assertEquals([added.status, added.body], [201, { said: "B", own: true }]);
});
