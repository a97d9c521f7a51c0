import { assert, assertEquals, assertNotMatch } from "@std/assert";
import {
  all,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  type HooksOf,
  type ModelClass,
  one,
  prop,
  remove,
  removeAll,
  rest,
  RestError,
  update,
} from "../mod.ts";
import { request } from "./harness/request.ts";
import { requestRaw } from "./harness/request_raw.ts";
import { test } from "./harness/testing.ts";
import { hooksFor } from "./hooked.ts";
import { asQuery, mount } from "./support.ts";

class Lock extends FrameworkModel {
  @prop()
  label?: string;
  @prop({ type: Number, max: 9 })
  size?: number;
  @prop({ hidden: true, maxLength: 20 })
  code?: string;
  @prop({ readonly: true })
  maker?: string;
}

/** All that a client must not see or set. */
class SafeFields extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ hidden: true, alias: "open", maxLength: 20 })
  code?: string;
  @prop({ type: Number, hidden: true, max: 9 })
  pin?: number;
  @prop({ hidden: true, unique: true, sparse: true })
  serial?: string;
  @prop({ readonly: true, default: "user" })
  role?: string;
  @prop({ type: Lock, validate: { validator: isFit } })
  lock?: Lock;
  @arrayProp({ items: Lock, embedded: true, validate: { validator: areFit } })
  locks?: Lock[];
  @prop({ type: Map, of: Lock })
  map?: Map<string, unknown>;
  @prop({ type: Object, hidden: true })
  notes?: object;
  @prop({ type: Object })
  free?: object;
  @prop({ type: Map, of: Object })
  frees?: Map<string, unknown>;

  get shout(): string {
    return `${this.name}!`;
  }
  set shout(value: string) {
    this.role = value;
  }
}

/** Refuses what is labelled "unfit". */
function isFit(lock?: Lock): boolean {
  return lock?.label !== "unfit";
}

function areFit(locks: Lock[]): boolean {
  return locks.every(isFit);
}

/** Makes a model of its own with all six operations, whose documents show their virtuals. */
function safe(hooks: HooksOf<SafeFields> = {}): ModelClass<SafeFields> {
  const collection = `safe_${crypto.randomUUID().slice(0, 8)}`;
  @rest({
    route: "/safe",
    methods: [
      all<SafeFields>(hooksFor("all", hooks)),
      one<SafeFields>(hooksFor("one", hooks)),
      create<SafeFields>(hooks),
      update<SafeFields>(hooks),
      remove<SafeFields>(hooksFor("remove", hooks)),
      removeAll<SafeFields>(hooksFor("removeAll", hooks)),
    ],
    schemaOptions: {
      collection,
      autoCreate: false,
      autoIndex: false,
      timestamps: true,
      toJSON: { virtuals: true },
      toObject: { virtuals: true },
    },
  })
  class Safe extends SafeFields {}
  return Safe;
}

const SECRET = /s3cret/;

function secrets() {
  const lock = { label: "l", code: "s3cret" };
  return {
    name: "a",
    code: "s3cret",
    pin: 7,
    serial: "s3cret",
    lock,
    locks: [lock],
    map: { k: lock },
    notes: { deep: { code: "s3cret" } },
  };
}

/** Sends a request, and checks that neither body nor headers tell a secret. */
async function send(url: string, method = "GET", body?: unknown) {
  const reply = await request<Record<string, unknown>>(url, { method, body });
  assertNotMatch(reply.text, SECRET, `${method} ${url}`);
  assertNotMatch(reply.text, /"(code|pin|serial|notes|open)":(?!"[A-Z_]+")/, `${method} ${url}`);
  assertNotMatch([...reply.headers].join(), SECRET);
  return reply;
}

test("hidden fields are in no answer of any operation, virtuals and aliases included", async () => {
  const model = safe();
  await using app = await mount([model]);
  const url = `${app.url}/safe`;

  const made = await send(url, "POST", secrets());
  assertEquals([made.status, made.body.shout], [201, "a!"]);
  const item = `${url}/${made.body._id}`;
  await send(url);
  await send(item);
  const changed = await send(item, "PATCH", { ...secrets(), name: "b" });
  assertEquals(changed.status, 200);
  const stored = await getModel(model).findOne().lean() as SafeFields;
  assertEquals([stored.code, stored.lock?.code, stored.locks?.[0]?.code], Array(3).fill("s3cret"));
  await send(item, "DELETE");
  await send(url, "DELETE");
});

