import { assertEquals, assertMatch } from "@std/assert";
import {
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  remove,
  rest,
  update,
} from "../mod.ts";
import { request } from "./harness/request.ts";
import { test } from "./harness/testing.ts";
import { asQuery, type EntityBody, type ErrorBody, mount, NOBODY } from "./support.ts";

class Address extends FrameworkModel {
  @prop({ required: true })
  street!: string;
  @prop({ type: Number })
  number?: number;
}

class Owner extends FrameworkModel {
  @prop({ required: true })
  name!: string;
}

@rest({ route: "/houses", methods: [one(), update()] })
class House extends FrameworkModel {
  @prop()
  name?: string;
  @rest({ methods: [one(), create(), update(), remove()] })
  @prop({ type: Address })
  address?: Address;
  @rest({ methods: [one(), create(), update(), remove()] })
  @prop({ ref: Owner })
  owner?: Ref<Owner>;
}

async function putHouse(url: string, fields: object = {}) {
  const house = await getModel(House).create({ name: "A", ...fields } as never) as House;
  const at = `${url}/houses/${house._id}`;
  return { house, address: `${at}/address`, owner: `${at}/owner` };
}

async function stored({ _id }: House): Promise<Record<string, unknown>> {
  return await getModel(House).collection.findOne({ _id }) ?? {};
}

const post = (url: string, body: unknown) => request<EntityBody>(url, { method: "POST", body });
const patch = (url: string, body: unknown) => request<EntityBody>(url, { method: "PATCH", body });
const erase = (url: string) => request<ErrorBody>(url, { method: "DELETE" });

test("one(), update() and remove() of a single part that is not there answer 404", async () => {
  await using app = await mount([House]);
  const { house, address, owner } = await putHouse(app.url);
  for (const url of [address, owner]) {
    const found = [
      await request<ErrorBody>(url),
      await patch(url, { name: "B" }),
      await erase(url),
    ];
    assertEquals(found.map(({ status }) => status), [404, 404, 404]);
    assertEquals((found[0]?.body as ErrorBody).code, "NOT_FOUND");
  }
  assertEquals(await stored(house), { _id: house._id, name: "A", __v: 0 });
});

test("create() of a single embedded document answers 201 and the path it is at", async () => {
  await using app = await mount([House], { at: "/api" });
  const { house } = await putHouse(app.url);
  const path = `/api/houses/${house._id}/address`;
  const reply = await post(`${app.url}${path}`, { street: "Elm", number: "1", _id: NOBODY });
  assertEquals([reply.status, reply.headers.get("location")], [201, path]);
  assertMatch(reply.body._id, /^[0-9a-f]{24}$/);
  assertEquals(reply.body._id === NOBODY, false);
  assertEquals(reply.body, { _id: reply.body._id, street: "Elm", number: 1 } as never);
  assertEquals((await request(`${app.url}${path}`)).body, reply.body);
  const { address, __v } = await stored(house) as { address: Address; __v: number };
  assertEquals([String(address._id), address.street, __v], [reply.body._id, "Elm", 1]);
});

test("create() of a single part answers 409 if it is there, and keeps what is there", async () => {
  await using app = await mount([House]);
  const { house, address, owner } = await putHouse(app.url);
  assertEquals((await post(address, { street: "Elm" })).status, 201);
  assertEquals((await post(owner, { name: "A" })).status, 201);
  const before = await stored(house);
  for (const [url, body] of [[address, { street: "Oak" }], [owner, { name: "B" }]] as const) {
    const reply = await request<ErrorBody>(url, { method: "POST", body });
    assertEquals([reply.status, reply.body.code], [409, "CONFLICT"]);
  }
  assertEquals(await stored(house), before);
  assertEquals((await getModel(Owner).find()).map(({ name }) => name), ["A"]);
});

test("create() of a single part fills one that holds null", async () => {
  await using app = await mount([House]);
  const { house, address, owner } = await putHouse(app.url);
  const nothing = { $set: { address: null, owner: null } };
  await getModel(House).collection.updateOne({ _id: house._id }, nothing);
  assertEquals([(await request(address)).status, (await request(owner)).status], [404, 404]);
  assertEquals((await post(address, { street: "Elm" })).status, 201);
  assertEquals((await post(owner, { name: "A" })).status, 201);
});

test("create() of a single part that is not valid answers 400 and writes nothing", async () => {
  await using app = await mount([House]);
  const { house, address, owner } = await putHouse(app.url);
  for (const [url, field] of [[address, "street"], [owner, "name"]] as const) {
    const reply = await request<ErrorBody>(url, { method: "POST", body: {} });
    const found = [reply.status, reply.body.code, Object.keys(reply.body.errors ?? {})];
    assertEquals(found, [400, "BAD_DATA", [field]]);
  }
  assertEquals(await stored(house), { _id: house._id, name: "A", __v: 0 });
  assertEquals(await getModel(Owner).countDocuments(), 0);
});

test("update() of a single embedded document merges, and touches nothing else", async () => {
  await using app = await mount([House]);
  const { house, address } = await putHouse(app.url, { address: { street: "Elm", number: 1 } });
  const reply = await patch(address, { number: 2 });
  assertEquals([reply.status, reply.body.street, reply.body.number], [200, "Elm", 2]);
  assertEquals((await patch(address, { number: null })).body.number, undefined);
  const bad = await patch(address, { street: null });
  assertEquals([bad.status, (bad.body as unknown as ErrorBody).code], [400, "BAD_DATA"]);
  const { _id } = house.address ?? {};
  const expected = { _id: house._id, name: "A", address: { _id, street: "Elm" }, __v: 2 };
  assertEquals(await stored(house), expected as never);
});

