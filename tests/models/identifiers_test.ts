import { assertEquals } from "@std/assert";
import type { Schema } from "mongoose";
import mongoose from "mongoose";
import {
  all,
  create,
  FrameworkModel,
  getModel,
  one,
  onlyIf,
  prop,
  remove,
  removeAll,
  replace,
  rest,
  update,
  updateAll,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { at, declareId, type Id, ID_KINDS, type Kind } from "../fixtures/id_kinds.ts";
import { pass } from "../support/both_paths.ts";
import { mountOnReplicaSet } from "../support/mount_on_replica_set.ts";
import { asQuery, type EntityBody, type ErrorBody, type MountOptions } from "../support/support.ts";
import { readPages } from "../features/page/links.ts";
import { onlyStrict } from "../support/only_strict.ts";

/** Serves a class with an `_id` of a type, on routes that read bytes, documents and named fields. */
async function serve(type: unknown, options: MountOptions = {}) {
  const list = {
    page: { max: 3 },
    sort: ["n", "_id"],
    select: ["n"],
    formats: ["csv", "ndjson"],
  } as const;
  const changes = { fields: ["n"] } as const;
  @rest({
    route: "/plain",
    methods: [
      all<Thing>({ ...list, count: true }),
      one(),
      update(),
      remove(),
      removeAll(),
      replace(),
      create<Thing>({ many: 10, formats: ["csv", "ndjson"] }),
      updateAll<Thing>(changes),
    ],
  })
  @rest({
    route: "/hooked",
    methods: [
      all<Thing>({ ...list, postFetch: pass }),
      one({ postFetch: pass, preSend: pass }),
      create<Thing>({ many: 10, atomic: false, preSave: pass, preSend: pass }),
      update({ preSave: pass }),
      updateAll<Thing>({ ...changes, preSave: pass }),
      remove({ postFetch: pass }),
      replace({ preSave: pass }),
    ],
  })
  @rest({
    route: "/named",
    methods: [
      all<Thing>({ ...list, postFetch: onlyIf<Thing, "n">(["n"], (_req, { n }) => n !== 99) }),
      one<Thing>({ postFetch: onlyIf<Thing, "n">(["n"], (_req, { n }) => n !== 99) }),
      update<Thing>({ postFetch: onlyIf<Thing, "n">(["n"], (_req, { n }) => n !== 99) }),
      remove<Thing>({ postFetch: onlyIf<Thing, "n">(["n"], (_req, { n }) => n !== 99) }),
    ],
  })
  @rest({
    route: "/scoped",
    scope: () => ({ n: { $ne: 99 } }),
    methods: [one(), replace(), create()],
  })
  class Thing extends FrameworkModel {
    @prop({ type: Number })
    n?: number;
    static override configure(schema: Schema): void {
      declareId(schema, type);
    }
  }
  return { app: await mountOnReplicaSet([Thing], options), Thing };
}

type Kept = readonly [name: string, kind: Kind];

function eachKind(name: string, run: (kind: Kind) => Promise<void>): void {
  for (const [type, kind] of Object.entries(ID_KINDS) as Kept[]) {
    test(`an _id of the type ${type} ${name}`, () => run(kind));
  }
}

eachKind("names entities on every route", async ({ type, ids, other }) => {
  const { app: opened, Thing } = await serve(type);
  await using app = opened;
  for (const [n, _id] of ids.entries()) {
    const made = await app.post("/plain", { _id, n });
    assertEquals([made.status, made.body], [201, { _id, n, __v: 0 }] as never, made.text);
    assertEquals(made.headers.get("location"), at("/plain", _id));
    assertEquals(await app.read(String(made.headers.get("location"))), made.body);
  }
  const stored = await getModel(Thing).collection.findOne({ n: 1 });
  assertEquals(
    typeof stored?._id,
    typeof ids[1] === "number" ? "number" : type === String ? "string" : "object",
  );
  for (const route of ["/plain", "/hooked", "/named"]) {
    for (const [n, _id] of ids.entries()) {
      const { status, body, text } = await app.get(at(route, _id));
      assertEquals([status, body], [200, { _id, n, __v: 0 }] as never, route + text);
    }
    for (const each of other) {
      assertEquals((await app.get(`${route}/${each}`)).status, 404, each);
      assertEquals((await app.patch(`${route}/${each}`, { n: 5 })).status, 404, each);
      assertEquals((await app.delete(`${route}/${each}`)).status, 404, each);
    }
  }
  let version = 0;
  for (const route of ["/plain", "/hooked", "/named"]) {
    const [, _id] = ids;
    const changed = await app.patch(at(route, _id), { n: 1 });
    assertEquals([changed.status, changed.body], [200, { _id, n: 1, __v: ++version }] as never);
    const etag = String((await app.get(at(route, _id))).headers.get("etag"));
    const bound = { headers: { "if-match": etag } };
    assertEquals((await app.patch(at(route, _id), { n: 1 }, bound)).status, 200);
    assertEquals((await app.patch(at(route, _id), { n: 1 }, bound)).status, 412);
    version++;
  }
  for (const [index, route] of ["/plain", "/hooked", "/named"].entries()) {
    const path = at(route, ids[index]);
    assertEquals([(await app.delete(path)).status, (await app.get(path)).status], [204, 404]);
  }
  assertEquals(await getModel(Thing).countDocuments(), 1);
});

eachKind("comes from the body of a creation", async ({ type, ids, wrong }) => {
  const { app: opened, Thing } = await serve(type);
  await using app = opened;
  for (const route of ["/plain", "/hooked", "/scoped"]) {
    const atomic = route !== "/hooked";
    const missing = await app.post<ErrorBody>(route, { n: 1 });
    assertEquals([missing.status, missing.body.errors?._id?.kind], [400, "required"], missing.text);
    const cleared = await app.post<ErrorBody>(route, { _id: null, n: 1 });
    assertEquals([cleared.status, cleared.body.errors?._id?.kind], [400, "required"]);
    for (const [_id, kind] of wrong) {
      const { status, body, text } = await app.post<ErrorBody>(route, { _id });
      assertEquals([status, body.errors?._id?.kind], [400, kind], text);
    }
    const [_id, second, third] = ids;
    assertEquals((await app.post(route, { _id })).status, 201);
    const again = await app.post<ErrorBody>(route, { _id });
    assertEquals([again.status, again.body.code, again.body.fields], [409, "CONFLICT", ["_id"]]);
    if (route === "/scoped") continue;
    const bodies = [{ _id: second, n: 1 }, { _id: third, n: 2 }];
    const both = await app.post<EntityBody[]>(route, bodies);
    assertEquals(both.status, atomic ? 201 : 207, both.text);
    assertEquals(
      both.body.map((each) => each._id),
      [second, third].map((each) => atomic ? each : String(each)) as never,
    );
    const other = await app.post(route, [{ _id: ids[3] }, { _id }, {}]);
    assertEquals(other.status, atomic ? 400 : 207, other.text);
    await getModel(Thing).collection.deleteMany({});
  }
  assertEquals(await getModel(Thing).countDocuments(), 1);
});

eachKind("is put", async ({ type, ids, other }) => {
  const { app: opened, Thing } = await serve(type);
  await using app = opened;
  for (const route of ["/plain", "/hooked", "/scoped"]) {
    for (const _id of ids) {
      const path = at(route, _id);
      const made = await app.put(path, { n: 1 });
      assertEquals([made.status, made.body], [201, { _id, n: 1, __v: 0 }] as never, made.text);
      assertEquals(made.headers.get("location"), path);
      const put = await app.put(path, { _id, n: 2 });
      assertEquals([put.status, put.body], [200, { _id, n: 2, __v: 1 }] as never, put.text);
      const own = ids.find((each) => each !== _id);
      assertEquals((await app.put(path, { _id: own })).status, 400);
      const only = { headers: { "if-none-match": "*" } };
      assertEquals((await app.put(path, {}, only)).status, 412);
    }
    for (const each of type === String ? [] : other) {
      assertEquals((await app.put(`${route}/${each}`, {})).status, 404, each);
    }
    assertEquals(await getModel(Thing).countDocuments(), ids.length);
    await getModel(Thing).collection.deleteMany({});
    const raced = await Promise.all(
      Array.from({ length: 8 }, () => app.put(at(route, ids[0]), { n: 3 })),
    );
    assertEquals(raced.map(({ status }) => status).sort(), [...Array(7).fill(200), 201]);
    await getModel(Thing).collection.deleteMany({});
  }
});

eachKind("does not change", async ({ type, ids: [_id, other] }) => {
  for (const bodies of ["strict", undefined] as const) {
    const { app: opened } = await serve(type, { ...bodies && { strict: onlyStrict("bodies") } });
    await using app = opened;
    await app.created("/plain", { _id, n: 0 });
    let version = 0;
    for (const route of ["/plain", "/hooked", "/named"]) {
      const path = at(route, _id);
      const same = await app.patch(path, { _id, n: 1 });
      assertEquals(
        [same.status, same.body],
        [200, { _id, n: 1, __v: ++version }] as never,
        same.text,
      );
      for (const each of [other, null]) {
        const { status, body, text } = await app.patch(path, { _id: each, n: 1 });
        assertEquals(status, bodies === "strict" ? 400 : 200, text);
        if (status === 200) assertEquals(body, { _id, n: 1, __v: ++version } as never);
        else assertEquals((body as never as ErrorBody).errors?._id?.kind, "readonly");
      }
    }
  }
});

eachKind("orders, selects and pages lists", async ({ type, ids }) => {
  const { app: opened, Thing } = await serve(type);
  await using app = opened;
  const cast = (id: Id) => getModel(Thing).schema.path("_id").cast(id);
  const documents = ids.map((id, index) => ({ _id: cast(id), n: index % 2, __v: 0 }));
  await getModel(Thing).collection.insertMany(documents.toReversed() as never);
  const paged = [0, 2, 1, 3].map((index) => ids[index]);
  for (const route of ["/plain", "/hooked", "/named"]) {
    const walks = [
      ...[["", ids], ["sort=_id", ids], ["sort=-_id", ids.toReversed()]] as const,
      ...[["sort=n", paged], ["limit=1&sort=n&select=n", paged]] as const,
    ];
    for (const [query, expected] of walks) {
      const pages = await readPages(
        app,
        `${route}?limit=3&${query}`.replace("limit=3&limit=1", "limit=1"),
      );
      const shown = pages.flatMap(({ body }) => (body as EntityBody[]).map(({ _id }) => _id));
      assertEquals([route, query, shown], [route, query, expected] as never);
    }
    const [first, second, third] = ids;
    const filters = [
      ...[[{ _id: second }, [second]], [{ _id: { $in: [third, first] } }, [first, third]]] as const,
      [{ _id: { $gt: second } }, ids.slice(2)] as const,
      [{ _id: { $ne: first }, n: 1 }, [ids[1], ids[3]]] as const,
    ];
    for (const [q, expected] of filters) {
      const { body, text } = await app.get<EntityBody[]>(`${route}${asQuery(q)}`);
      assertEquals([q, body.map(({ _id }) => _id)], [q, expected] as never, text);
    }
  }
  const many = await app.patch<{ matched: number }>(
    `/plain${asQuery({ _id: { $in: ids.slice(0, 2) } })}`,
    { n: 7 },
  );
  assertEquals(many.body.matched, 2, many.text);
  const hooked = await app.patch<{ matched: number }>(`/hooked${asQuery({ _id: ids[0] })}`, {
    n: 8,
  });
  assertEquals(hooked.body.matched, 1, hooked.text);
  const refused = await app.patch(`/plain${asQuery({})}`, { _id: ids[0] });
  assertEquals(refused.status, 400);
  assertEquals((await app.delete(`/plain${asQuery({ _id: ids[3] })}`)).status, 204);
  const left = await getModel(Thing).find().sort("_id").lean() as { _id: unknown; n: number }[];
  assertEquals(left.map(({ n }) => n), [8, 7, 0]);
});

eachKind("comes and goes in NDJSON and CSV", async ({ type, ids }) => {
  const { app: opened, Thing } = await serve(type);
  await using app = opened;
  const stored = () => getModel(Thing).find().sort("_id").lean();
  for (const accept of ["text/csv", "application/x-ndjson"]) {
    await getModel(Thing).collection.deleteMany({});
    for (const [n, _id] of ids.slice(0, 3).entries()) await app.created("/plain", { _id, n });
    const before = await stored();
    const { text } = await app.get("/plain?limit=3", { headers: { accept } });
    await getModel(Thing).collection.deleteMany({});
    const table = await fetch(`${app.url}/plain`, {
      method: "POST",
      headers: { "content-type": accept },
      body: text,
    });
    const told = await table.text();
    assertEquals(await stored(), before as never, told);
    const again = await fetch(`${app.url}/plain`, {
      method: "POST",
      headers: { "content-type": accept },
      body: text,
    });
    assertEquals((await again.text()).match(/"status":409/g)?.length, 3);
  }
});

/** Serves a class whose creations have idempotency keys, with and without a hook. */
async function serveOnce(type: unknown) {
  const keys = { idempotency: { keep: "1h" }, many: 5 } as const;
  @rest({ route: "/once", methods: [one(), create<Once>(keys)] })
  @rest({ route: "/hooked", methods: [one(), create<Once>({ ...keys, preSave: pass })] })
  class Once extends FrameworkModel {
    @prop({ type: Number })
    n?: number;
    static override configure(schema: Schema): void {
      declareId(schema, type);
    }
  }
  return { app: await mountOnReplicaSet([Once]), Once };
}

const MADE = { String: () => "k" + crypto.randomUUID(), UUID: () => crypto.randomUUID() };

test("an _id of each type is created once for a key", async () => {
  const kinds = [
    ...Object.values(ID_KINDS).map(({ type, ids }) => ({ type, ids: ids as readonly unknown[] })),
    { type: { type: String, default: MADE.String }, ids: [] },
    { type: { type: mongoose.Schema.Types.UUID, default: MADE.UUID }, ids: [] },
  ];
  for (const { type, ids: [_id, second] } of kinds) {
    const { app: opened, Once } = await serveOnce(type);
    await using app = opened;
    for (const route of ["/once", "/hooked"]) {
      const body = { ..._id !== undefined && { _id }, n: 1 };
      const many = [{ ...second !== undefined && { _id: second }, n: 2 }];
      for (const [key, sent] of [["a", body], ["b", many]] as const) {
        const headers = { "idempotency-key": key };
        const first = await app.post(route, sent, { headers });
        const again = await app.post(route, sent, { headers });
        const told = [first.status, again.status, again.body];
        assertEquals(told, [201, 201, first.body], again.text);
      }
      const headers = { "idempotency-key": "c" };
      const taken = _id === undefined ? [] : [1, 2];
      for (const _ of taken) assertEquals((await app.post(route, body, { headers })).status, 409);
      assertEquals((await getModel(Once).collection.deleteMany({})).deletedCount, 2);
    }
  }
});

test("an _id with a default is made, and bodies do not give it", async () => {
  const made = {
    String: () => "k" + crypto.randomUUID(),
    Number: () => Math.floor(1e9 * Math.random()) + 1,
  };
  const types = [
    ...Object.entries(made).map(([name, make]) => ({
      type: { String, Number }[name],
      default: make,
    })),
    { type: mongoose.Schema.Types.UUID, default: () => crypto.randomUUID() },
  ];
  for (const type of types) {
    const { app: opened } = await serve(type);
    await using app = opened;
    for (const route of ["/plain", "/hooked"]) {
      const { _id, ...others } = await app.created(route, { _id: "x", n: 1 });
      assertEquals([others, _id === "x"], [{ n: 1, __v: 0 }, false] as never);
      assertEquals(await app.read(at(route, _id)), { _id, n: 1, __v: 0 });
      const id = type.default();
      const put = await app.put(at(route, id), { n: 2 });
      assertEquals([put.status, put.body], [201, { _id: id, n: 2, __v: 0 }] as never);
    }
  }
});
