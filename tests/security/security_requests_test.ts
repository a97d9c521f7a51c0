import { assert, assertEquals, assertNotMatch } from "@std/assert";
import { getModel } from "../../mod.ts";
import { requestRaw } from "../harness/request_raw.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";
import { checked, safe } from "../fixtures/safe.ts";

/** Bodies that try to set what a body may not. */
const ASSIGNMENTS: [string, object][] = [
  ["an identifier", { _id: "507f1f77bcf86cd799439011", id: "507f1f77bcf86cd799439011" }],
  ["a version", { __v: 77 }],
  ["timestamps", { createdAt: "2001-01-01", updatedAt: "2001-01-01" }],
  ["a readonly field", { role: "admin" }],
  ["a virtual with a setter", { shout: "admin" }],
  ["a dotted path", { "role": "admin", "lock.maker": "admin", "locks.0.maker": "admin" }],
  ["an operator", { $set: { role: "admin" }, $inc: { __v: 5 }, $unset: { name: 1 } }],
  ["a readonly field in an object", { lock: { label: "l", maker: "admin", _id: "5".repeat(24) } }],
  ["a discriminator", { __t: "Admin" }],
  ["members of the document", {
    isNew: true,
    $isNew: true,
    save: 1,
    errors: {},
    _doc: { role: 1 },
  }],
  ["undeclared fields", { admin: true, isAdmin: true, scope: {} }],
  ["prototypes", JSON.parse('{"__proto__":{"role":"admin"},"constructor":{"role":"admin"}}')],
];

test("create() and update() take no field from a body that a body may not set", async (t) => {
  const model = safe();
  await using app = await mount([model]);
  const send = checked(app);
  for (const [name, body] of ASSIGNMENTS) {
    await t.step(name, async () => {
      await getModel(model).deleteMany();
      const [made] = await getModel(model).create([{
        name: "a",
        lock: { label: "l", maker: "m" },
      }]);

      const created = await send("POST", "/safe", { name: "n", ...body });
      const changed = await send("PATCH", `/safe/${made?._id}`, { name: "n", ...body });

      assertEquals([created.status, changed.status], [201, 200]);
      const docs = await getModel(model).collection.find().sort({ _id: 1 }).toArray();
      assertEquals(docs.map((doc) => [doc.name, doc.role, doc.__v]), [
        ["n", "user", 1],
        ["n", "user", 0],
      ]);
      assertEquals(docs[0]?._id, made?._id);
      assertNotMatch(JSON.stringify(docs), /admin|Admin|2001|"5{24}"|507f1f77bcf86cd799439011/);
      assertEquals(docs[0]?.lock.maker, "m");
    });
  }
});

const EVIL = `{"polluted":"yes","toString":"x"}`;
/** Bodies that try to change prototypes. */
const POLLUTING = [
  `{"__proto__":${EVIL},"constructor":{"prototype":${EVIL}}}`,
  `{"free":{"__proto__":${EVIL},"constructor":{"prototype":${EVIL}},"a":{"__proto__":${EVIL}}}}`,
  `{"frees":{"__proto__":${EVIL},"k":{"__proto__":${EVIL}}},"map":{"__proto__":${EVIL}}}`,
  `{"lock":{"__proto__":${EVIL}},"locks":[{"__proto__":${EVIL}}]}`,
];

test("no prototype is polluted by a body, a query or a hook's copy of them", async () => {
  const model = safe();
  await using app = await mount([model]);
  const headers = { "content-type": "application/json" };
  const doc = await getModel(model).create({ name: "a", free: { a: { b: 1 } }, frees: { k: {} } });

  for (const raw of POLLUTING) {
    for (const [method, path] of [["POST", ""], ["PATCH", `/${doc._id}`]] as const) {
      const { status } = await app.send(method, `/safe${path}`, { raw, headers });
      assert(status < 300);
    }
  }
  for (const query of ["__proto__[polluted]=yes", "constructor[prototype][polluted]=yes"]) {
    await app.get(`/safe?${query}`);
  }

  const { prototype } = Object as unknown as { prototype: Record<string, unknown> };
  assertEquals([prototype.polluted, ({} as Record<string, unknown>).polluted], [
    undefined,
    undefined,
  ]);
  const stored = await getModel(model).collection.find().toArray();
  assertNotMatch(JSON.stringify(stored), /polluted/);
});

/** Keys by which the driver or Mongoose take data for something else. */
const MARKS: object[] = [
  { _bsontype: "ObjectId" },
  { _bsontype: "Double", value: 1 },
  { _bsontype: "Code", code: "1" },
  { _bsontype: "Long" },
  { isMongooseBuffer: true },
];
const HARMLESS: object[] = [
  { toJSON: 1, toBSON: 1, toObject: 1, valueOf: 1, toString: 1, inspect: 1, then: 1 },
  { isMongooseArray: true, isMongooseDocumentArray: true, _doc: { a: 1 } },
  { length: -1, buffer: "x", hasOwnProperty: 1, __defineGetter__: 1, schema: 1, _id: "x" },
];
const HALVES: object[] = [{ "\ud800": "\udfff", 0: 1 }, { a: "\ud800" }];

