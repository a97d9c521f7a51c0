import { assertEquals } from "@std/assert";
import type { Schema } from "mongoose";
import {
  action,
  all,
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  remove,
  replace,
  rest,
  update,
} from "../../mod.ts";
import { rows, sendBatch } from "../features/batch/shop.ts";
import { openLive } from "../features/live/live.ts";
import { at, declareId, ID_KINDS, type Kind } from "../fixtures/id_kinds.ts";
import { test } from "../harness/testing.ts";
import { isDeepStrictEqual } from "node:util";
import { until } from "../support/until.ts";
import { mountOnReplicaSet } from "../support/mount_on_replica_set.ts";
import { type EntityBody, type ErrorBody, type MountOptions, NOBODY } from "../support/support.ts";

type Id = string | number;

class Part extends FrameworkModel {
  @prop()
  text?: string;
}

/** Serves owners with an `_id` of a type, and the classes that refer to them. */
async function serve({ type }: Kind, options: MountOptions = {}) {
  @rest({
    route: "/owners",
    methods: [
      all<Owner>({ sort: ["name"], live: true }),
      one(),
      create(),
      update(),
      remove(),
      replace(),
      action<Owner>("rename", {
        on: "one",
        async run(_req, owner) {
          owner.name = "renamed";
          return await owner.save();
        },
      }),
    ],
    history: true,
    trash: { see: () => true },
  })
  class Owner extends FrameworkModel {
    @prop()
    name?: string;
    @rest({ methods: [all(), one(), create(), update(), remove()] })
    @arrayProp({ items: Part, embedded: true })
    parts?: Part[];
    static override configure(schema: Schema): void {
      declareId(schema, type);
    }
  }
  @rest({
    route: "/pets",
    methods: [
      all<Pet>({
        populate: { owner: true, friends: { select: ["name"] } },
        filter: ["owner", "owner.name", "friends", "n"],
      }),
      one(),
      create(),
      update(),
    ],
  })
  class Pet extends FrameworkModel {
    @prop({ type: Number })
    n?: number;
    @prop({ ref: Owner, exists: true })
    owner?: Ref<Owner>;
    @rest({ methods: [all(), one(), create(), update(), replace(), remove()] })
    @arrayProp({ items: Owner, exists: true })
    friends?: Ref<Owner>[];
    @rest({ methods: [one(), create(), update(), remove()] })
    @prop({ ref: Owner })
    vet?: Ref<Owner>;
  }
  const app = await mountOnReplicaSet([Owner, Pet], options);
  return { app, Owner, Pet };
}

function eachKind(name: string, run: (kind: Kind) => Promise<void>): void {
  for (const [type, kind] of Object.entries(ID_KINDS)) {
    test(`an _id of the type ${type} ${name}`, () => run(kind));
  }
}

eachKind("names what references refer to", async (kind) => {
  const { app: opened, Pet } = await serve(kind);
  await using app = opened;
  const { ids: [ann, bob, cid, nobody] } = kind;
  for (const [_id, name] of [[ann, "Ann"], [bob, "Bob"]]) {
    await app.created("/owners", { _id, name });
  }
  const pet = await app.created("/pets", { owner: ann, friends: [ann, bob], n: 1 });
  assertEquals([pet.owner, pet.friends], [ann, [ann, bob]] as never);
  const missing = await app.post<ErrorBody>("/pets", { owner: nobody, friends: [ann, nobody] });
  assertEquals([missing.status, Object.keys(missing.body.errors ?? {})], [400, [
    "owner",
    "friends.1",
  ]]);
  const path = `/pets/${pet._id}`;
  assertEquals((await app.patch(path, { owner: bob, friends: [bob] })).status, 200);
  const queries = [
    ["populate=owner,friends", 1],
    [`q=${encodeURIComponent(JSON.stringify({ owner: bob }))}`, 1],
    [`q=${encodeURIComponent(JSON.stringify({ friends: bob }))}`, 1],
    [`q=${encodeURIComponent(JSON.stringify({ "owner.name": "Bob" }))}`, 1],
    [`q=${encodeURIComponent(JSON.stringify({ "owner.name": "Ann" }))}`, 0],
  ] as const;
  for (const [query, count] of queries) {
    const { body, text } = await app.get<Record<string, unknown>[]>(`/pets?${query}`);
    assertEquals([query, body.length], [query, count], text);
    if (!query.startsWith("populate")) continue;
    assertEquals(body[0]?.owner, { _id: bob, name: "Bob", parts: [], __v: 0 });
    assertEquals(body[0]?.friends, [{ _id: bob, name: "Bob" }]);
  }
  assertEquals(
    (await app.read<EntityBody[]>(`${path}/friends`)).map(({ _id }) => _id),
    [bob] as never,
  );
  assertEquals((await app.get(at(`${path}/friends`, ann))).status, 404);
  const made = await app.post(`${path}/friends`, { _id: cid, name: "Cid" });
  assertEquals(
    [made.status, made.headers.get("location")],
    [201, at(`${path}/friends`, cid)],
    made.text,
  );
  assertEquals((await app.post(`${path}/friends`, { name: "?" })).status, 400);
  assertEquals((await app.patch(at(`${path}/friends`, cid), { name: "C" })).status, 200);
  assertEquals((await app.put(at(`${path}/friends`, cid), { name: "D" })).status, 200);
  assertEquals((await app.put(at(`${path}/friends`, nobody), { name: "E" })).status, 201);
  assertEquals((await app.delete(at(`${path}/friends`, nobody))).status, 204);
  assertEquals((await getModel(Pet).collection.findOne())?.friends.length, 2 + 1);
  const vet = await app.post(`${path}/vet`, {
    _id: Number.isFinite(ann) ? 77 : kind.type === String ? "vet" : crypto.randomUUID(),
  });
  assertEquals(vet.status, 201, vet.text);
  const { headers } = await app.get(`${path}/vet`);
  const bound = { headers: { "if-match": String(headers.get("etag")) } };
  assertEquals((await app.patch(`${path}/vet`, { name: "V" }, bound)).status, 200);
  assertEquals((await app.delete(`${path}/vet`)).status, 204);
});

