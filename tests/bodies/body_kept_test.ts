import { assertEquals, assertNotEquals } from "@std/assert";
import mongoose from "mongoose";
import { arrayProp, create, FrameworkModel, getModel, one, prop, rest, update } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { pass } from "../support/both_paths.ts";
import { type EntityBody, type ErrorBody, mount, NOBODY } from "../support/support.ts";

class Note extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ hidden: true })
  secret?: string;
}

class Home extends FrameworkModel {
  @prop()
  street?: string;
  @prop()
  city?: string;
  @prop({ type: Number, default: 1 })
  floor!: number;
  @prop({ immutable: true })
  country?: string;
  @prop({ readonly: true })
  checked?: string;
  @prop({ readonly: true, default: "new" })
  state!: string;
  @prop({ hidden: true, set: (value: unknown) => value && `${value}!` })
  secret?: string;
  @prop({ select: false })
  remark?: string;
  @prop({ type: Object })
  free?: object;
  @prop({ type: Note })
  note?: Note;
  @prop({ type: Map, of: Note })
  byName?: Map<string, unknown>;
  @arrayProp({ items: Note, embedded: true })
  notes?: Note[];
}

class Place extends FrameworkModel {
  @prop()
  street?: string;
  @prop({ readonly: true })
  checked?: string;
  @prop({ readonly: true, default: "new" })
  state!: string;
  @prop({ hidden: true })
  secret?: string;
  @arrayProp({ items: Note, embedded: true })
  notes?: Note[];
}

class Owner extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Place })
  place?: Place;
  @prop({ type: Place, required: true })
  base!: Place;
  @prop({ type: Map, of: Place })
  places?: Map<string, unknown>;
  @rest({ methods: [one(), update()] })
  @arrayProp({ items: Home, embedded: true })
  homes?: Home[];
}

@rest({ route: "/plain", methods: [create(), one(), update()] })
@rest({ route: "/hooked", methods: [one(), update({ postFetch: pass, preSave: pass })] })
class Keeper extends Owner {}

const ROUTES = ["/plain", "/hooked"];

type Json = Record<string, unknown>;

function collection(): mongoose.mongo.Collection {
  return getModel(Keeper).collection as never;
}

/** Stores an entity past Mongoose, and gives its identifier. */
async function store(values: Json): Promise<string> {
  const { insertedId } = await collection().insertOne({ __v: 0, base: {}, ...values });
  return String(insertedId);
}

async function stored(id: string): Promise<Json> {
  return await collection().findOne({ _id: new mongoose.Types.ObjectId(id) }) as Json;
}

/** An element with all that a client can neither see nor set. */
function home(values: Json = {}): Json {
  return {
    _id: new mongoose.Types.ObjectId(),
    street: "s",
    checked: "yes",
    state: "old",
    secret: "hush",
    remark: "r",
    legacy: 5,
    floor: 1,
    notes: [],
    ...values,
  };
}

test("update() keeps of an element that its _id names what a client can neither see nor set", async () => {
  await using app = await mount([Keeper]);
  for (const route of ROUTES) {
    const [a, b] = [home({ street: "a", city: "x", floor: 4 }), home({ street: "b" })];
    const id = await store({ homes: [a, b] });
    const homes = [{ _id: b._id, street: "c" }, { _id: a._id, city: "y", state: "own" }];
    const reply = await app.patch(`${route}/${id}`, { homes });
    assertEquals(reply.status, 200);
    const { street: _street, ...rest } = a;
    const expected = [{ ...b, street: "c" }, { ...rest, city: "y", floor: 1 }];
    assertEquals((await stored(id)).homes, expected);
    const shown = reply.body.homes as Json[];
    assertEquals(shown.map(({ _id }) => _id), [String(b._id), String(a._id)]);
    const read = await app.get<EntityBody>(`${route}/${id}`);
    assertEquals([read.body.homes, reply.text.includes("hush")], [shown, false]);
  }
});

class Stay extends FrameworkModel {
  @prop({ required: true, default: "single" })
  room!: string;
  @prop({ required: true })
  guest!: string;
}

@rest({ route: "/stays", methods: [update()] })
@rest({ route: "/hooked-stays", methods: [update({ postFetch: pass, preSave: pass })] })
class Booking extends FrameworkModel {
  @arrayProp({ items: Stay, embedded: true })
  stays?: Stay[];
}

test("update() gives a required field that an element leaves out its default, as in a new element", async () => {
  await using app = await mount([Booking]);
  const made = await getModel(Booking).create({ stays: [{ room: "double", guest: "Ann" }] });
  const _id = String(made.stays?.[0]?._id);
  for (const route of ["/stays", "/hooked-stays"]) {
    const stays = [{ _id, guest: "Bob" }, { guest: "Cid" }];
    const reply = await app.patch<{ stays: Stay[] }>(`${route}/${made._id}`, { stays });
    assertEquals([reply.status, reply.body.stays.map(({ room }) => room)], [
      200,
      ["single", "single"],
    ]);
    const bare = await app.patch<ErrorBody>(`${route}/${made._id}`, { stays: [{ _id }] });
    assertEquals([bare.status, Object.keys(bare.body.errors ?? {})], [400, ["stays.0.guest"]]);
  }
});