test("no body makes a list fail that holds it", async (t) => {
  const model = safe();
  await using app = await mount([model]);
  const send = checked(app);
  const url = "/safe";
  const target = await getModel(model).create({ name: "t", free: {}, frees: {} });
  const places = [
    (value: object) => ({ free: value }),
    (value: object) => ({ free: { deep: [value] } }),
    (value: object) => ({ frees: { k: value } }),
    (value: object) => ({ frees: value }),
  ];
  const refused = [...MARKS, ...HALVES];
  for (const [values, expected] of [[refused, [400, 400]], [HARMLESS, [201, 200]]] as const) {
    for (const value of values) {
      for (const place of places) {
        const body = place(value);
        await t.step(JSON.stringify(body), async () => {
          const created = await send("POST", url, body);
          const changed = await send("PATCH", `${url}/${target._id}`, body);
          assertEquals([created.status, changed.status], [...expected]);
          assertEquals((await send("GET", url)).status, 200);
        });
      }
    }
  }
});

/** Requests that try to have a say in where the new entity is. */
const REQUEST_LINES: [string, string[]][] = [
  ["POST /safe HTTP/1.1", ["Host: evil.example"]],
  ["POST /safe HTTP/1.1", ["Host: x", "X-Forwarded-Host: evil.example", "X-Forwarded-Proto: evil"]],
  ["POST /safe HTTP/1.1", ["Host: x", "X-Forwarded-Prefix: /evil.example", "Forwarded: host=evil"]],
  ["POST /safe HTTP/1.1", ["Host: x", "X-Original-URL: /evil.example", "Referer: http://evil/"]],
  ["POST http://evil.example/safe HTTP/1.1", ["Host: x"]],
  ["POST http://user:pw@evil.example:99/safe?evil=1 HTTP/1.1", ["Host: x"]],
  ["POST /safe?next=//evil.example&q=x HTTP/1.1", ["Host: x"]],
  ["POST /safe/?%0d%0aevil:1 HTTP/1.1", ["Host: x"]],
];

test("Location comes from the mount and the route, whatever the request says", async (t) => {
  const model = safe();
  await using app = await mount([model]);
  for (const [line, headers] of REQUEST_LINES) {
    await t.step(`${line} ${headers.join(" ")}`, async () => {
      const head = [line, ...headers, "Content-Type: application/json", "Content-Length: 2"];
      const payload = `${head.join("\r\n")}\r\nConnection: close\r\n\r\n{}`;
      const reply = await requestRaw(app.url, payload);
      assertEquals(reply.status, 201, reply.text);
      const { _id } = JSON.parse(reply.body);
      assertEquals(reply.headers.location, `/safe/${_id}`);
      assertNotMatch(reply.text, /evil/);
    });
  }
});

test("Location never leads to another host, however many slashes a request has", async (t) => {
  const model = safe();
  await using app = await mount([model], { at: /^.*(?=\/safe)/ });
  const targets = ["//evil.example/safe", "/\\evil.example/safe", "/x//evil.example/safe"];
  for (const target of [...targets, "///evil.example/safe", "/%2F%2Fevil.example/safe"]) {
    await t.step(target, async () => {
      const payload = `POST ${target} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
        "Content-Length: 2\r\nConnection: close\r\n\r\n{}";
      const { status, headers } = await requestRaw(app.url, payload);
      assertEquals(status, 201);
      assertEquals(new URL(headers.location ?? "", "http://own.example").host, "own.example");
    });
  }
});

test("no header of the client changes the operation", async () => {
  const model = safe();
  await using app = await mount([model]);
  await getModel(model).create({ name: "a" });
  const headers = { "X-HTTP-Method-Override": "DELETE", "X-HTTP-Method": "DELETE" };

  await app.post("/safe?_method=DELETE", {}, { headers });
  await app.get("/safe?_method=DELETE", { headers });
  const trace = await requestRaw(
    app.url,
    "TRACE /safe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
  );

  assertEquals(await getModel(model).countDocuments(), 2);
  assert(trace.status >= 400);
});

const NO_IDS = [
  "x",
  "1",
  "null",
  "undefined",
  "%7B%22$ne%22:null%7D",
  "[object%20Object]",
  "__proto__",
]
  .concat("%20", "..%2f..", "a".repeat(12), "%F0%9F%98%80");

test("ids that are none answer 404, and reach no operator", async (t) => {
  const model = safe();
  await using app = await mount([model]);
  const send = checked(app);
  const { _id } = await getModel(model).create({ name: "a" });
  const odd = [`${_id}x`, `${_id},${_id}`, `${_id}%00`];
  for (const id of [...NO_IDS, ...odd]) {
    await t.step(id, async () => {
      for (const method of ["GET", "PATCH", "DELETE"]) {
        const body = method === "PATCH" ? { name: "x" } : undefined;
        const { status } = await send(method, `/safe/${id}`, body);
        assertEquals([method, status], [method, 404]);
      }
    });
  }
  assertEquals((await getModel(model).find().lean()).map(({ name }) => name), ["a"]);
});