eachKind("names entities with parts, history, a trash and actions", async (kind) => {
  const { app: opened } = await serve(kind);
  await using app = opened;
  for (const _id of kind.ids) {
    const path = at("/owners", _id);
    await app.created("/owners", { _id, name: "a" });
    const { _id: part } = await app.created(`${path}/parts`, { text: "x" });
    assertEquals((await app.patch(`${path}/parts/${part}`, { text: "y" })).status, 200);
    assertEquals((await app.get(`${path}/parts/${NOBODY}`)).status, 404);
    assertEquals((await app.delete(`${path}/parts/${part}`)).status, 204);
    await app.updated(path, { name: "b" });
    const records = await app.read<{ operation: string }[]>(`${path}/history`);
    const operations = ["update", "parts.remove", "parts.update", "parts.create", "create"];
    assertEquals(records.map(({ operation }) => operation), operations);
    const reverted = await app.post(`${path}/revert`, { version: 0 });
    assertEquals([reverted.status, reverted.body.name], [200, "a"], reverted.text);
    const acted = await app.post(`${path}/rename`);
    assertEquals([acted.status, acted.body.name], [200, "renamed"], acted.text);
    assertEquals([(await app.delete(path)).status, (await app.get(path)).status], [204, 404]);
    assertEquals((await app.post("/owners", { _id })).status, 409);
    const back = await app.post(`${path}/restore`);
    assertEquals([back.status, back.body._id], [200, _id] as never, back.text);
  }
});

eachKind("is a result in a batch", async (kind) => {
  const { app: opened } = await serve(kind, { batch: { path: "/batch", max: 20 } });
  await using app = opened;
  const [first, , id] = kind.ids;
  await app.created("/owners", { _id: first });
  await app.created("/pets", {});
  const { status, text, body: { responses } } = await sendBatch(
    app,
    rows(
      ["POST", "/owners", { _id: id, name: "Ann" }],
      ["PATCH", "/owners/{r0._id}", { name: "Bob" }],
      ["POST", "/pets", { owner: { $result: "r0._id" } }],
      ["GET", at("/owners", id)],
    ),
  ) as never;
  assertEquals(status, 200, text);
  assertEquals((responses as { status: number }[]).map((each) => each.status), [
    201,
    200,
    201,
    200,
  ]);
});

eachKind("is told by live lists", async (kind) => {
  const { app: opened } = await serve(kind);
  await using app = opened;
  const [first, second] = kind.ids;
  await app.created("/owners", { _id: first, name: "b" });
  await using live = await openLive(`${app.url}/owners?sort=name`);
  await live.ready();
  const shows = (...ids: Id[]) =>
    until(() => isDeepStrictEqual(live.items.map(({ _id }) => _id as Id), ids));
  await shows(first);
  await app.created("/owners", { _id: second, name: "a" });
  await shows(second, first);
  await app.updated(at("/owners", first), { name: "0" });
  await shows(first, second);
  await app.delete(at("/owners", second));
  await shows(first);
});
