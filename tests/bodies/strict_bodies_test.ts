import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
// @ts-types="express-types"
import express from "express";
import type { Express } from "express-types";
import { Schema, Types } from "mongoose";
import {
  action,
  all,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
  one,
  prop,
  type Ref,
  replace,
  rest,
  update,
  updateAll,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { watchCommands } from "../support/both_paths.ts";
import {
  asQuery,
  type ErrorBody,
  mount,
  type Mounted,
  type MountOptions,
} from "../support/support.ts";
import { onlyStrict } from "../support/only_strict.ts";

const isCustomer = (req: FrameworkRequest) => req.headers["x-role"] !== "agent";
const AGENT = { headers: { "x-role": "agent" } };
const NDJSON = { headers: { "content-type": "application/x-ndjson" } };

class Part extends FrameworkModel {
  @prop({ type: Number })
  size?: number;
  @prop({ readonly: true, default: "new" })
  state!: string;
  @prop({ hidden: isCustomer })
  remark?: string;
}

@rest({ route: "/strict/actors", methods: [all()] })
class Actor extends FrameworkModel {
  static override schemaOptions = { collection: "strict_actors", timestamps: true };
  @prop({ required: true })
  name!: string;
}

class Body extends FrameworkModel {
  @prop({ type: Number })
  stars?: number;
  @prop({ readonly: true })
  by?: string;
}

class Lax extends FrameworkModel {
  static override schemaOptions = { strict: false };
  @prop({ type: Number })
  size?: number;
  @prop({ hidden: isCustomer })
  remark?: string;
}

const rate = action<Thing>("rate", {
  on: "one",
  body: Body,
  answer: Body,
  run: (_req, _thing: unknown, body: Body) => body,
});

class Thing extends FrameworkModel {
  static override schemaOptions: Record<string, unknown> = {
    collection: "strict_things",
    timestamps: true,
  };
  @prop()
  name?: string;
  @prop({ type: Number })
  year?: number;
  @prop({ type: Number, readonly: true, default: 7 })
  score!: number;
  @prop({ readonly: isCustomer, default: "open" })
  state!: string;
  @prop({ hidden: isCustomer })
  note?: string;
  @prop({ hidden: true })
  secret?: string;
  @prop({ hidden: true, readonly: true })
  sealed?: string;
  @prop({ type: Object })
  free?: object;
  @prop({ type: Map, of: Number })
  map?: Map<string, number>;
  @prop({ type: Part })
  part?: Part;
  @prop({ type: Lax })
  lax?: Lax;
  @rest({ methods: [all(), one(), create(), update()] })
  @arrayProp({ items: Part, embedded: true })
  parts?: Part[];
  @rest({ methods: [all(), create({ many: 9, atomic: false })] })
  @arrayProp({ items: Part, embedded: true, apart: true })
  apart?: Part[];
  @rest({ methods: [all(), one(), create(), update()] })
  @arrayProp({ items: () => Actor })
  actors?: Ref<Actor>[];
}

const WRITES = [
  all(),
  one(),
  create({ many: 9, atomic: false, formats: ["ndjson"] }),
  update(),
  updateAll({ fields: ["name", "state", "part"], atomic: false }),
  replace(),
  rate,
] as const;

@rest({ route: "/direct", methods: [...WRITES] })
class Direct extends Thing {
  static override schemaOptions = { ...Thing.schemaOptions, collection: "strict_direct" };
}

const hooks = { preSave: (_req: FrameworkRequest, entity: Entity<Thing>) => entity };

@rest({
  route: "/hooked",
  methods: [
    all(),
    one(),
    create<Thing>({ many: 9, atomic: false, formats: ["ndjson"], ...hooks }),
    update<Thing>(hooks),
    updateAll<Thing>({ fields: ["name", "state", "part"], atomic: false, ...hooks }),
    replace<Thing>(hooks),
    rate,
  ],
})
class Hooked extends Thing {
  static override schemaOptions = { ...Thing.schemaOptions, collection: "strict_hooked" };
}

const ROUTES = ["/direct", "/hooked"];

function open(options: MountOptions = { strict: onlyStrict("bodies") }): Promise<Mounted> {
  return mount([Direct, Hooked, Actor], options);
}

function kinds(body: unknown): Record<string, string> {
  const { errors = {} } = body as ErrorBody;
  return Object.fromEntries(Object.entries(errors).map(([path, { kind }]) => [path, kind]));
}

/** The refused keys of a body, and their kinds. */
const REFUSED: readonly (readonly [object, Record<string, string>])[] = [
  [{ nmae: "x" }, { nmae: "unknown" }],
  [{ nmae: null, name: "a" }, { nmae: "unknown" }],
  [{ constructor: 1 }, { "": "unknown" }],
  [{ part: { size: 1, sise: 2 } }, { "part.sise": "unknown" }],
  [{ part: { __v: 0 } }, { "part.__v": "unknown" }],
  [{ parts: [{ size: 1 }, { sise: 1 }] }, { "parts.1.sise": "unknown" }],
  [{ apart: [] }, { apart: "unknown" }],
  [{ note: "x" }, { note: "unknown" }],
  [{ sealed: "x" }, { sealed: "unknown" }],
  [{ part: { remark: "x" } }, { "part.remark": "unknown" }],
  [{ score: 8 }, { score: "readonly" }],
  [{ state: "closed" }, { state: "readonly" }],
  [{ createdAt: "2020-01-01" }, { createdAt: "readonly" }],
  [{ part: { state: "old" } }, { "part.state": "readonly" }],
  [{ parts: [{ state: "old" }] }, { "parts.0.state": "readonly" }],
  [{ parts: [{ _id: "0123456789abcdef01234567" }] }, { "parts.0._id": "readonly" }],
  [{ name: 5, year: "5", free: 1 }, { name: "String", year: "Number" }],
  [{ map: { a: "1" } }, { "map.a": "Number" }],
  [{ lax: { size: "1", any: 1 } }, { "lax.size": "Number" }],
];

test("create() refuses unknown keys, read-only keys and other types, with hooks and without", async () => {
  await using app = await open();
  for (const route of ROUTES) {
    for (const [body, expected] of REFUSED) {
      const { status, body: answer } = await app.post(route, body);
      assertEquals([status, kinds(answer)], [400, expected], JSON.stringify(body));
    }
    assertEquals(await app.read(route), [] as never);
  }
});

test("update() and replace() refuse the same, and change nothing", async () => {
  await using app = await open();
  for (const route of ROUTES) {
    const stored = await app.created(route, { name: "a", parts: [{ size: 1 }] });
    for (const [body, expected] of REFUSED) {
      for (const method of ["PATCH", "PUT"]) {
        const { status, body: answer } = await app.send(method, `${route}/${stored._id}`, { body });
        assertEquals([status, kinds(answer)], [400, expected], method + JSON.stringify(body));
      }
    }
    assertEquals(await app.read(`${route}/${stored._id}`), stored);
  }
});

test("a list and lines are refused by each element, with the problems of the element", async () => {
  await using app = await open();
  for (const route of ROUTES) {
    const bodies = [{ name: "a" }, { nmae: "b" }, { year: "5" }, { name: "d", score: 7 }];
    const many = await app.post<Record<string, unknown>[]>(route, bodies);
    assertEquals(many.body.map(({ status }) => status), [201, 400, 400, 400]);
    assertEquals(many.body.map(kinds), [
      {},
      { nmae: "unknown" },
      { year: "Number" },
      { score: "readonly" },
    ]);
    const lines = await app.send("POST", route, {
      ...NDJSON,
      raw: bodies.map((body) => JSON.stringify(body)).join("\n"),
    });
    const told = lines.text.trim().split("\n").map((line) => JSON.parse(line));
    assertEquals(told.map(({ status }) => status), [201, 400, 400, 400]);
    assertEquals((await app.read<unknown[]>(route)).length, 2);
  }
});

test("updateAll() refuses unknown keys, read-only keys and other types", async () => {
  await using app = await open();
  for (const route of ROUTES) {
    await app.created(route, { name: "a", part: { size: 1 } });
    const path = route + asQuery({});
    for (
      const [body, expected] of [
        [{ nmae: "x" }, { nmae: "unknown" }],
        [{ note: "x" }, { note: "unknown" }],
        [{ score: 7 }, { score: "readonly" }],
        [{ year: 5 }, { year: "fields" }],
        [{ name: 5 }, { name: "String" }],
        [{ state: "closed" }, { state: "readonly" }],
        [{ part: { sise: 1 } }, { "part.sise": "unknown" }],
      ] as const
    ) {
      const { status, body: answer } = await app.patch(path, body);
      assertEquals([status, kinds(answer)], [400, expected], JSON.stringify(body));
    }
    const same = { name: "b", state: "open", part: { state: "new", size: 2 } };
    assertEquals((await app.patch(path, same)).body as unknown, { matched: 1, modified: 1 });
    const none = await app.patch(route + asQuery({ name: "none" }), { name: 5, nmae: 1 });
    assertEquals(kinds(none.body), { nmae: "unknown", name: "String" });
    const nobody = await app.patch(route + asQuery({ name: "none" }), { name: 5 });
    assertEquals(kinds(nobody.body), { name: "String" });
  }
});

test("an action refuses a body of its class by the same rules", async () => {
  await using app = await open();
  const { _id } = await app.created("/direct", {});
  const path = `/direct/${_id}/rate`;
  assertEquals((await app.post(path, { stars: 5 })).status, 200);
  for (
    const [body, expected] of [
      [{ stars: "5" }, { stars: "Number" }],
      [{ stras: 5 }, { stras: "unknown" }],
      [{ by: "me" }, { by: "readonly" }],
      [{ _id }, { _id: "readonly" }],
    ] as const
  ) {
    const { status, body: answer } = await app.post(path, body);
    assertEquals([status, kinds(answer)], [400, expected]);
  }
});

test("parts, embedded and referenced, refuse the same", async () => {
  await using app = await open();
  const { _id } = await app.created("/direct", {});
  for (
    const [property, good, bad, expected] of [
      ["parts", { size: 1 }, { size: "1", sise: 1, state: "x", remark: "x", __v: 0 }, {
        size: "Number",
        sise: "unknown",
        state: "readonly",
        remark: "unknown",
        __v: "unknown",
      }],
      ["actors", { name: "a" }, { name: 1, nmae: 1, createdAt: 1 }, {
        name: "String",
        nmae: "unknown",
        createdAt: "readonly",
      }],
    ] as const
  ) {
    const route = `/direct/${_id}/${property}`;
    assertEquals(kinds((await app.post(route, bad)).body), expected);
    const part = await app.created(route, good);
    assertEquals(kinds((await app.patch(`${route}/${part._id}`, bad)).body), expected);
    const whole = await app.patch(`${route}/${part._id}`, part);
    assertEquals(whole.status, 200, whole.text);
  }
});

test("an entity is accepted as it was read, by PATCH and by PUT", async () => {
  await using app = await open();
  for (const route of ROUTES) {
    const part = { size: 1 };
    const body = { name: "a", part, parts: [part, part], map: { a: 1 }, free: { x: [1] } };
    const made = await app.created(route, { ...body, lax: { size: 1 } });
    const stored = await app.read(`${route}/${made._id}`);
    const patched = await app.patch(`${route}/${stored._id}`, { ...stored, year: 5 });
    assertEquals(patched.status, 200, patched.text);
    assertEquals(patched.body, {
      ...stored,
      year: 5,
      __v: 1,
      updatedAt: patched.body.updatedAt,
    });
    const put = await app.put(`${route}/${stored._id}`, { ...patched.body, name: "b" });
    assertEquals(put.status, 200, put.text);
    assertEquals([put.body.name, put.body.parts], ["b", stored.parts]);
  }
});

test("a read-only key with another value is refused, and an absent one takes null", async () => {
  await using app = await open();
  for (const route of ROUTES) {
    const { _id, ...stored } = await app.created(route, {
      part: { size: 1 },
      parts: [{ size: 1 }],
    });
    const [part] = stored.parts as [Record<string, unknown>];
    for (
      const [body, expected] of [
        [{ score: 7 }, undefined],
        [{ score: 7.5 }, { score: "readonly" }],
        [{ _id }, undefined],
        [{ _id: String(_id).toUpperCase() }, { _id: "readonly" }],
        [{ createdAt: stored.createdAt }, undefined],
        [{ part: { state: "new" } }, undefined],
        [{ part: { state: "old" } }, { "part.state": "readonly" }],
        [{ parts: [{ ...part }] }, undefined],
        [{ parts: [{ ...part, state: "old" }] }, { "parts.0.state": "readonly" }],
        [{ parts: [part, part] }, { "parts.1._id": "readonly", "parts.1.state": "readonly" }],
        [{ map: { gone: null } }, undefined],
        [{ __v: "0" }, { __v: "readonly" }],
      ] as const
    ) {
      const { status, body: answer } = await app.patch(`${route}/${_id}`, body);
      const found = [status, expected && kinds(answer)];
      assertEquals(found, [expected ? 400 : 200, expected], JSON.stringify(body));
    }
  }
});

test("a __v that is not the stored one is a 409", async () => {
  await using app = await open();
  for (const route of ROUTES) {
    const { _id } = await app.created(route, { name: "a" });
    await app.updated(`${route}/${_id}`, { name: "b", __v: 0 });
    const stale = await app.patch<ErrorBody>(`${route}/${_id}`, { name: "c", __v: 0 });
    assertEquals([stale.status, stale.body.code], [409, "CONFLICT"]);
    const put = await app.put<ErrorBody>(`${route}/${_id}`, { name: "c", __v: 0 });
    assertEquals([put.status, put.body.code], [409, "CONFLICT"]);
    assertEquals((await app.put(`${route}/${NEW}`, { name: "c", __v: 3 })).status, 409);
    assertEquals((await app.read(`${route}/${_id}`)).name, "b");
  }
});

const NEW = "0123456789abcdef01234567";

test("of two updates with the same __v, at the same time, one is a 409", async () => {
  await using app = await open();
  for (const route of ROUTES) {
    for (const method of ["PATCH", "PUT"]) {
      const { _id } = await app.created(route, {});
      const bodies = [{ name: "a", __v: 0 }, { year: 5, __v: 0 }, { name: "c", __v: 0 }];
      const replies = await Promise.all(
        bodies.map((body) => app.send(method, `${route}/${_id}`, { body })),
      );
      assertEquals(replies.map(({ status }) => status).sort(), [200, 409, 409]);
      assertEquals((await app.read(`${route}/${_id}`)).__v, 1);
    }
  }
});

test("a field that a function hides is refused as an unknown key, byte for byte", async () => {
  await using app = await open();
  for (const route of ROUTES) {
    const { _id } = await app.created(route, { note: "x" }, AGENT);
    for (const value of ["x", 5, null, { a: 1 }]) {
      for (
        const [method, path] of [
          ["POST", route],
          ["PATCH", `${route}/${_id}`],
          ["PUT", `${route}/${_id}`],
          ["PATCH", route + asQuery({})],
        ] as const
      ) {
        const texts = await Promise.all(["note", "nope"].map(async (key) => {
          const reply = await app.send(method, path, { body: { [key]: value } });
          return `${reply.status} ${reply.text.replaceAll(key, "KEY")}`;
        }));
        assertEquals(texts[0], texts[1]);
        assertEquals(texts[0]?.startsWith("400 "), true, texts[0]);
      }
    }
    assertEquals((await app.updated(`${route}/${_id}`, { note: "y" }, AGENT)).note, "y");
  }
});

test("a hidden field that bodies can set keeps its type", async () => {
  await using app = await open();
  await app.created("/direct", { secret: "x" });
  assertEquals(kinds((await app.post("/direct", { secret: 5 })).body), { secret: "String" });
});

test("a model with strict: false takes unknown keys", async () => {
  await using app = await open();
  for (const route of ROUTES) {
    const body = { lax: { size: 1, any: { x: 1 }, remark: "hidden from customers" } };
    const { _id } = await app.created(route, body);
    await app.updated(`${route}/${_id}`, body);
  }
});

test("without the option, a body may have such keys and values", async () => {
  await using app = await open({});
  const body = { nmae: 1, score: 8, year: "5", name: 5, __v: 9, part: { sise: 1, size: "2" } };
  const made = await app.created("/direct", body);
  assertEquals([made.year, made.name, made.score], [5, "5", 7]);
  await app.updated(`/direct/${made._id}`, body);
});

class Typed extends FrameworkModel {
  @prop({ type: Date })
  at?: Date;
  @prop({ type: Boolean })
  flag?: boolean;
  @prop({ type: Number })
  number?: number;
  @prop({ type: Schema.Types.Double })
  double?: number;
  @prop({ type: Schema.Types.Int32 })
  int?: number;
  @prop()
  text?: string;
  @prop({ type: BigInt })
  big?: bigint;
  @prop({ type: Types.Decimal128 })
  decimal?: Types.Decimal128;
  @prop({ type: Types.ObjectId })
  id24?: Types.ObjectId;
  @prop({ type: Types.UUID })
  uuid?: Types.UUID;
  @prop({ type: Buffer })
  bytes?: Buffer;
  @arrayProp({ items: Date })
  dates?: Date[];
}

@rest({ route: "/typed", methods: [all(), one(), create(), update()] })
class TypedRoot extends Typed {
  static override schemaOptions = { collection: "strict_typed" };
}

const VALUES: Readonly<Record<keyof Typed & string, readonly [good: unknown[], bad: unknown[]]>> = {
  at: [
    [
      ...["2026-02-01", "2024-02-29", "2026-02-01T10:00:00Z", "2026-02-01T10:00:00.123456+02:00"],
      ...["2026-02-01t10:00:00z", "2026-02-01T23:59:59-23:59", null],
    ],
    [
      ...["2026-02-30", "2025-02-29", "1", "", 5, true, "2026-02-01T10:00", "2026-02-01 10:00:00Z"],
      ...["2026-02-01T10:00:00", "2026-02", "20260201", "2026-02-01T24:00:00Z", "Feb 1, 2026"],
      ...["2016-12-31T23:59:60Z", "2026-13-01", "2026-02-01T10:00:00+0100", " 2026-02-01"],
      ...["2026-02-01T10:00:00+24:00", "+002026-02-01", {}, [], "2026-02-30T10:00:00Z"],
    ],
  ],
  flag: [[true, false, null], ["true", 1, 0, "yes", "", {}]],
  number: [[1, 1.5, -0.25, 0, null], ["1", "", true, {}, []]],
  double: [[1, 1.5, null], ["1", true]],
  int: [[1, -5, null], ["1", true, 1.5, 2 ** 31]],
  text: [["", "a", null], [1, true, {}, []]],
  big: [[1, -1, "1", "-9007199254740993", null], [1.5, "", " 1", "0x1", "+1", true, 2 ** 60]],
  decimal: [
    [1, 1.5, "1.50", "-0.1", "1E+3", "Infinity", "-Infinity", "NaN", null],
    ["", "x", "infinity", true, { $numberDecimal: "1.5" }, " 1"],
  ],
  id24: [["0123456789abcdef01234567", null], ["0123456789ABCDEF01234567", "x", 5, "abcdefghijkl"]],
  uuid: [
    ["01234567-89ab-4def-8123-456789abcdef", null],
    ["01234567-89AB-4DEF-8123-456789ABCDEF", "0123456789ab4def8123456789abcdef", 5],
  ],
  bytes: [["AAEC/w==", "", "AAEC", null], ["AAEC/w", "AAEC/x==", "AAEC_w==", 5, "é", [1]]],
  dates: [[["2026-02-01", null], []], [[5], ["2026-02-30"], "2026-02-01"]],
} as never;

test("each type takes the JSON values of its type, and no others", async () => {
  await using app = await mount([TypedRoot], { strict: onlyStrict("bodies") });
  const { _id } = await app.created("/typed", {});
  const wrong: string[] = [];
  for (const [field, [good, bad]] of Object.entries(VALUES)) {
    for (const [values, expected] of [[good, true], [bad, false]] as const) {
      for (const value of values) {
        const body = { [field]: value };
        const made = await app.post("/typed", body);
        const patched = await app.patch(`/typed/${_id}`, body);
        const isRight = [made.status, patched.status].every((status) =>
          expected ? status < 300 : status === 400
        );
        if (!isRight) wrong.push(`${JSON.stringify(body)} ${made.status} ${patched.status}`);
      }
    }
  }
  assertEquals(wrong, []);
});

test("bytes of many megabytes are judged as few bytes are", async () => {
  const prepare = (app: Express) => app.use(express.json({ limit: "30mb" }));
  await using app = await mount([TypedRoot], { strict: onlyStrict("bodies"), prepare });
  const bytes = Buffer.alloc(9 * 2 ** 20, "mongrove").toString("base64");
  assertEquals((await app.post("/typed", { bytes })).status, 201);
  assertEquals(kinds((await app.post("/typed", { bytes: `${bytes}=` })).body), { bytes: "Buffer" });
});

test("what an answer shows of each type can be sent back", async () => {
  await using app = await mount([TypedRoot], { strict: onlyStrict("bodies") });
  const values = Object.entries(VALUES).map(([field, [[first]]]) => [field, first]);
  const made = await app.created("/typed", Object.fromEntries(values));
  const patched = await app.patch(`/typed/${made._id}`, made);
  assertEquals(patched.status, 200, patched.text);
  assertEquals(patched.body, { ...made, __v: 1 });
});

test("a body reads the entity only if it has a key that the caller cannot set", async () => {
  await using app = await mount([TypedRoot], { strict: onlyStrict("bodies") });
  const sent = await watchCommands(app.database.uri);
  const { _id } = await app.created("/typed", { text: "a" });
  await app.updated(`/typed/${_id}`, { text: "b" });
  assertEquals(sent.map(({ name }) => name), ["insert", "findAndModify"]);
  await app.updated(`/typed/${_id}`, { text: "c", __v: 1 });
  assertEquals(sent.slice(2).map(({ name }) => name), ["find", "findAndModify"]);
});

@rest({
  route: "/keyed",
  methods: [all(), create({ many: 9, atomic: false, formats: ["ndjson"] }), replace({ by: "no" })],
})
class Keyed extends FrameworkModel {
  static override schemaOptions = { collection: "strict_keyed" };
  @prop({ type: Number, unique: true, sparse: true })
  no?: number;
  @prop()
  text?: string;
}

test("a list that is written by one statement has its wrong elements refused", async () => {
  await using app = await mount([Keyed], { strict: onlyStrict("bodies") });
  const bodies = [{ no: 1 }, { no: "2" }, { no: 3, text: 3 }, { no: 4, _id: NEW }, { no: 5 }];
  const many = await app.post<Record<string, unknown>[]>("/keyed", bodies);
  assertEquals(many.body.map(({ status }) => status), [201, 400, 400, 400, 201]);
  const raw = bodies.map((body) => JSON.stringify({ ...body, no: undefined })).join("\n");
  const lines = await app.send("POST", "/keyed", { ...NDJSON, raw });
  const told = lines.text.trim().split("\n").map((line) => JSON.parse(line).status);
  assertEquals(told, [201, 201, 400, 400, 201]);
});

test("the key in the body of a replacement has the type of its field", async () => {
  await using app = await mount([Keyed], { strict: onlyStrict("bodies") });
  assertEquals((await app.put("/keyed/5", { no: 5, text: "a" })).status, 201);
  assertEquals((await app.put("/keyed/5", { text: "b", __v: 0 })).status, 200);
  assertEquals(kinds((await app.put("/keyed/5", { no: "5" })).body), { no: "Number" });
  assertEquals(kinds((await app.put("/keyed/5", { no: 6 })).body), { no: "key" });
  assertEquals(kinds((await app.put("/keyed/6", { _id: NEW })).body), { _id: "readonly" });
});
