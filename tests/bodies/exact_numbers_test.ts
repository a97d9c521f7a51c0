import { assertEquals, assertStringIncludes } from "@std/assert";
import mongoose from "mongoose";
import {
  action,
  all,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  getModel,
  one,
} from "../../mod.ts";
import { prop, remove, removeAll, replace, rest, update, updateAll } from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { test } from "../harness/testing.ts";
import { type EntityBody, type ErrorBody, mount, type Mounted } from "../support/support.ts";

const { Decimal128 } = mongoose.Types;
const { Long } = mongoose.mongo;

class Part extends FrameworkModel {
  @prop({ type: BigInt })
  no?: bigint;
  @prop({ type: Number })
  n?: number;
}

class Counted extends FrameworkModel {
  @prop({ type: BigInt })
  no?: bigint;
  @prop({ type: Number })
  n?: number;
  @prop({ type: Decimal128 })
  price?: mongoose.Types.Decimal128;
  @prop()
  text?: string;
  @prop({ type: Object })
  free?: object;
  @arrayProp({ items: BigInt })
  nos?: bigint[];
  @prop({ type: Map, of: BigInt })
  map?: Map<string, bigint>;
  @prop({ type: Part })
  part?: Part;
}

const set = action("set", {
  on: "one",
  body: Part,
  run: async (_req, entity: Entity<Plain>, body) => {
    entity.no = body.no as bigint;
    return await entity.save();
  },
});

const fields = ["no", "n", "price", "text", "free", "nos", "map", "part"] as const;
const schemaOptions = { collection: "exact_numbers" } as const;
const many = { many: 5, atomic: false, formats: ["ndjson"] } as const;
const methods = [
  ...[all(), one(), create(many), update(), updateAll({ fields, max: 5 }), replace(), remove()],
  ...[removeAll(), set],
] as const;

@rest({ route: "/plain", methods, schemaOptions })
class Plain extends Counted {
  @rest({ methods: [all(), create(), update()] })
  @arrayProp({ items: Part, embedded: true })
  parts?: Part[];
}

@rest({
  route: "/hooked",
  methods: [
    all({ preSend: pass }),
    create({ preSave: pass, many: 5 }),
    update({ preSave: pass }),
    updateAll({ preSave: pass, fields, max: 5 }),
    replace({ preSave: pass }),
  ],
  schemaOptions: { collection: "exact_hooked" },
})
class Hooked extends Counted {}

/** Bodies as clients write them, with the path of the number. */
const REFUSED: readonly (readonly [path: string, body: string])[] = [
  ["no", '{"no":9007199254740993}'],
  ["no", '{"no":-9007199254740993}'],
  ["no", '{"no":1e400}'],
  ["n", '{"n":9007199254740993}'],
  ["n", '{"n":1234567890123456789}'],
  ["n", '{"n":"9007199254740993"}'],
  ["n", '{"n":-1e400}'],
  ["price", '{"price":9007199254740993}'],
  ["price", '{"price":1e400}'],
  ["text", '{"text":9007199254740993}'],
  ["text", '{"text":1e400}'],
  ["free.a.0", '{"free":{"a":[1e400]}}'],
  ["free.a", '{"free":{"a":9007199254740993}}'],
  ["nos.1", '{"nos":[1,9007199254740993]}'],
  ["map.k", '{"map":{"k":9007199254740993}}'],
  ["part.no", '{"part":{"no":9007199254740993}}'],
];

const TAKEN: readonly (readonly [body: string, shown: object])[] = [
  ['{"no":"9007199254740993"}', { no: "9007199254740993" }],
  ['{"no":9007199254740991}', { no: 9007199254740991 }],
  ['{"n":1.5e20}', { n: 1.5e20 }],
  ['{"n":150000000000000000000}', { n: 1.5e20 }],
  ['{"n":1e300}', { n: 1e300 }],
  ['{"n":0.1}', { n: 0.1 }],
  ['{"n":"1e300"}', { n: 1e300 }],
  ['{"n":"9007199254740992"}', { n: 9007199254740992 }],
  ['{"price":0.1}', { price: "0.1" }],
  ['{"price":"9007199254740993"}', { price: "9007199254740993" }],
  ['{"text":"9007199254740993"}', { text: "9007199254740993" }],
  ['{"free":{"a":[1e300,"9007199254740993"]}}', { free: { a: [1e300, "9007199254740993"] } }],
];

