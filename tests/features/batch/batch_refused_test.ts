import { assertEquals } from "@std/assert";
import { all, create, FrameworkModel, getModel, one, prop, rest } from "../../../mod.ts";
// @ts-types="express-types"
import { json } from "express";
import { test } from "../../harness/testing.ts";
import { mountOnReplicaSet } from "../../support/mount_on_replica_set.ts";
import { sendBatch } from "./shop.ts";

let hooks = 0;

@rest({
  route: "/things",
  methods: [
    all({ page: { max: 10 }, formats: ["ndjson", "csv"], live: true }),
    one(),
    create({ many: 5, atomic: false, preFetch: () => ++hooks > 0 }),
  ],
})
@rest({ route: "/unpaged", methods: [all()] })
@rest({
  route: "/keyed",
  methods: [create({ idempotency: { keep: "1h" }, formats: ["ndjson"], many: 5 })],
})
@rest({
  route: "/odd",
  methods: [
    all({
      page: { max: 10 },
      preFetch: (req) => {
        req.res?.type("html").send(req.query.empty ? "" : "<p>");
        return true;
      },
    }),
  ],
})
class Thing extends FrameworkModel {
  @prop()
  name?: string;
}

const batch = { path: "/batch", max: 4 };

const GET = { id: "a", method: "GET", path: "/things" };
const POST = { id: "a", method: "POST", path: "/things", body: { name: "x" } };

/** Batches that are refused before one of their requests runs. */
const MALFORMED: readonly (readonly [what: string, requests: unknown, status?: number])[] = [
  ["no list", "x"],
  ["no requests", []],
  ["too many", Array.from({ length: 5 }, (_, index) => ({ ...GET, id: `${index}` })), 413],
  ["a text", ["x"]],
  ["null", [null]],
  ["an array", [[]]],
  ["no id", [{ ...GET, id: undefined }]],
  ["an odd id", [{ ...GET, id: "a.b" }]],
  ["an empty id", [{ ...GET, id: "" }]],
  ["a long id", [{ ...GET, id: "a".repeat(65) }]],
  ["an id twice", [GET, GET]],
  ["a further key", [{ ...GET, user: "root" }]],
  ["a body of a read", [{ ...GET, body: {} }]],
  ["a body of a removal", [{ ...GET, method: "DELETE", body: {} }]],
  ...["get", "HEAD", "OPTIONS", "TRACE", "constructor", 1, undefined].map((method) =>
    [`method ${method}`, [{ ...GET, method }]] as const
  ),
  ...[
    ...["things", "", "//things", "/things/", "/things//x", "https://host/things", "\\things"],
    ...["/../things", "/things/..", "/things/.", "/things/%2e%2e", "/things/%2E", "/things/a%2Fb"],
    ...["/things/a%5cb", "/things/%00", "/things/%zz", "/things/a b", "/things/é", "/things#x"],
    ...["/things/a\\b", "/things/a\nb", "/things?a=b c", "/things?a=\u0000", "/things/{a._id}x"],
    ...[`/${"a".repeat(9000)}`, 7, null, ["/things"], { $result: "a.path" }],
  ].map((path) => [`path ${JSON.stringify(path)}`, [{ ...GET, path }]] as const),
  ...["Idempotency-Key", "Authorization", "cookie", "content-type", "__proto__", "X-User"].map(
    (name) =>
      [`header ${name}`, [{
        ...GET,
        headers: JSON.parse(`{"${name}":"application/json"}`),
      }]] as const,
  ),
  ["a header twice", [{ ...GET, headers: { Accept: "a", accept: "b" } }]],
  ["a header that is a list", [{ ...GET, headers: { Accept: ["a"] } }]],
  ["a header with a line", [{ ...GET, headers: { Accept: "a\r\nx-user: root" } }]],
  ["headers that are a text", [{ ...GET, headers: "x" }]],
  ...[
    ...[
      "a",
      "a.",
      ".x",
      "b._id",
      "x.y",
      "a.__proto__.x",
      "a.constructor",
      "a.x.prototype",
      7,
      null,
    ],
    ...["a..x", "a.x.", {}, ["a._id"], "a.x y", "a/x.y"],
  ].map((name) =>
    [`$result ${JSON.stringify(name)}`, [POST, {
      ...POST,
      id: "b",
      body: { name: { $result: name } },
    }]] as const
  ),
  ["$result beside a key", [POST, {
    ...POST,
    id: "b",
    body: { name: { $result: "a._id", x: 1 } },
  }]],
  ["$result of itself", [{ ...POST, body: { name: { $result: "a.name" } } }]],
  ["$result of a later one", [{ ...POST, body: [{ name: { $result: "b.name" } }] }, {
    ...POST,
    id: "b",
  }]],
  ...["{b._id}", "{a}", "{a.__proto__}", "{}", "{a._id", "a._id}", "{a.constructor.name}"].map(
    (segment) =>
      [`segment ${segment}`, [POST, { ...GET, id: "c", path: `/things/${segment}` }]] as const,
  ),
  ["a result in a query", [POST, { ...GET, id: "b", path: "/things/{a._id}/{x}?q={a._id}" }]],
];