test("hidden fields are in no message when a body is not valid", async (t) => {
  const long = "s3cret".repeat(5);
  const bodies: [string, object, field: string][] = [
    ["too long", { code: long }, "code"],
    ["no text", { code: { s3cret: "s3cret" } }, "code"],
    ["too large", { pin: 12345 }, "pin"],
    ["no number", { pin: "s3cret" }, "pin"],
    ["embedded", { lock: { code: long } }, "lock.code"],
    ["embedded, a part", { lock: { code: "s3cret", size: 99 } }, "lock.size"],
    ["in an array", { locks: [{ code: long }] }, "locks.0.code"],
    ["in a map", { map: { k: { code: long } } }, "map.k.code"],
    ["the whole object", { lock: { label: "unfit", code: "s3cret" } }, "lock"],
    ["the whole array", { locks: [{ label: "unfit", code: "s3cret" }] }, "locks"],
    ["no object", { lock: "s3cret" }, "lock"],
    ["no array of objects", { locks: ["s3cret"] }, "locks.0"],
  ];
  const model = safe();
  await using app = await mount([model]);
  const doc = await getModel(model).create({ name: "a" });
  for (const [name, body, field] of bodies) {
    await t.step(name, async () => {
      for (const [method, path] of [["POST", ""], ["PATCH", `/${doc._id}`]] as const) {
        const { status, text, body: answer } = await request<Record<string, object>>(
          `${app.url}/safe${path}`,
          { method, body },
        );
        assertEquals([status, answer.code as unknown], [400, "BAD_DATA"], text);
        assert(Object.keys(answer.errors ?? {}).includes(field), text);
        assertNotMatch(text, /s3cret|12345/);
      }
    });
  }
});

test("hidden values that the server has set are in no message when the object around them is not valid", async () => {
  const preSave = (_req: FrameworkRequest, entity: Entity<SafeFields>) => {
    for (const lock of entity.locks ?? []) lock.code = "s3cret";
    if (entity.lock) entity.lock.code = "s3cret";
    return entity;
  };
  const model = safe({ preSave });
  await using app = await mount([model]);

  for (const body of [{ lock: { label: "unfit" } }, { locks: [{ label: "unfit" }] }]) {
    const { status } = await send(`${app.url}/safe`, "POST", body);
    assertEquals(status, 400);
  }
});

test("hidden fields are in no answer when a write conflicts", async () => {
  const model = safe({
    preSave: async (_req, entity) => {
      if (!entity.isNew) await getModel(model).collection.deleteOne({ _id: entity._id });
      return entity;
    },
  });
  await using app = await mount([model]);
  await getModel(model).createIndexes();
  const url = `${app.url}/safe`;
  const { body } = await send(url, "POST", secrets());

  assertEquals((await send(url, "POST", secrets())).status, 409);
  assertEquals(
    (await send(`${url}/${body._id}`, "PATCH", { code: "s3cret", name: "b" })).status,
    409,
  );
});

test("hidden fields are in no answer when a hook puts the entity into an error", async () => {
  const model = safe({
    postFetch: (_req, entity) => {
      throw new RestError(409, {
        code: "TAKEN",
        current: entity,
        list: [entity],
        deep: { entity },
      });
    },
  });
  await using app = await mount([model]);
  const doc = await getModel(model).create(secrets() as never);

  const { status, body } = await send(`${app.url}/safe/${doc._id}`);

  assertEquals([status, (body.current as { name: string }).name], [409, "a"]);
});

