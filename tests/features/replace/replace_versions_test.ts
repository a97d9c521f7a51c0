import { assertEquals, assertMatch } from "@std/assert";
import { FrameworkModel, getModel, one, prop, replace, rest } from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";
import { test } from "../../harness/testing.ts";
import { type ErrorBody, mount } from "../../support/support.ts";

const hooked = { by: "slug", preSend: pass } as const;

@rest({ route: "/fast", methods: [replace({ by: "slug" })] })
@rest({ route: "/slow", methods: [replace(hooked), one()] })
@rest({ route: "/strict", methods: [replace({ by: "slug" })], ifMatch: true })
@rest({ route: "/strict_slow", methods: [replace(hooked)], ifMatch: true })
class Counter extends FrameworkModel {
  @prop({ unique: true })
  slug!: string;
  @prop({ type: Number })
  count?: number;
}

@rest({ route: "/unversioned", methods: [replace({ by: "slug" })] })
class Unversioned extends FrameworkModel {
  static override schemaOptions = { versionKey: false } as never;
  @prop({ unique: true })
  slug!: string;
  @prop({ type: Number })
  count?: number;
}

const ifMatch = (tag: string | null) => ({ headers: { "if-match": String(tag) } });
const createOnly = { headers: { "if-none-match": " * " } };

const left = async () => (await getModel(Counter).collection.findOne())?.count;

test("the tag of a replacement is that of a read", async () => {
  await using app = await mount([Counter]);
  for (const path of ["/fast/k", "/slow/k"]) {
    await getModel(Counter).collection.deleteMany({});
    for (const [status, version] of [[201, 0], [200, 1], [200, 2]] as const) {
      const reply = await app.put(path, { count: 1 });
      const tag = reply.headers.get("etag") ?? "";
      assertMatch(tag, new RegExp(`^"${version}\\.[\\w-]{16}"$`));
      const read = await app.get(`/slow/${reply.body._id}`);
      assertEquals([reply.status, tag], [status, read.headers.get("etag")], path);
    }
  }
});

test("If-Match replaces only: a 412 where nothing is there, or another version", async () => {
  await using app = await mount([Counter]);
  for (const path of ["/fast/k", "/slow/k"]) {
    await getModel(Counter).collection.deleteMany({});
    for (const tag of ["*", '"0"', '"none"', '"0.abc", "1"', "x"]) {
      const { status, body } = await app.put<ErrorBody>(path, { count: 1 }, ifMatch(tag));
      assertEquals([status, body.code], [412, "PRECONDITION_FAILED"], tag);
    }
    assertEquals(await left(), undefined);
    const { headers } = await app.put(path, { count: 1 });
    const tag = headers.get("etag");
    assertEquals((await app.put(path, { count: 2 }, ifMatch(tag))).status, 200, path);
    assertEquals((await app.put(path, { count: 3 }, ifMatch(tag))).status, 412, path);
    assertEquals((await app.put(path, { count: 4 }, ifMatch('"1"'))).status, 200, path);
    assertEquals((await app.put(path, { count: 5 }, ifMatch('"1", "2"'))).status, 200, path);
    assertEquals((await app.put(path, { count: 6 }, ifMatch("*"))).status, 200, path);
    assertEquals((await app.put(path, { count: 7 }, ifMatch("x"))).status, 412, path);
    assertEquals(await left(), 6);
  }
});

test("If-None-Match: * creates only, and other tags in it are ignored", async () => {
  await using app = await mount([Counter]);
  for (const path of ["/fast/k", "/slow/k", "/strict/k", "/strict_slow/k"]) {
    await getModel(Counter).collection.deleteMany({});
    const made = await app.put(path, { count: 1 }, createOnly);
    assertEquals([made.status, made.body.__v], [201, 0], path);
    const again = await app.put<ErrorBody>(path, { count: 2 }, createOnly);
    assertEquals([again.status, again.body.code], [412, "PRECONDITION_FAILED"], path);
    const both = { headers: { ...createOnly.headers, "if-match": "*" } };
    assertEquals((await app.put(path, { count: 2 }, both)).status, 412, path);
    assertEquals(await left(), 1);
    if (path.startsWith("/strict")) continue;
    const other = { headers: { "if-none-match": String(made.headers.get("etag")) } };
    assertEquals((await app.put(path, { count: 3 }, other)).status, 200, path);
    await getModel(Counter).collection.deleteMany({});
    assertEquals((await app.put(path, { count: 3 }, both)).status, 412, path);
    assertEquals(await left(), undefined);
  }
});

test("ifMatch: required answers 428 where something is there, and creates without a tag", async () => {
  await using app = await mount([Counter]);
  for (const path of ["/strict/k", "/strict_slow/k"]) {
    await getModel(Counter).collection.deleteMany({});
    const made = await app.put(path, { count: 1 });
    assertEquals(made.status, 201, path);
    const { status, body } = await app.put<ErrorBody>(path, { count: 2 });
    assertEquals([status, body.code, await left()], [428, "PRECONDITION_REQUIRED", 1], path);
    const bound = await app.put(path, { count: 3 }, ifMatch(made.headers.get("etag")));
    assertEquals([bound.status, await left()], [200, 3], path);
  }
});

test("of clients with the tag of an entity without a version, one replaces it", async () => {
  await using app = await mount([Counter]);
  for (const path of ["/fast/k", "/slow/k"]) {
    await getModel(Counter).collection.deleteMany({});
    await getModel(Counter).collection.insertOne({ slug: "k" } as never);
    const replies = await Promise.all(
      Array.from({ length: 16 }, (_, count) => app.put(path, { count }, ifMatch('"none"'))),
    );
    const statuses = replies.map(({ status }) => status).sort();
    assertEquals(statuses, [200, ...Array(15).fill(412)], path);
  }
});

test("without versions, any is replaced, and none matches", async () => {
  await using app = await mount([Unversioned]);
  const first = await app.put("/unversioned/k", { count: 1 });
  const second = await app.put("/unversioned/k", {});
  assertEquals([first.status, second.status, second.body.count], [201, 200, undefined]);
  assertEquals((await app.put("/unversioned/k", {}, ifMatch('"none"'))).status, 412);
  assertEquals((await app.put("/unversioned/k", {}, ifMatch("*"))).status, 200);
});