const JSON_TYPE = { "content-type": "application/json" };

async function send(app: Mounted, [method, path]: readonly [string, string], raw: string) {
  return await app.send<ErrorBody & EntityBody>(method, path, { raw, headers: JSON_TYPE });
}

async function refused(
  app: Mounted,
  sent: readonly [string, string],
  [path, raw]: readonly string[],
) {
  const { status, body, text } = await send(app, sent, raw ?? "");
  assertEquals([status, body.code], [400, "BAD_DATA"], `${sent} ${raw} ${text}`);
  // A text of such digits is refused, too.
  const advice = path === "n" ? "the field holds about 15 digits" : "as text";
  assertStringIncludes(body.errors?.[path ?? ""]?.message ?? text, advice);
}

test("a body with a number that JavaScript may have rounded is refused by each operation", async (t) => {
  await using app = await mount([Plain, Hooked]);
  for (const route of ["/plain", "/hooked"]) {
    const { _id } = await app.created(route, { no: 1 });
    const operations = [
      ...[["POST", route], ["PATCH", `${route}/${_id}`], ["PATCH", `${route}?q={}`]] as const,
      ["PUT", `${route}/${_id}`] as const,
    ];
    for (const operation of operations) {
      await t.step(operation.join(" "), async () => {
        for (const each of REFUSED) await refused(app, operation, each);
      });
    }
    const model = getModel(route === "/plain" ? Plain : Hooked);
    assertEquals(await model.countDocuments({ no: 1n }), 1, "nothing is written");
    assertEquals(await model.countDocuments(), 1, "nothing is created");
  }
});

test("a list and lines tell which of them has a number that may have been rounded", async () => {
  await using app = await mount([Plain]);
  const bodies = ['{"no":1}', '{"no":9007199254740993}', '{"price":1e400}'];
  const listed = await send(app, ["POST", "/plain"], `[${bodies}]`);
  const fates = listed.body as unknown as { status: number }[];
  assertEquals(fates.map(({ status }) => status), [201, 400, 400], listed.text);
  const lines = await app.send("POST", "/plain", {
    raw: bodies.join("\n"),
    headers: { "content-type": "application/x-ndjson" },
  });
  const told = lines.text.trim().split("\n").map((each) => JSON.parse(each).status);
  assertEquals(told, [201, 400, 400], lines.text);
});

test("actions and parts refuse numbers that may have been rounded", async () => {
  await using app = await mount([Plain]);
  const { _id } = await app.created("/plain", { parts: [{ no: 1 }] });
  const path = `/plain/${_id}`;
  const [part] = await app.read<EntityBody[]>(`${path}/parts`);
  const sent = ["no", '{"no":9007199254740993}'];
  await refused(app, ["POST", `${path}/set`], sent);
  await refused(app, ["POST", `${path}/parts`], sent);
  await refused(app, ["PATCH", `${path}/parts/${part?._id}`], sent);
  await refused(app, ["PATCH", path], ["parts.0.no", '{"parts":[{"no":9007199254740993}]}']);
});

test("a body keeps numbers that are exact, and text", async () => {
  await using app = await mount([Plain, Hooked]);
  for (const route of ["/plain", "/hooked"]) {
    for (const [raw, shown] of TAKEN) {
      const { status, body, text } = await send(app, ["POST", route], raw);
      assertEquals(status, 201, `${raw} ${text}`);
      assertEquals({ ...body, ...shown }, body, raw);
    }
  }
});