test("update() makes a new element of one whose _id is not there, or comes again", async () => {
  await using app = await mount([Keeper]);
  const kept = home();
  const id = await store({ homes: [kept, home()] });
  const homes = [
    { _id: NOBODY, street: "a" },
    { _id: kept._id, street: "b" },
    {
      _id: kept._id,
      street: "c",
    },
    { street: "d" },
    { _id: null, street: "e" },
    { _id: {}, street: "f" },
  ];
  const reply = await app.patch(`/plain/${id}`, { homes });
  const now = (await stored(id)).homes as Json[];
  assertEquals([reply.status, now.map(({ street }) => street).join("")], [200, "abcdef"]);
  assertEquals(now.map(({ secret }) => secret), [undefined, "hush", ...Array(4).fill(undefined)]);
  assertEquals(String(now[1]?._id), String(kept._id));
  assertEquals(new Set(now.map(({ _id }) => String(_id))).size, 6);
  assertEquals(now.some(({ _id }) => String(_id) === NOBODY), false);
});

test("update() lets a body set the hidden fields of an element that its _id names, once", async () => {
  await using app = await mount([Keeper]);
  const [a, b, c] = [home(), home(), home()];
  const id = await store({ homes: [a, b, c] });
  const homes = [{ _id: b._id, secret: "own" }, { _id: c._id, secret: null }, { _id: a._id }];
  await app.patch(`/plain/${id}`, { homes });
  const now = (await stored(id)).homes as Json[];
  assertEquals(now.map(({ secret }) => secret), ["own!", undefined, "hush"]);
});

test("update() keeps what is protected inside an element: in objects, Maps and arrays", async () => {
  await using app = await mount([Keeper]);
  const note = (values: Json) => ({ _id: new mongoose.Types.ObjectId(), secret: "s", ...values });
  const notes = [note({ text: "1" }), note({ text: "2" })];
  const byName = { a: note({ text: "a" }), b: note({ text: "b" }), c: { text: "c" } };
  const old = home({ note: note({ text: "n" }), notes, byName, free: { x: 1 } });
  const id = await store({ homes: [home(), old] });
  const body = {
    _id: old._id,
    notes: [{ text: "new" }, { _id: notes[1]?._id, text: "3" }],
    byName: { a: { text: "A" }, d: { text: "d" } },
    free: { y: { z: 1 } },
  };
  await app.patch(`/plain/${id}`, { homes: [body] });
  const [now] = (await stored(id)).homes as Record<string, Json & Json[]>[];
  const { text: _note, ...withoutText } = old.note as Json;
  const { text: _text, ...onlySecret } = byName.b as Json;
  assertEquals([now?.note, now?.free], [withoutText, { y: { z: 1 } }] as never);
  assertEquals(now?.notes?.[1], { ...notes[1], text: "3" } as never);
  assertEquals([now?.byName?.a, now?.byName?.b], [{ ...byName.a, text: "A" }, onlySecret] as never);
  assertEquals(Object.keys(now?.byName ?? {}), ["a", "b", "d"]);
});

test("update() leaves immutable fields of an element that its _id names as they are", async () => {
  await using app = await mount([Keeper]);
  const old = home({ country: "NZ" });
  for (const country of ["DE", null, undefined]) {
    const id = await store({ homes: [old] });
    const reply = await app.patch(`/plain/${id}`, { homes: [{ _id: old._id, country }] });
    assertEquals([reply.status, (reply.body.homes as Json[])[0]?.country], [200, "NZ"]);
  }
});

test("create() never takes the _id of an element", async () => {
  await using app = await mount([Keeper]);
  const body = { base: {}, homes: [{ _id: NOBODY, street: "a" }] };
  const reply = await app.post("/plain", body);
  assertEquals(reply.status, 201);
  assertNotEquals((reply.body.homes as Json[])[0]?._id, NOBODY);
});

test("update() names what is not valid in an element that its _id names", async () => {
  await using app = await mount([Keeper]);
  const old = home();
  const id = await store({ homes: [home(), old] });
  const homes = [{ street: "a" }, { _id: old._id, floor: "x", notes: [{ text: {} }] }];
  const reply = await app.patch<ErrorBody>(`/plain/${id}`, { homes });
  assertEquals([reply.status, Object.keys(reply.body.errors ?? {}).sort()], [
    400,
    ["homes.1.floor", "homes.1.notes.0.text"],
  ]);
});

