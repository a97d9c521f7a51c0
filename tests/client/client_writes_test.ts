import { assert, assertEquals, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { ApiError, connect, type ConnectOptions, etagOf } from "@mongrove/mongrove/client";
import type {
  Affected,
  Answer,
  EntityResult,
  NewOf,
  Resource,
  Single,
  Written,
} from "@mongrove/mongrove/client";
import type { Film, Place } from "../fixtures/studio.ts";
import { serve } from "../harness/serve.ts";
import { test } from "../harness/testing.ts";
import { expect, type Same } from "../support/same_type.ts";

/** What a server does with a request. */
type Step = (res: ServerResponse) => void;

/** A request, as a server gets it. */
interface Asked {
  readonly line: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
}

const id = "0123456789abcdef01234567";
const film = { _id: id, name: "A", createdAt: new Date(0).toJSON(), __v: 0 };
const location = `/api/films/${id}`;

function answer(status: number, body?: unknown, headers = {}): Step {
  return (res) =>
    void res.writeHead(status, { connection: "close", ...headers }).end(
      body === undefined ? "" : JSON.stringify(body),
    );
}

const made = answer(201, film, { etag: '"0"', location });
const busy = answer(503, { code: "UNAVAILABLE", message: "Away" }, { "retry-after": "0" });
const underWay = answer(409, { code: "CONFLICT", message: "Wait" }, { "retry-after": "0" });
const cut: Step = (res) => void res.destroy();

/** Serves the steps, one for each request, and clients of it. */
async function script(steps: readonly Step[], options: ConnectOptions = {}) {
  const asked: Asked[] = [];
  const served = await serve(async (req, res) => {
    const body = await text(req);
    const line = `${req.method} ${decodeURIComponent(req.url ?? "")}`;
    asked.push({ line, headers: req.headers, body: body && JSON.parse(body) });
    steps[asked.length - 1]?.(res);
  });
  const api = connect(served.url, options);
  return {
    films: api.resource<Film>("/films"),
    keyed: api.resource<Film>("/films", { idempotency: true }),
    asked,
    lines: () => asked.map(({ line }) => line),
    sent: (name: string) => asked.map(({ headers }) => headers[name]),
    [Symbol.asyncDispose]: () => served[Symbol.asyncDispose](),
  };
}

async function refused(call: Promise<unknown>): Promise<ApiError> {
  return await assertRejects(() => call, ApiError);
}

test("createMany() sends a list in one request, and gives the list", async () => {
  await using server = await script([answer(201, [film, film]), answer(201, [])]);
  const { films } = server;
  const [first, second] = await films.createMany([{ name: "A" }, { name: "B" }], {
    revive: ["createdAt"],
  });
  assertEquals([first?.createdAt, second?.createdAt], [new Date(0), new Date(0)]);
  assertEquals(await films.createMany([]), []);
  assertEquals(server.lines(), ["POST /films", "POST /films"]);
  assertEquals(server.asked.map(({ body }) => body), [[{ name: "A" }, { name: "B" }], []]);
  assertEquals(server.sent("content-type"), Array(2).fill("application/json"));
});

test("createMany() refuses what JSON does not have, and names its place", async () => {
  await using server = await script([]);
  const bodies = [{ name: "A" }, { name: "B", year: NaN }];
  const wrong = () => server.films.createMany(bodies);
  await assertRejects(wrong, TypeError, "Cannot send body.1.year: JSON has no NaN");
  const missing = [undefined] as unknown as NewOf<Film>[];
  await assertRejects(() => server.films.createMany(missing), TypeError, "body.0");
  assertEquals(server.asked, []);
});

test("errors of createMany() are keyed by index", async () => {
  const errors = { "1.name": { message: "Path `name` is required.", kind: "required" } };
  await using server = await script([answer(400, { code: "BAD_DATA", message: "No", errors })]);
  const error = await refused(server.films.createMany([{ name: "A" }, {} as never]));
  assertEquals([error.code, error.errors], ["BAD_DATA", errors]);
});

const RESULTS: readonly EntityResult[] = [
  { status: 201, _id: id },
  { status: 409, code: "CONFLICT", message: "Another entity has the same value" },
];

test("createMany() gives a result for each entity where the call says atomic: false", async () => {
  await using server = await script([answer(207, RESULTS)]);
  const results = await server.films.createMany([{ name: "A" }, { name: "A" }], { atomic: false });
  assertEquals(results, RESULTS as EntityResult[]);
});

test("createMany() fails if entities may be missing and the call does not say so", async () => {
  await using server = await script([answer(207, RESULTS)]);
  const error = await refused(server.films.createMany([{ name: "A" }, { name: "A" }]));
  assertEquals([error.status, error.body], [207, RESULTS]);
});

test("updateAll() sends a patch of all that q selects, and tells how many there were", async () => {
  await using server = await script([answer(200, { matched: 3, modified: 3 })]);
  const affected = await server.films.updateAll({ year: null }, { q: { name: "A" } });
  assertEquals(affected, { matched: 3, modified: 3 });
  assertEquals(server.lines(), ['PATCH /films?q={"name":"A"}']);
  assertEquals([server.asked[0]?.body, server.sent("prefer")], [{ year: null }, [undefined]]);
});

for (const options of [undefined, {}, { q: undefined }, { q: null }, { q: "{}" }]) {
  test(`updateAll() without a filter sends nothing: ${JSON.stringify(options)}`, async () => {
    await using server = await script([]);
    const { films } = server;
    const given = options as { q: Record<never, never> };
    for (const list of [films, films.part("reviews", id)]) {
      const call = () => list.updateAll({}, given);
      await assertRejects(call, TypeError, "Cannot update all: q is missing");
    }
    const lost = { q: { year: undefined } } as unknown as typeof given;
    await assertRejects(() => films.updateAll({}, lost), TypeError, "q.year");
    assertEquals(server.asked, []);
  });
}

test("maxAffected bounds updateAll() and removeAll()", async () => {
  await using server = await script([answer(200, {}), answer(204), answer(409), answer(400)]);
  const { films } = server;
  await films.updateAll({ year: 1 }, { q: {}, maxAffected: 5 });
  await films.removeAll({ q: {}, maxAffected: 0 });
  await refused(films.removeAll({ q: {}, maxAffected: 2 }));
  // The server refuses what it cannot read: a bound that is lost is none
  const lost = { q: {}, maxAffected: undefined } as unknown as { q: object; maxAffected: number };
  await refused(films.removeAll(lost));
  const bounds = [5, 0, 2, undefined].map((bound) => `max-affected=${bound}`);
  assertEquals(server.sent("prefer"), bounds);
});

test("replace() puts an entity at a key, which is one segment of the path", async () => {
  await using server = await script([made, answer(200, film, { etag: '"1"' })]);
  const { films } = server;
  const created = await films.replace("a/b", { name: "A" }, { revive: ["createdAt"] });
  assertEquals([created.createdAt, etagOf(created)], [new Date(0), '"0"']);
  const replaced = await films.replace(id, { name: "B" });
  assertEquals([replaced.name, etagOf(replaced)], ["A", '"1"']);
  assertEquals(server.asked.map(({ line }) => line), ["PUT /films/a/b", `PUT /films/${id}`]);
  assertEquals([server.sent("if-match"), server.sent("if-none-match")], [
    ...[Array(2).fill(undefined), Array(2).fill(undefined)],
  ]);
});

for (const key of ["", ".", "..", undefined, null, film]) {
  test(`replace() refuses a key that is ${JSON.stringify(key)}`, async () => {
    await using server = await script([]);
    const call = () => server.films.replace(key as string, { name: "A" });
    await assertRejects(call, TypeError, "is no identifier");
    assertEquals(server.asked, []);
  });
}

test("replace() creates only, or replaces only", async () => {
  await using server = await script([made, answer(412, { code: "PRECONDITION_FAILED" }), made]);
  const { films } = server;
  const first = await films.replace(id, { name: "A" }, { createOnly: true });
  const again = films.replace(id, { name: "A" }, { createOnly: true });
  assertEquals((await refused(again)).code, "PRECONDITION_FAILED");
  await films.replace(id, { name: "B" }, { ifMatch: first, createOnly: false });
  assertEquals(server.sent("if-none-match"), ["*", "*", undefined]);
  assertEquals(server.sent("if-match"), [undefined, undefined, '"0"']);
});

test("minimal asks for no entity, and gives its path and its tag", async () => {
  const patched = answer(204, undefined, { etag: '"1"', location });
  const put = answer(201, undefined, { etag: '"0"', location });
  await using server = await script([put, patched, patched, put, patched]);
  const { films } = server;
  const created = await films.create({ name: "A" }, { minimal: true });
  assertEquals([created, etagOf(created)], [{ location }, '"0"']);
  const updated = await films.update(id, { year: 1 }, { ifMatch: created, minimal: true });
  assertEquals([updated, etagOf(updated)], [{ location }, '"1"']);
  assertEquals(await films.replace(id, { name: "A" }, { minimal: true }), { location });
  assertEquals(await films.createMany([{ name: "A" }], { minimal: true }), undefined);
  const place = films.part("place", id);
  assertEquals(await place.update({ city: "Rome" }, { minimal: true }), { location });
  assertEquals(server.sent("prefer"), Array(5).fill("return=minimal"));
  assertEquals(server.sent("if-match")[1], '"0"');
});

test("minimal gives the same where the server sends the entity all the same", async () => {
  await using server = await script([made, answer(204)]);
  assertEquals(await server.films.create({ name: "A" }, { minimal: true }), { location });
  const hidden = await server.films.create({ name: "A" }, { minimal: true });
  assertEquals([hidden, etagOf(hidden)], [{ location: undefined }, undefined]);
});

test("a resource with idempotency sends a key of its own with every create", async () => {
  await using server = await script([made, made, answer(201, [film]), made, made]);
  const { films, keyed } = server;
  await keyed.create({ name: "A" });
  await keyed.create({ name: "A" });
  await keyed.createMany([{ name: "A" }]);
  await keyed.create({ name: "A" }, { headers: { "Idempotency-Key": "mine" } });
  await films.create({ name: "A" });
  const keys = server.sent("idempotency-key");
  for (const key of keys.slice(0, 3)) assertMatch(String(key), /^\d+(-\d+){3}$/);
  assertEquals([new Set(keys).size, keys[3], keys[4]], [5, "mine", undefined]);
});

test("nothing but a create has a key", async () => {
  const ok = answer(200, film);
  await using server = await script(Array(8).fill(ok));
  const { keyed } = server;
  await keyed.one(id);
  await keyed.update(id, { year: 1 });
  await keyed.updateAll({ year: 1 }, { q: {} });
  await keyed.replace(id, { name: "A" });
  await keyed.remove(id);
  await keyed.action("close", id);
  await keyed.action("report");
  await keyed.part("reviews", id).create({ text: "Good" });
  assertEquals(server.sent("idempotency-key"), Array(8).fill(undefined));
});

for (const [name, failure] of Object.entries({ "a 503": busy, "a broken connection": cut })) {
  test(`a create with a key is repeated with the same key after ${name}`, async () => {
    await using server = await script([failure, made, failure, failure, answer(201, [film])]);
    const { keyed } = server;
    assertEquals((await keyed.create({ name: "A" }))._id, id);
    assertEquals((await keyed.createMany([{ name: "A" }])).length, 1);
    const keys = server.sent("idempotency-key");
    assertEquals([keys.length, new Set(keys.slice(0, 2)).size, new Set(keys.slice(2)).size], [
      ...[5, 1, 1],
    ]);
    assertNotEquals(keys[0], keys[2]);
    assertEquals(new Set(server.asked.slice(0, 2).map(({ body }) => JSON.stringify(body))).size, 1);
  });

  test(`replace() without conditions is repeated after ${name}, with them it is not`, async () => {
    await using server = await script([failure, made, failure, failure, failure]);
    const { films } = server;
    assertEquals((await films.replace(id, { name: "A" })).name, "A");
    await assertRejects(() => films.replace(id, { name: "A" }, { ifMatch: "*" }));
    await assertRejects(() => films.replace(id, { name: "A" }, { createOnly: true }));
    const headers = { "If-None-Match": "*" };
    await assertRejects(() => films.replace(id, { name: "A" }, { headers }));
    assertEquals(server.lines(), Array(5).fill(`PUT /films/${id}`));
  });

  test(`without a key nothing is created again after ${name}, and no bulk is repeated`, async () => {
    await using server = await script(Array(5).fill(failure));
    const { films, keyed } = server;
    const calls = [
      () => films.create({ name: "A" }),
      () => films.create({ name: "A" }, { headers: { "idempotency-key": "mine" } }),
      () => films.createMany([{ name: "A" }]),
      () => keyed.updateAll({ year: 1 }, { q: {} }),
      () => keyed.part("reviews", id).create({ text: "Good" }),
    ];
    for (const call of calls) await assertRejects(call);
    assertEquals(server.asked.length, calls.length);
  });
}

test("a create with a key waits while another try of it is under way", async () => {
  await using server = await script([cut, underWay, underWay, made]);
  assertEquals((await server.keyed.create({ name: "A" }))._id, id);
  assertEquals([server.asked.length, new Set(server.sent("idempotency-key")).size], [4, 1]);
});

test("no other conflict is repeated", async () => {
  const duplicate = answer(409, { code: "CONFLICT", message: "Another entity" });
  await using server = await script([duplicate, underWay, underWay]);
  const { films, keyed } = server;
  const calls = [
    () => keyed.create({ name: "A" }),
    () => films.create({ name: "A" }),
    () => keyed.update(id, { year: 1 }),
  ];
  for (const call of calls) assertEquals((await refused(call())).status, 409);
  assertEquals(server.asked.length, calls.length);
});

// Types

/** What compiles. */
export async function accepted(films: Resource<Film>, place: Single<Place>): Promise<void> {
  const body = { name: "A" };
  const many = await films.createMany([body], { revive: ["createdAt"] });
  expect<Same<(typeof many)[number]["createdAt"], Date>>();
  const list = await films.createMany([body]);
  expect<Same<typeof list, Answer<Film>[]>>();
  const results = await films.createMany([body], { atomic: false });
  expect<Same<typeof results, EntityResult[]>>();
  const none = await films.createMany([body], { minimal: true });
  expect<Same<typeof none, undefined>>();
  const one = await films.create(body, { timeoutMS: 1 });
  expect<Same<typeof one, Answer<Film>>>();
  const written = await films.create(body, { minimal: true });
  expect<Same<typeof written, Written>>();
  const either = await films.create(body, { minimal: Math.random() < 0.5 });
  expect<Same<typeof either, Answer<Film> | Written>>();
  const given = await films.update(id, body, { ifMatch: written });
  expect<Same<typeof given, Answer<Film>>>();
  const affected = await films.updateAll({ year: null }, { q: { year: { $lt: 1970 } } });
  expect<Same<typeof affected, Affected>>();
  const put = await films.replace("a", body, { revive: ["createdAt"], createOnly: true });
  expect<Same<(typeof put)["createdAt"], Date>>();
  const moved = await place.update({ city: "Rome" }, { minimal: true });
  expect<Same<typeof moved, Written>>();
  const made = await place.create({ city: "Rome" }, { minimal: false });
  expect<Same<typeof made, Answer<Place>>>();
}

/** What must not compile. */
export const rejected = (films: Resource<Film>, place: Single<Place>): unknown[] => [
  // @ts-expect-error no list
  () => films.createMany({ name: "A" }),
  // @ts-expect-error no such field, in an element
  () => films.createMany([{ name: "A" }, { nme: "B" }]),
  // @ts-expect-error a field that no body sets
  () => films.createMany([{ owner: "A" }]),
  // @ts-expect-error all or nothing needs no option
  () => films.createMany([{ name: "A" }], { atomic: true }),
  // @ts-expect-error no filter
  () => films.updateAll({ year: 1 }),
  // @ts-expect-error no filter
  () => films.updateAll({ year: 1 }, {}),
  // @ts-expect-error a filter that is lost
  () => films.updateAll({ year: 1 }, { q: undefined }),
  // @ts-expect-error a bound that is lost
  () => films.updateAll({ year: 1 }, { q: {}, maxAffected: undefined }),
  // @ts-expect-error no such field in the filter
  () => films.updateAll({ year: 1 }, { q: { yeer: 1 } }),
  // @ts-expect-error no such field in the patch
  () => films.updateAll({ yeer: 1 }, { q: {} }),
  // @ts-expect-error only an entity has a version
  () => films.updateAll({ year: 1 }, { q: {}, ifMatch: "*" }),
  // @ts-expect-error counts are short
  () => films.updateAll({ year: 1 }, { q: {}, minimal: true }),
  // @ts-expect-error a bound that is lost
  () => films.removeAll({ q: {}, maxAffected: undefined }),
  // @ts-expect-error no key
  () => films.replace({ name: "A" }),
  // @ts-expect-error null clears in a patch only
  () => films.replace("a", { name: null }),
  // @ts-expect-error no field of an answer that is not there
  async () => (await films.create({ name: "A" }, { minimal: true })).name,
  // @ts-expect-error one entity
  () => place.createMany([{ city: "Rome" }]),
  // @ts-expect-error one entity
  () => place.updateAll({ city: "Rome" }, { q: {} }),
];

Deno.test("the types of the client's writes hold", () => {
  assert([accepted, rejected].every((cases) => cases.length === 2));
});
