import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
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
  removeAll,
  rest,
  update,
} from "../../mod.ts";
import { type Client, client } from "../support/client.ts";
import { Note } from "../fixtures/library.ts";
import { test } from "../harness/testing.ts";
import { CALLS, sender } from "./part_calls.ts";
import { asQuery, type EntityBody, mount, NOBODY } from "../support/support.ts";

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

class Room extends FrameworkModel {
  @prop()
  name?: string;
  @rest({ methods: spied("c"), scope: scopeOf("c") })
  @arrayProp({ items: Note })
  held?: Ref<Note>[];
  @rest({ methods: spied("c"), scope: scopeOf("c") })
  @arrayProp({ items: Note, embedded: true, apart: false })
  things?: Note[];
}

@rest({ route: "/houses", methods: spied("a"), scope: scopeOf("a") })
class House extends FrameworkModel {
  @prop()
  name?: string;
  @rest({ methods: spied("b"), scope: scopeOf("b") })
  @arrayProp({ items: Room, embedded: true, apart: false })
  rooms?: Room[];
}

async function putHouse(app: Client) {
  const held = await getModel(Note).create({ name: "held" });
  const room = { name: "R", held: [held._id], things: [{ name: "T" }] };
  const house = await getModel(House).create({ name: "H", rooms: [room] } as never) as House;
  const [stored] = house.rooms as [Room];
  const rooms = client(`${app.url}/houses/${house._id}/rooms`);
  return {
    rooms,
    room: String(stored._id),
    below: `${rooms.url}/${stored._id}`,
    held: String(held._id),
    thing: String(stored.things?.[0]?._id),
  };
}

const GUARD = "a.preFetch b.preFetch";
const OPENED = "a.scope db a.postFetch b.scope";

test("every operation one level down runs its hooks in the order of the contract", async () => {
  await using app = await mount([House]);
  const { rooms, room } = await putHouse(app);
  const send = sender(rooms, room);
  const found = [];
  for (const each of CALLS) found.push(await watch(() => send(each)));
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
    const { below, thing, held } = await putHouse(app);
    const opened = `${GUARD} c.preFetch ${OPENED} db b.postFetch c.scope`;
    const send = sender(client(`${below}/${property}`), property === "held" ? held : thing);
    const found = [];
    for (const each of CALLS) found.push(await watch(() => send(each)));
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
  const path = `/trees/${NOBODY}/branches/${NOBODY}/leaves/${NOBODY}`;
  const asked = (level: string) => watch(() => app.get(path, { headers: { "x-no": level } }));
  assertEquals(await asked("a"), "a 403");
  assertEquals(await asked("b"), "a b 403");
  assertEquals(await asked("c"), "a b c 403");
  assertEquals(await asked("none"), "a b c db 404");
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
  const url = `/bars/${bar._id}/trays/${tray._id}/cups${asQuery({ size: "2" })}`;
  const reply = await app.get<EntityBody[]>(url);
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
    @arrayProp({ items: Disc, embedded: true, apart: false })
    discs?: Disc[];
  }
  await using app = await mount([Rack]);
  const rack = await getModel(Rack).create({ discs: [{ name: "a" }] } as never) as Rack;
  const url = `/racks/${rack._id}/discs`;
  assertEquals((await app.get(url)).body, [{ said: "A", own: true }]);
  const added = await app.post(url, { name: "b" });
  assertEquals([added.status, added.body], [201, { said: "B", own: true }]);
});
