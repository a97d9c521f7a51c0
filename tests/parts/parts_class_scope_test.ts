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
  rest,
} from "../../mod.ts";
import { type Client, client } from "../support/client.ts";
import { SIX } from "../fixtures/operations.ts";
import { test } from "../harness/testing.ts";
import { namesOf } from "../support/names.ts";
import { CALLS, sender } from "./part_calls.ts";
import { asQuery, type EntityBody, type ErrorBody, mount } from "../support/support.ts";

const byOwner = (req: FrameworkRequest) => ({ owner: String(req.headers["x-user"]) });

@rest({ route: "/pets", methods: SIX, scope: byOwner })
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
  @rest({ methods: SIX })
  @arrayProp({ items: Pet })
  pets?: Ref<Pet>[];
  @rest({ methods: SIX })
  @arrayProp({ items: Pet, embedded: true })
  inside?: Pet[];
  @rest({ methods: SIX, route: "/shown", scope: () => ({ shown: true }) })
  @arrayProp({ items: Pet })
  others?: Ref<Pet>[];
}

async function putHome({ url }: Client) {
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
  return namesOf((await client(url, headers).get<EntityBody[]>()).body).sort().join("");
}

test("the scope of the sub-model's class applies through the parent", async () => {
  await using app = await mount([Home, Pet]);
  const { parts } = await putHome(app);
  for (const [base, [mine = "", theirs = ""]] of parts) {
    assertEquals([await namesAt(base, ME), await namesAt(base, { "x-user": "you" })], ["AC", "B"]);
    const parts = client(base, ME);
    assertEquals((await parts.get(`/${mine}`)).status, 200);
    for (const each of CALLS.filter(([, item]) => item)) {
      assertEquals([base, (await sender(parts, theirs)(each)).status], [base, 404]);
    }
    await parts.delete();
    assertEquals([await namesAt(base, ME), await namesAt(base, { "x-user": "you" })], ["", "B"]);
  }
});

test("a scope of the property's own takes the place of those of the class", async () => {
  await using app = await mount([Home, Pet]);
  const { at } = await putHome(app);
  assertEquals(await namesAt(`${at}/shown`, ME), "AB");
  assertEquals(await namesAt(`${at}/shown`, { "x-user": "nobody" }), "AB");
});

test("a part without a scope takes that of the main @rest on the class of its model", async () => {
  @rest({ route: "/dogs", methods: [all()], scope: () => ({ tame: true }), main: true })
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
  assertEquals(await namesAt(`${app.url}/kennels/${kennel._id}/dogs`), "AB");
});

test("a scope of the part binds what is created and what an update would make of it", async () => {
  await using app = await mount([Home, Pet]);
  const { home, parts } = await putHome(app);
  const before = await getModel(Home).collection.findOne({ _id: home._id });
  for (const [base, [id]] of parts) {
    const { post, patch } = client(base, ME);
    const created = await post<ErrorBody>("", { name: "D", owner: "you" });
    const given = await patch<ErrorBody>(`/${id}`, { owner: "you" });
    for (const { status, body } of [created, given]) {
      assertEquals([status, body.code], [403, "FORBIDDEN"]);
    }
  }
  assertEquals(await getModel(Home).collection.findOne({ _id: home._id }), before);
  assertEquals(await getModel(Pet).countDocuments(), 3);
  for (const [base, [id]] of parts) {
    const { created, updated } = client(base, ME);
    await created("", { name: "D", owner: "me" });
    await updated(`/${id}`, { name: "E" });
  }
});

test("scopes and filters of parts bind whatever the host has set for its queries", async () => {
  for (const [setting, value] of [["sanitizeFilter", true], ["strictQuery", "throw"]] as const) {
    await using app = await mount([Home, Pet]);
    const { parts } = await putHome(app);
    mongoose.set(setting, value);
    for (const [base, [mine = "", theirs = ""]] of parts) {
      const found = await namesAt(`${base}${asQuery({ name: { $gte: "B" } })}`, ME);
      assertEquals([setting, found], [setting, "C"]);
      const statuses = [];
      for (const id of [mine, theirs]) {
        statuses.push((await client(base, ME).patch(`/${id}`, { name: "new" })).status);
        statuses.push((await client(base, ME).delete(`/${id}`)).status);
      }
      assertEquals(statuses, [200, 204, 404, 404]);
      assertEquals((await client(base, ME).delete()).status, 204);
      assertEquals(await namesAt(base, { "x-user": "you" }), "B");
    }
    mongoose.set(setting, setting === "sanitizeFilter" ? false : undefined as never);
  }
});
