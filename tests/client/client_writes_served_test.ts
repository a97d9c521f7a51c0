import { assertEquals, assertRejects } from "@std/assert";
import {
  ApiError,
  connect,
  type ConnectOptions,
  etagOf,
  type FetchFunction,
} from "@mongrove/mongrove/client";
import type { Defaulted, FrameworkRequest, Ref } from "../../mod.ts";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  removeAll,
  replace,
  rest,
  update,
  updateAll,
} from "../../mod.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { test } from "../harness/testing.ts";
import { heldFetch } from "./held/held_fetch.ts";
import { mount } from "../support/support.ts";

class Track extends FrameworkModel {
  @prop({ required: true })
  title!: string;
  @prop({ type: Number })
  seconds?: number;
}

const PARTS = [
  all(),
  one(),
  create({ many: 5 }),
  updateAll({ fields: ["seconds"] }),
  removeAll({ max: 5 }),
];

@rest({
  route: "/albums",
  methods: [
    all(),
    one(),
    create({ many: 5, idempotency: { keep: "1h" } }),
    update(),
    updateAll({ fields: ["year", "genre"], max: 4 }),
    replace({ by: "slug" }),
    removeAll({ max: 4, q: "required" }),
  ],
})
@rest({
  route: "/loose",
  methods: [create({ many: 5, atomic: false })],
})
@rest({
  route: "/hooked",
  methods: [create({ many: 5, preSend: hideSecret, preSave: (_req, album) => album })],
})
class Album extends FrameworkModel {
  @prop({ required: true, unique: true })
  slug!: string;
  @prop({ required: true })
  name!: string;
  @prop({ type: Number, min: 1900 })
  year?: number;
  @prop({ default: "jazz" })
  genre!: Defaulted<string>;
  @rest({ methods: PARTS })
  @arrayProp({ items: Track, embedded: true })
  tracks?: Track[];
  @rest({ methods: [...PARTS, replace()] })
  @arrayProp({ items: Track })
  extras?: Ref<Track>[];
}

function hideSecret(_req: FrameworkRequest, album: { readonly name: string }) {
  return album.name === "secret" ? null : album;
}

/** Serves albums on a replica set. What the client sends and gets is held against the OpenAPI document. */
async function openShop(options: ConnectOptions = {}) {
  const mongo = await sharedReplicaSet();
  const held = await heldFetch([Album], options.fetch ?? fetch);
  const app = await mount([Album], { at: "/api", mongo });
  await getModel(Album).init();
  const api = connect(`${app.url}/api`, { ...options, fetch: held.fetch });
  return {
    api,
    albums: api.resource<Album>("/albums"),
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      held.check();
    },
  };
}

async function refused(call: Promise<unknown>): Promise<ApiError> {
  return await assertRejects(() => call, ApiError);
}

const bodies = (...names: readonly string[]) =>
  names.map((name, year) => ({ slug: name.toLowerCase(), name, year: 1950 + year }));

test("createMany() creates all or none on a server", async () => {
  await using shop = await openShop();
  const { albums, api } = shop;
  const made = await albums.createMany(bodies("A", "B"));
  assertEquals(made.map(({ name, year, genre }) => [name, year, genre]), [
    ...[["A", 1950, "jazz"], ["B", 1951, "jazz"]],
  ]);
  const wrong = await refused(albums.createMany([...bodies("C"), { slug: "d", year: 1 } as never]));
  assertEquals([wrong.code, Object.keys(wrong.errors).sort()], ["BAD_DATA", ["1.name", "1.year"]]);
  assertEquals((await refused(albums.createMany(bodies("C", "A")))).status, 409);
  assertEquals((await refused(albums.createMany(bodies(..."EFGHIJ")))).status, 413);
  assertEquals(await albums.createMany([]), []);
  assertEquals((await albums.all()).items.length, 2);
  const hooked = await api.resource<Album>("/hooked").createMany(bodies("K", "secret"));
  assertEquals(hooked.map(({ name }) => name), ["K"]);
  assertEquals((await albums.all()).items.length, 4);
});

test("createMany() gives results on a route with atomic: false", async () => {
  await using shop = await openShop();
  const loose = shop.api.resource<Album>("/loose");
  await shop.albums.createMany(bodies("A"));
  const results = await loose.createMany([...bodies("B", "A"), { slug: "c" } as never], {
    atomic: false,
  });
  const made = (await shop.albums.all()).items.find(({ name }) => name === "B");
  assertEquals(results.map(({ status, _id, code }) => [status, _id, code]), [
    [201, made?._id, undefined],
    [409, undefined, "CONFLICT"],
    [400, undefined, "BAD_DATA"],
  ]);
  assertEquals(Object.keys(results[2]?.errors ?? {}), ["name"]);
  const error = await refused(loose.createMany(bodies("D")));
  assertEquals(error.status, 207);
});