/** Stores neighbours that a rounded number would confuse. */
async function open() {
  const app = await mount([Plain]);
  await getModel(Plain).collection.insertMany([
    { no: Long.fromString("9007199254740992"), n: 9007199254740992, text: "2" },
    { no: Long.fromString("9007199254740993"), n: 9007199254740994, text: "3" },
    { price: Decimal128.fromString("0.1234567890123456789"), n: 1e300, text: "p" },
    { price: Decimal128.fromString("0.12345678901234568"), text: "q" },
    { n: Long.fromString("9007199254740993"), text: "l" },
  ]);
  return app;
}

const ASKED: readonly (readonly [q: string, texts: string | number])[] = [
  ['{"no":9007199254740993}', 400],
  ['{"no":{"$in":[1,9007199254740993]}}', 400],
  ['{"no":{"$ne":9007199254740993}}', 400],
  ['{"$nor":[{"no":{"$not":{"$gt":9007199254740993}}}]}', 400],
  ['{"no":1152921504606847000}', 400],
  ['{"no":{"$lt":9.007199254740993e15}}', 400],
  ['{"n":9007199254740993}', 400],
  ['{"n":"9007199254740993"}', 400],
  ['{"n":{"$lt":1e400}}', 400],
  ['{"n":{"$mod":[9007199254740993,0]}}', 400],
  ['{"price":0.1234567890123456789}', 400],
  ['{"price":{"$gt":1e300}}', 400],
  ['{"text":9007199254740993}', 400],
  ['{"free.a":9007199254740993}', 400],
  ['{"parts":{"$elemMatch":{"no":9007199254740993}}}', 400],
  ['{"no":{"$numberLong":"9007199254740993"}}', "3"],
  ['{"no":"9007199254740993"}', "3"],
  ['{"no":9007199254740992}', "2"],
  ['{"no":{"$in":[9007199254740992,{"$numberLong":"9007199254740993"}]}}', "23"],
  ['{"n":9007199254740992}', "2"],
  ['{"n":9007199254740994}', "3"],
  ['{"n":{"$numberLong":"9007199254740993"}}', "l"],
  ['{"n":{"$gt":{"$numberLong":"9007199254740993"}}}', "3p"],
  ['{"n":1e300}', "p"],
  ['{"n":{"$lt":1.5e20}}', "23l"],
  ['{"n":{"$gt":0.12345678901234567890}}', "23pl"],
  ['{"price":{"$numberDecimal":"0.1234567890123456789"}}', "p"],
  ['{"price":"0.1234567890123456789"}', "p"],
  ['{"price":{"$gt":0.1}}', "pq"],
  ['{"price":{"$lt":{"$numberLong":"9007199254740993"}}}', "pq"],
  ['{"text":"9007199254740993"}', ""],
  ['{"free.9007199254740993":1}', ""],
];

test("q selects by exact numbers, and refuses those that JavaScript rounds", async () => {
  await using app = await open();
  for (const [q, expected] of ASKED) {
    const { status, body, text } = await app.get<EntityBody[] & ErrorBody>(
      `/plain?q=${encodeURIComponent(q)}`,
    );
    if (typeof expected === "number") {
      assertEquals([status, body.code], [400, "BAD_FORMAT"], `${q} ${text}`);
      assertStringIncludes(text, "as text");
    } else {
      assertEquals(status, 200, `${q} ${text}`);
      assertEquals(body.map((each) => each.text).join(""), expected, q);
    }
  }
});

test("q with a number that JavaScript rounds removes and changes nothing", async () => {
  await using app = await open();
  const path = `/plain?q=${encodeURIComponent('{"no":9007199254740993}')}`;
  const { status, body } = await app.delete<ErrorBody>(path);
  assertEquals([status, body.code], [400, "BAD_FORMAT"]);
  assertStringIncludes(body.message, '{"$numberLong":"9007199254740993"}');
  assertEquals((await app.patch(path, { text: "changed" })).status, 400);
  assertEquals((await app.read<unknown[]>("/plain")).length, 5);
  const exact = encodeURIComponent('{"no":{"$numberLong":"9007199254740993"}}');
  assertEquals((await app.delete(`/plain?q=${exact}`)).status, 204);
  const left = await app.read<EntityBody[]>("/plain");
  assertEquals(left.map(({ text }) => text).join(""), "2pql");
});