test("hidden fields and unknown ones answer q alike", async () => {
  const model = safe();
  await using app = await mount([model]);
  await getModel(model).create(secrets() as never);
  const paths = ["nothing", "code", "pin", "open", "serial", "notes", "notes.deep", "lock.code"];

  for (const path of paths) {
    const { status, body } = await request(`${app.url}/safe${asQuery({ [path]: "x" })}`);
    assertEquals([status, body], [400, {
      code: "BAD_FORMAT",
      message: `Field "${path}" is unknown`,
      field: path,
    }]);
  }
});

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
  for (const [name, body] of ASSIGNMENTS) {
    await t.step(name, async () => {
      const model = safe();
      await using app = await mount([model]);
      const [made] = await getModel(model).create([{
        name: "a",
        lock: { label: "l", maker: "m" },
      }]);

      const created = await send(`${app.url}/safe`, "POST", { name: "n", ...body });
      const changed = await send(`${app.url}/safe/${made?._id}`, "PATCH", { name: "n", ...body });

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

test("no prototype is polluted by a body, a query or a hook's copy of them", async () => {
  const model = safe();
  await using app = await mount([model]);
  const evil = `{"polluted":"yes","toString":"x"}`;
  const bodies = [
    `{"__proto__":${evil},"constructor":{"prototype":${evil}}}`,
    `{"free":{"__proto__":${evil},"constructor":{"prototype":${evil}},"a":{"__proto__":${evil}}}}`,
    `{"frees":{"__proto__":${evil},"k":{"__proto__":${evil}}},"map":{"__proto__":${evil}}}`,
    `{"lock":{"__proto__":${evil}},"locks":[{"__proto__":${evil}}]}`,
  ];
  const headers = { "content-type": "application/json" };
  const doc = await getModel(model).create({ name: "a", free: { a: { b: 1 } }, frees: { k: {} } });

  for (const raw of bodies) {
    for (const [method, path] of [["POST", ""], ["PATCH", `/${doc._id}`]] as const) {
      const { status } = await request(`${app.url}/safe${path}`, { method, raw, headers });
      assert(status < 300);
    }
  }
  for (const query of ["__proto__[polluted]=yes", "constructor[prototype][polluted]=yes"]) {
    await request(`${app.url}/safe?${query}`);
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
  { "\ud800": "\udfff", 0: 1 },
];

test("no body makes a list fail that holds it", async (t) => {
  const model = safe();
  await using app = await mount([model]);
  const url = `${app.url}/safe`;
  const target = await getModel(model).create({ name: "t", free: {}, frees: {} });
  const places = [
    (value: object) => ({ free: value }),
    (value: object) => ({ free: { deep: [value] } }),
    (value: object) => ({ frees: { k: value } }),
    (value: object) => ({ frees: value }),
  ];
  for (const [values, expected] of [[MARKS, [400, 400]], [HARMLESS, [201, 200]]] as const) {
    for (const value of values) {
      for (const place of places) {
        const body = place(value);
        await t.step(JSON.stringify(body), async () => {
          const created = await send(url, "POST", body);
          const changed = await send(`${url}/${target._id}`, "PATCH", body);
          assertEquals([created.status, changed.status], [...expected]);
          assertEquals((await send(url)).status, 200);
        });
      }
    }
  }
});

test("no detail of an error leaves the process, whichever hook fails", async (t) => {
  const fail = () => {
    throw Object.assign(new Error("s3cret at /srv/app.ts"), {
      status: 418,
      statusCode: 418,
      expose: true,
      body: { s3cret: 1 },
      headers: { "x-s3cret": "s3cret" },
    });
  };
  const hooks = ["preFetch", "fetch", "postFetch", "preSave", "persist", "preSend"];
  for (const hook of hooks) {
    await t.step(hook, async () => {
      const model = safe({ [hook]: fail });
      const errors: unknown[] = [];
      const onError = (_req: unknown, error: unknown) => {
        errors.push(error);
        return new RestError(500, { code: "INTERNAL", message: "Internal error" });
      };
      await using app = await mount([model], { onError });
      const doc = await getModel(model).create({ name: "a" });
      const { status, body } = await send(`${app.url}/safe/${doc._id}`, "PATCH", { name: "b" });
      assertEquals([status, body], [500, { code: "INTERNAL", message: "Internal error" }]);
      assertEquals(errors.length, 1);
    });
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

  await request(`${app.url}/safe?_method=DELETE`, { method: "POST", body: {}, headers });
  await request(`${app.url}/safe?_method=DELETE`, { headers });
  const trace = await requestRaw(
    app.url,
    "TRACE /safe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
  );

  assertEquals(await getModel(model).countDocuments(), 2);
  assert(trace.status >= 400);
});

test("ids that are none answer 404, and reach no operator", async (t) => {
  const model = safe();
  await using app = await mount([model]);
  const { _id } = await getModel(model).create({ name: "a" });
  const ids = [
    "x",
    "1",
    "null",
    "undefined",
    "%7B%22$ne%22:null%7D",
    "[object%20Object]",
    "__proto__",
  ]
    .concat(
      `${_id}x`,
      `${_id},${_id}`,
      `${_id}%00`,
      "%20",
      "..%2f..",
      "a".repeat(12),
      "%F0%9F%98%80",
    );
  for (const id of ids) {
    await t.step(id, async () => {
      for (const method of ["GET", "PATCH", "DELETE"]) {
        const body = method === "PATCH" ? { name: "x" } : undefined;
        const { status } = await send(`${app.url}/safe/${id}`, method, body);
        assertEquals([method, status], [method, 404]);
      }
    });
  }
  assertEquals((await getModel(model).find().lean()).map(({ name }) => name), ["a"]);
});