test("updateAll() and removeAll() obey q, max and maxAffected on a server", async () => {
  await using shop = await openShop();
  const { albums } = shop;
  await albums.createMany(bodies(..."ABCDE"));
  const q = { name: { $in: ["A", "B"] } };
  assertEquals(await albums.updateAll({ genre: "soul", year: null }, { q }), {
    ...{ matched: 2, modified: 2 },
  });
  const genres = (await albums.all()).items.map(({ genre, year = 0 }) => `${genre} ${year}`);
  assertEquals(genres, ["soul 0", "soul 0", "jazz 1952", "jazz 1953", "jazz 1954"]);
  const calls = [
    () => albums.updateAll({ genre: "x" }, { q: {} }),
    () => albums.updateAll({ genre: "x" }, { q, maxAffected: 1 }),
    () => albums.removeAll({ q: {} }),
    () => albums.removeAll({ q, maxAffected: 1 }),
  ];
  for (const call of calls) assertEquals((await refused(call())).status, 409);
  const wrong = await refused(albums.updateAll({ name: "x" }, { q }));
  assertEquals([wrong.status, Object.keys(wrong.errors)], [400, ["name"]]);
  await albums.removeAll({ q, maxAffected: 2 });
  assertEquals((await albums.all()).items.map(({ name }) => name), ["C", "D", "E"]);
});

test("replace() creates, replaces, and keeps to its conditions on a server", async () => {
  await using shop = await openShop();
  const { albums } = shop;
  const created = await albums.replace("a", { name: "A", year: 1960 });
  assertEquals([created.slug, created.year, etagOf(created)?.slice(0, 2)], ["a", 1960, '"0']);
  const replaced = await albums.replace("a", { name: "A2" }, { ifMatch: created });
  assertEquals([replaced._id, replaced.name, replaced.year], [created._id, "A2", undefined]);
  const late = albums.replace("a", { name: "A3" }, { ifMatch: created });
  assertEquals((await refused(late)).status, 412);
  const again = albums.replace("a", { name: "A3" }, { createOnly: true });
  assertEquals((await refused(again)).status, 412);
  const other = albums.replace("a", { slug: "b", name: "A3" });
  assertEquals((await refused(other)).status, 400);
  assertEquals(await albums.one(created._id), replaced);
});

test("minimal writes give what the next write needs", async () => {
  await using shop = await openShop();
  const { albums } = shop;
  const created = await albums.create({ slug: "a", name: "A" }, { minimal: true });
  const id = created.location?.split("/").at(-1) ?? "";
  const updated = await albums.update(id, { year: 1960 }, { ifMatch: created, minimal: true });
  const late = albums.update(id, { year: 1970 }, { ifMatch: created, minimal: true });
  assertEquals((await refused(late)).status, 412);
  const replaced = await albums.replace("a", { name: "B" }, { ifMatch: updated, minimal: true });
  assertEquals([etagOf(created), etagOf(updated), etagOf(replaced)], ['"0"', '"1"', '"2"']);
  assertEquals(await albums.createMany(bodies("C", "D"), { minimal: true }), undefined);
  assertEquals((await albums.one(id)).name, "B");
  assertEquals((await albums.all()).items.length, 3);
});

/** A `fetch()` that loses answers which have arrived, as a network does. */
function losing(isLost: (count: number) => boolean) {
  let count = 0;
  const lossy: FetchFunction = async (url, init) => {
    const response = await fetch(url, init);
    if (init.method !== "POST" || !isLost(++count)) return response;
    await response.body?.cancel();
    throw new TypeError("The answer is lost");
  };
  return { fetch: lossy, sent: () => count };
}

test("a creation whose answer is lost is repeated with its key, and is there once", async () => {
  const network = losing((count) => count < 3 || count === 4);
  await using shop = await openShop(network);
  const keyed = shop.api.resource<Album>("/albums", { idempotency: true });
  const made = await keyed.create({ slug: "a", name: "A" });
  assertEquals([made.name, network.sent()], ["A", 3]);
  const many = await keyed.createMany(bodies("B", "C"));
  assertEquals([many.map(({ name }) => name), network.sent()], [["B", "C"], 5]);
  const { items } = await shop.albums.all();
  assertEquals(items.map(({ name }) => name), ["A", "B", "C"]);
  assertEquals(items[0], made);
  assertEquals((await keyed.one(made._id))._id, made._id);
});

test("a key of the caller's own gives what was created before", async () => {
  await using shop = await openShop();
  const headers = { "idempotency-key": "mine" };
  const first = await shop.albums.create({ slug: "a", name: "A" }, { headers });
  assertEquals(await shop.albums.create({ slug: "a", name: "A" }, { headers }), first);
  const other = shop.albums.create({ slug: "b", name: "B" }, { headers });
  assertEquals((await refused(other)).code, "UNPROCESSABLE_ENTITY");
});

test("parts take writes of many, embedded and by reference", async () => {
  await using shop = await openShop();
  const { albums } = shop;
  const { _id } = await albums.create({ slug: "a", name: "A" });
  for (const tracks of [albums.part("tracks", _id), albums.part("extras", _id)]) {
    const made = await tracks.createMany([{ title: "One" }, { title: "Two" }]);
    assertEquals(made.map(({ title }) => title), ["One", "Two"]);
    const q = { title: "Two" };
    assertEquals(await tracks.updateAll({ seconds: 5 }, { q }), { matched: 1, modified: 1 });
    assertEquals((await tracks.all()).items.map(({ seconds }) => seconds), [undefined, 5]);
    await tracks.removeAll({ q, maxAffected: 1 });
    assertEquals((await tracks.all()).items.map(({ title }) => title), ["One"]);
  }
  const key = "0123456789abcdef01234567";
  const put = await albums.part("extras", _id).replace(key, { title: "Three" });
  assertEquals([put._id, (await albums.part("extras", _id).all()).items.length], [key, 2]);
});