test("a malformed batch is refused before a request runs", async () => {
  await using app = await mountOnReplicaSet([Thing], { batch });
  hooks = 0;
  for (const [what, requests, expected = 400] of MALFORMED) {
    const { status, text } = await app.post("/batch", { requests });
    assertEquals(status, expected, `${what}: ${text}`);
  }
  for (const body of [undefined, [], "x", { requests: [GET], more: 1 }, {}]) {
    assertEquals((await app.post("/batch", body)).status, 400, JSON.stringify(body));
  }
  const text = {
    body: JSON.stringify({ requests: [GET] }),
    headers: { "content-type": "text/plain" },
  };
  assertEquals((await fetch(`${app.url}/batch`, { method: "POST", ...text })).status, 415);
  assertEquals((await app.get("/batch")).status, 404);
  assertEquals([hooks, await getModel(Thing).countDocuments()], [0, 0]);
});

/** Requests that no batch takes, although they are well-formed. */
const REFUSED: readonly (readonly [what: string, request: object])[] = [
  ["a live list", { ...GET, headers: { Accept: "text/event-stream" } }],
  ["lines", { ...GET, headers: { Accept: "application/x-ndjson" } }],
  ["a table", { ...GET, headers: { Accept: "text/csv" } }],
  ["a list without pages", { ...GET, path: "/unpaged" }],
  ["elements that succeed one by one", { ...POST, body: [{ name: "a" }] }],
  ["a batch in a batch", { ...POST, path: "/batch", body: { requests: [GET] } }],
  ["a path of no route", { ...GET, path: "/nothing" }],
  ["a path of another router", { ...GET, path: "/own" }],
  ["a method of no route", { ...GET, method: "PUT", path: "/things" }],
  ["an answer of a hook that is no JSON", { ...GET, path: "/odd" }],
  ["an empty answer of a hook that is no JSON", { ...GET, path: "/odd?empty=1" }],
];

test("a batch refuses requests whose answers cannot be part of another one", async () => {
  await using app = await mountOnReplicaSet([Thing], {
    batch,
    prepare: (host) => {
      host.use(json());
      host.get("/own", (_req, res) => void res.json({}));
    },
  });
  for (const [what, request] of REFUSED) {
    const { status, body, text } = await sendBatch(app, [{ ...POST, id: "first" }, request]);
    assertEquals([status, body.code, body.failed], [400, "BAD_FORMAT", "a"], `${what}: ${text}`);
  }
  assertEquals(await getModel(Thing).countDocuments(), 0);
});

test("a batch refuses lines and tables of every length", async () => {
  await using app = await mountOnReplicaSet([Thing], { batch });
  for (const Accept of ["application/x-ndjson", "text/csv"]) {
    for (const more of [{}, { "If-None-Match": "*" }]) {
      const headers = { Accept, ...more };
      for (const length of [0, 1]) {
        if (length > 0) await getModel(Thing).create({ name: "a" });
        const { status, text } = await sendBatch(app, [{ ...GET, headers }]);
        assertEquals([status, length], [400, length], `${JSON.stringify(headers)}: ${text}`);
      }
      await getModel(Thing).deleteMany({});
    }
  }
});

test("a name of a result that has no such value is refused", async () => {
  await using app = await mountOnReplicaSet([Thing], { batch });
  const paths = ["toString", "name.length", "name.0", "missing", "__v.x", "hasOwnProperty.call"];
  for (const path of paths) {
    const { status, body } = await sendBatch(app, [POST, {
      ...POST,
      id: "b",
      body: { name: { $result: `a.${path}` } },
    }]);
    assertEquals([status, body.failed], [400, "b"], path);
  }
  for (const name of ["a/..", "..", ".", "", "a\nb"]) {
    const { status, body } = await sendBatch(app, [
      { ...POST, body: { name } },
      { ...GET, id: "b", path: "/things/{a.name}" },
    ]);
    assertEquals([status, body.failed], [400, "b"], name);
  }
  assertEquals(await getModel(Thing).countDocuments(), 0);
});

test("a header of a batch that would have no effect is refused", async () => {
  await using app = await mountOnReplicaSet([Thing], { batch });
  for (const name of ["idempotency-key", "if-match"]) {
    const request = { ...POST, path: "/keyed" };
    const { status, body } = await sendBatch(app, [request], { [name]: '"1"' });
    assertEquals([status, body.code], [400, "BAD_FORMAT"], name);
  }
  assertEquals(await getModel(Thing).countDocuments(), 0);
});

test("a batch has at most 20 requests, unless the option says otherwise", async () => {
  await using app = await mountOnReplicaSet([Thing], { batch: { path: "/batch" } });
  const send = async (length: number) => {
    const requests = Array.from({ length }, (_, index) => ({ ...GET, id: `r${index}` }));
    return (await sendBatch(app, requests)).status;
  };
  assertEquals([await send(20), await send(21)], [200, 413]);
});
