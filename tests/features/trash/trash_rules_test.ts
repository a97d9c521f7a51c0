import { assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import mongoose, { type Connection } from "mongoose";
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
  replace,
  rest,
  update,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { documentOf, mountDocumented } from "../../support/documented.ts";
import { mount, type Mounted } from "../../support/support.ts";
import { isKeeper, KEEPER } from "./books.ts";
import { onlyStrict } from "../../support/only_strict.ts";

const trash = { see: isKeeper };

/** A hook that refuses requests with the header `x-refuse`. */
const refuse = (req: FrameworkRequest, entity: object) => req.headers["x-refuse"] ? null : entity;

class Line extends FrameworkModel {
  @prop({ required: true })
  text!: string;
}

@rest({
  route: "/papers",
  methods: [all(), one(), create(), update({ preSave: refuse }), remove({ preSave: refuse })],
  trash,
  ifMatch: true,
})
class Paper extends FrameworkModel {
  @prop()
  name?: string;
}

test("If-Match and preSave bind a removal into the trash, and a restoration", async () => {
  await using app = await mount([Paper]);
  const made = await app.post("/papers", { name: "a" });
  const path = `/papers/${made.body._id}`;
  const gone = (headers: Record<string, string>) => app.delete(path, { headers });
  const tag = made.headers.get("etag") ?? "";
  const removals = [
    await gone({}),
    await gone({ "if-match": '"7.x"' }),
    await gone({ "if-match": tag, "x-refuse": "1" }),
    await gone({ "if-match": tag }),
  ];
  assertEquals(removals.map(({ status }) => status), [428, 412, 403, 204]);
  const read = await app.get(`${path}?trash=only`, KEEPER);
  const back = (headers: Record<string, string>) =>
    app.post(`${path}/restore`, undefined, { headers: { ...KEEPER.headers, ...headers } });
  const match = { "if-match": read.headers.get("etag") ?? "" };
  const restored = [
    await back({}),
    await back({ "if-match": tag }),
    await back({ ...match, "x-refuse": "1" }),
    await back(match),
  ];
  assertEquals(restored.map(({ status }) => status), [428, 412, 403, 200]);
});

@rest({
  route: "/loose",
  methods: [all(), one(), create(), update(), replace({ by: "name" }), remove(), removeAll()],
  trash,
  schemaOptions: { strict: false, versionKey: false },
})
class Loose extends FrameworkModel {
  @prop({ unique: true, required: true })
  name!: string;
}

test("clients cannot set the fields of the trash, also without a strict schema", async () => {
  const given = { deletedAt: "2001-01-01", deletedBy: "eve" };
  for (const bodies of ["strict", undefined] as const) {
    await using app = await mount([Loose], { ...bodies && { strict: onlyStrict("bodies") } });
    const { _id } = await app.created("/loose", { name: "a", more: 1 });
    const statuses = [
      await app.post("/loose", { name: "b", ...given }),
      await app.patch(`/loose/${_id}`, given),
      await app.put("/loose/c", given),
    ].map(({ status }) => status);
    assertEquals(statuses, bodies === "strict" ? [400, 400, 400] : [201, 200, 201]);
    const stored = getModel(Loose).collection;
    assertEquals(await stored.countDocuments({ deletedAt: { $exists: true } }), 0);
    assertEquals((await app.delete(`/loose/${_id}`)).status, 204);
    assertEquals((await app.delete(`/loose/${_id}`)).status, 404);
    const restored = await app.post(`/loose/${_id}/restore`, undefined, KEEPER);
    assertEquals([restored.status, restored.body], [200, { _id, name: "a" }]);
  }
});

@rest({
  route: "/pages",
  methods: [all(), one(), create(), remove(), replace({ by: "name" })],
  trash,
  getConnection: () => other,
})
class Page extends FrameworkModel {
  @prop({ unique: true, required: true })
  name!: string;
  @rest({ methods: [all(), one(), create(), update(), remove()] })
  @arrayProp({ items: Line, embedded: true, apart: false })
  lines!: Line[];
  @rest({ methods: [all(), one(), create(), remove()] })
  @arrayProp({ items: () => Page })
  pages!: Ref<Page>[];
}

/** A connection with a plugin, for which the framework builds other schemas. */
let other: Connection;

async function serveOther(): Promise<Mounted> {
  const app = await mount([Page]);
  other = await mongoose.createConnection(app.database.uri).asPromise();
  other.plugin((schema) => void schema.add({ plugged: String }));
  return {
    ...app,
    async [Symbol.asyncDispose]() {
      await other.close();
      await app[Symbol.asyncDispose]();
    },
  };
}

test("parts of a parent in the trash are 404, on a connection with plugins too", async () => {
  await using app = await serveOther();
  const made = await app.created("/pages", { name: "a", lines: [{ text: "t" }] });
  const path = `/pages/${made._id}`;
  const own = await app.created(`${path}/pages`, { name: "b" });
  const [line] = made.lines as { _id: string }[];
  const at = { line: `${path}/lines/${line?._id}`, page: `${path}/pages/${own._id}` };
  assertEquals((await app.delete(path)).status, 204);
  const statuses = [
    await app.get(`${path}/lines`),
    await app.get(at.line),
    await app.post(`${path}/lines`, { text: "u" }),
    await app.patch(at.line, { text: "u" }),
    await app.delete(at.line),
    await app.get(`${path}/pages`),
    await app.post(`${path}/pages`, { name: "c" }),
    await app.delete(at.page),
  ].map(({ status }) => status);
  assertEquals(statuses, Array(8).fill(404));
  assertEquals((await app.put("/pages/a", {})).status, 201);
  assertEquals((await app.post(`${path}/restore`, undefined, KEEPER)).status, 409);
});

test("a creation that the parent refuses leaves nothing in the trash", async () => {
  await using app = await mount([Box, Thing]);
  const box = await app.created("/boxes", {});
  assertEquals((await app.post(`/boxes/${box._id}/things`, { name: "a" })).status, 409);
  assertEquals(await getModel(Thing).collection.countDocuments(), 0);
});

@rest({ route: "/things", methods: [all(), one()], trash: true })
class Thing extends FrameworkModel {
  @prop()
  name?: string;
}

/** Removes the parent of a new entity, as another client may do. */
async function removeBoxes(_req: FrameworkRequest, thing: object): Promise<object> {
  await getModel(Box).collection.deleteMany({});
  return thing;
}

@rest({ route: "/boxes", methods: [one(), create()] })
class Box extends FrameworkModel {
  @rest({ methods: [create({ preSave: removeBoxes })] })
  @arrayProp({ items: Thing })
  things!: Ref<Thing>[];
}

test("the OpenAPI document shows the fields of the trash, which no body has", async () => {
  const { schemas, operation } = await documentOf([Paper]);
  const bodies = Object.keys(schemas).filter((name) => !/^Paper(Filter)?$/.test(name));
  assertMatch(JSON.stringify(schemas.Paper), /deletedAt.*deletedBy/);
  for (const name of bodies) assertNotMatch(JSON.stringify(schemas[name]), /deletedAt/, name);
  const { parameters = [], responses } = operation("POST", "/papers/{id}/restore");
  assertEquals(parameters.map(({ name }) => name), ["id", "q", "If-Match"]);
  for (const status of [200, 404, 409, 412, 428]) assertEquals(status in responses, true);
  await using app = await mountDocumented([Paper]);
  const made = await app.post("/papers", { name: "a" });
  const headers = { "if-match": "*" };
  await app.delete(`/papers/${made.body._id}`, { headers });
  const { body } = await app.get<object[]>("/papers?trash=only", KEEPER);
  assertEquals(body.length, 1);
  assertEquals(app.validator(app.answer("GET", "/papers"))(body), true);
});