test("remove() of a single embedded document takes it off its parent", async () => {
  await using app = await mount([House]);
  const { house, address } = await putHouse(app.url, { address: { street: "Elm" } });
  const reply = await erase(address);
  assertEquals([reply.status, reply.text], [204, ""]);
  assertEquals(await stored(house), { _id: house._id, name: "A", __v: 1 });
  assertEquals((await post(address, { street: "Oak" })).status, 201);
});

test("create() of a single reference stores the entity and its identifier", async () => {
  await using app = await mount([House]);
  const { house, owner } = await putHouse(app.url);
  const reply = await post(owner, { name: "A" });
  const path = `/houses/${house._id}/owner`;
  assertEquals([reply.status, reply.headers.get("location")], [201, path]);
  assertEquals(reply.body, { _id: reply.body._id, name: "A", __v: 0 });
  assertEquals((await request(owner)).body, reply.body);
  const after = await stored(house);
  assertEquals([String(after.owner), after.__v], [reply.body._id, 1]);
});

test("update() of a single reference changes the entity, not its parent", async () => {
  await using app = await mount([House]);
  const { house, owner } = await putHouse(app.url);
  await post(owner, { name: "A" });
  const before = await stored(house);
  assertEquals((await patch(owner, { name: "B" })).body.name, "B");
  assertEquals((await getModel(Owner).findOne())?.name, "B");
  assertEquals(await stored(house), before);
});

test("remove() of a single reference deletes the entity and its identifier", async () => {
  await using app = await mount([House]);
  const { house, owner } = await putHouse(app.url);
  const other = await putHouse(app.url);
  await post(owner, { name: "A" });
  await post(other.owner, { name: "B" });
  assertEquals((await erase(owner)).status, 204);
  assertEquals(await stored(house), { _id: house._id, name: "A", __v: 2 });
  assertEquals((await getModel(Owner).find()).map(({ name }) => name), ["B"]);
});

test("create() of a single reference replaces an identifier that leads nowhere", async () => {
  await using app = await mount([House]);
  const { house, owner } = await putHouse(app.url, { owner: NOBODY });
  assertEquals((await request(owner)).status, 404);
  assertEquals((await erase(owner)).status, 404);
  const reply = await post(owner, { name: "A" });
  assertEquals(reply.status, 201);
  assertEquals(String((await stored(house)).owner), reply.body._id);
});

test("every operation on a single part honours q", async () => {
  await using app = await mount([House]);
  const { address, owner } = await putHouse(app.url, { address: { street: "Elm", number: 1 } });
  await post(owner, { name: "A" });
  const cases = [[address, { number: 1 }, { number: 2 }], [owner, { name: "A" }, { name: "B" }]];
  for (const [url, hit, miss] of cases as [string, object, object][]) {
    const missed = `${url}${asQuery(miss)}`;
    const found = [await request(missed), await patch(missed, {}), await erase(missed)];
    assertEquals(found.map(({ status }) => status), [404, 404, 404]);
    assertEquals((await request(`${url}${asQuery({ other: 1 })}`)).status, 400);
    assertEquals((await patch(`${url}${asQuery(hit)}`, miss)).status, 200);
  }
  assertEquals((await erase(`${address}${asQuery({ number: 2 })}`)).status, 204);
});

test("a single part that its parent requires cannot be removed", async () => {
  @rest({ route: "/huts", methods: [one()] })
  class Hut extends FrameworkModel {
    @rest({ methods: [one(), create(), remove()] })
    @prop({ type: Address, required: true })
    address!: Address;
    @rest({ methods: [one(), create(), remove()] })
    @prop({ ref: Owner, required: [true, "Nobody lives here"] })
    owner!: Ref<Owner>;
  }
  await using app = await mount([Hut]);
  const owner = await getModel(Owner).create({ name: "A" });
  const hut = await getModel(Hut).create({ address: { street: "Elm" }, owner } as never) as Hut;
  for (const property of ["address", "owner"]) {
    const url = `${app.url}/huts/${hut._id}/${property}`;
    const reply = await erase(url);
    assertEquals([reply.status, reply.body.code], [400, "BAD_DATA"]);
    assertEquals(reply.body.errors?.[property]?.kind, "required");
    assertEquals((await request(url)).status, 200);
  }
  assertEquals(await getModel(Owner).countDocuments(), 1);
});

test("create() of a single part that is required fills one that the stored parent lacks", async () => {
  @rest({ route: "/tents", methods: [one()] })
  class Tent extends FrameworkModel {
    @rest({ methods: [create()] })
    @prop({ type: Address, required: true })
    address!: Address;
  }
  await using app = await mount([Tent]);
  const { insertedId } = await getModel(Tent).collection.insertOne({});
  const url = `${app.url}/tents/${insertedId}/address`;
  assertEquals((await post(url, { street: "Elm" })).status, 201);
  assertEquals((await getModel(Tent).findById(insertedId))?.address.street, "Elm");
});

test("a single embedded document without _id has all its operations", async () => {
  class Point extends FrameworkModel {
    static override schemaOptions = { _id: false };
    @prop({ type: Number })
    x?: number;
    @prop({ select: false })
    note?: string;
  }
  @rest({ route: "/pins", methods: [one()] })
  class Pin extends FrameworkModel {
    @rest({ methods: [one(), create(), update(), remove()] })
    @prop({ type: Point })
    point?: Point;
  }
  await using app = await mount([Pin]);
  const pin = await getModel(Pin).create({});
  const url = `${app.url}/pins/${pin._id}/point`;
  assertEquals((await post(url, { x: 1, note: "n" })).text, '{"x":1}');
  assertEquals((await patch(url, { x: 2 })).text, '{"x":2}');
  assertEquals((await request(url)).text, '{"x":2}');
  assertEquals((await erase(url)).status, 204);
});