const KEPT = { checked: "yes", secret: "hush" };

test("update() clears an object by null but for what a client can neither see nor set", async () => {
  await using app = await mount([Keeper]);
  for (const route of ROUTES) {
    const place = { _id: new mongoose.Types.ObjectId(), street: "s", notes: [{ text: "n" }] };
    const id = await store({ place: { ...place, ...KEPT } });
    const reply = await app.patch(`${route}/${id}`, { place: null });
    const shown = { _id: String(place._id), checked: "yes", state: "new", notes: [] };
    assertEquals([reply.status, reply.body.place], [200, shown]);
    const now = (await stored(id)).place as Json;
    assertEquals([now.street, now.checked, now.secret, now.notes], [undefined, "yes", "hush", []]);
  }
});

test("update() removes an object by null where nothing, or no more than a default, is protected", async () => {
  await using app = await mount([Keeper]);
  for (const inner of [{}, { state: "new" }, { notes: [{ secret: "s" }] }]) {
    const place = { street: "s", ...inner };
    const id = await store({ place, places: { a: place } });
    const reply = await app.patch(`/plain/${id}`, { place: null, places: null });
    const now = await stored(id);
    assertEquals([reply.status, "place" in now, "places" in now], [200, false, false]);
  }
});

test("update() clears values of a Map by null but for what a client can neither see nor set", async () => {
  await using app = await mount([Keeper]);
  for (const body of [{ places: { a: null, b: null } }, { places: null }]) {
    const id = await store({ places: { a: { street: "a", ...KEPT }, b: { street: "b" } } });
    const reply = await app.patch(`/plain/${id}`, body);
    const places = (await stored(id)).places as Record<string, Json>;
    assertEquals([reply.status, Object.keys(places)], [200, ["a"]]);
    assertEquals([places.a?.street, places.a?.secret], [undefined, "hush"]);
    const shown = reply.body.places as Record<string, Json>;
    assertEquals([Object.keys(shown), shown.a?.checked], [["a"], "yes"]);
  }
});

test("update() refuses null for a required object, and loses nothing of it", async () => {
  await using app = await mount([Keeper]);
  const id = await store({ base: { street: "s", ...KEPT } });
  const reply = await app.patch<ErrorBody>(`/plain/${id}`, { base: null });
  assertEquals([reply.status, reply.body.errors?.base?.kind], [400, "required"]);
  assertEquals((await stored(id)).base, { street: "s", ...KEPT });
});

test("update() keeps elements of arrays inside objects and Maps, and on sub-routes", async () => {
  await using app = await mount([Keeper]);
  const note = () => ({ _id: new mongoose.Types.ObjectId(), text: "t", secret: "s" });
  const [a, b, c] = [note(), note(), note()];
  const old = home({ notes: [c] });
  const id = await store({ place: { notes: [a] }, places: { k: { notes: [b] } }, homes: [old] });
  const notes = ({ _id }: Json) => ({ notes: [{ text: "new" }, { _id, text: "x" }] });
  const reply = await app.patch(`/plain/${id}`, { place: notes(a), places: { k: notes(b) } });
  const sub = await app.patch(`/plain/${id}/homes/${old._id}`, notes(c));
  const now = await stored(id) as Record<string, Json & Json[]>;
  const kept = [now.place?.notes, (now.places?.k as Json).notes, now.homes?.[0]?.notes] as Json[][];
  assertEquals([reply.status, sub.status], [200, 200]);
  assertEquals(kept.map((each) => each[1]), [a, b, c].map((each) => ({ ...each, text: "x" })));
  assertEquals(kept.map((each) => each[0]?.secret), [undefined, undefined, undefined]);
});

test("update() keeps what no client can set of plain entities of a fetch hook", async () => {
  const row = {
    _id: "k",
    place: { street: "s", ...KEPT },
    homes: [{ _id: NOBODY, street: "a", ...KEPT }, { street: "b" }],
  };
  const written: Json[] = [];
  const persist = (_req: unknown, entity: object) => {
    written.push(entity as Json);
    return entity as Owner;
  };
  @rest({ route: "/rows", methods: [update({ fetch: () => row as never, persist })] })
  class Row extends FrameworkModel {
    @prop({ type: Place })
    place?: Place;
    @arrayProp({ items: Home, embedded: true })
    homes?: Home[];
  }
  await using app = await mount([Row]);
  const body = { place: null, homes: [{ _id: NOBODY, city: "c" }, { _id: NOBODY }] };
  const reply = await app.patch("/rows/k", body);
  const kept = { ...KEPT, notes: [] };
  const homes = [{ _id: NOBODY, city: "c", floor: 1, ...kept }, {}];
  assertEquals([reply.status, written], [200, [{ _id: "k", place: kept, homes }]]);
  assertEquals(reply.text.includes("hush"), false);
});
