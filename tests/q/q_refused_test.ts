import { assert, assertEquals, assertStringIncludes } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import type { Express } from "express-types";
import { arrayProp, FrameworkModel, getModel, prop, rest } from "../../mod.ts";
import type { Client } from "../support/client.ts";
import { SIX } from "../fixtures/operations.ts";
import { requestRaw } from "../harness/request_raw.ts";
import { test } from "../harness/testing.ts";
import { asQuery, mount, type MountOptions } from "../support/support.ts";

class RefusedPart extends FrameworkModel {
  @prop()
  label?: string;
  @prop({ hidden: true })
  secret?: string;
  @prop({ type: () => RefusedPart })
  inner?: RefusedPart;
}

@rest({
  route: "/things",
  methods: SIX,
  schemaOptions: { collection: "q_refused" },
})
class Refused extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Number })
  year?: number;
  @prop({ hidden: true })
  password?: string;
  @prop({ type: RefusedPart, hidden: true })
  vault?: RefusedPart;
  @prop({ type: Object, hidden: true })
  notes?: object;
  @prop({ type: RefusedPart })
  part?: RefusedPart;
  @arrayProp({ items: RefusedPart, embedded: true })
  parts?: RefusedPart[];
  @prop({ type: Map, of: RefusedPart })
  map?: Map<string, unknown>;
  @arrayProp({ items: String })
  tags?: string[];
  @arrayProp({ items: () => Refused })
  others?: string[];
  @prop({ type: Object })
  free?: object;
}

interface Refusal {
  code: string;
  message: string;
  operator?: string;
  field?: string;
}

async function seed(): Promise<string> {
  const part = { label: "x", secret: "s" };
  const doc = await getModel(Refused).create({
    name: "a",
    year: 1999,
    password: "p",
    vault: part,
    notes: { x: 1 },
    part,
    parts: [part],
    map: { k: part },
    tags: ["t"],
    free: { a: 1 },
  } as never);
  return String(doc._id);
}

/** Sends a query string to each operation that honours `q`, and checks that all refuse it alike. */
async function refusedEverywhere({ send }: Client, id: string, query: string): Promise<Refusal> {
  const calls: [string, string][] = [
    ["GET", "/things"],
    ["GET", `/things/${id}`],
    ["PATCH", `/things/${id}`],
    ["DELETE", `/things/${id}`],
    ["DELETE", "/things"],
  ];
  let refusal: Refusal | undefined;
  for (const [method, path] of calls) {
    const body = method === "PATCH" ? { name: "changed" } : undefined;
    const reply = await send<Refusal>(method, path + query, { body });
    assertEquals([method, reply.status, reply.body.code], [method, 400, "BAD_FORMAT"]);
    if (refusal !== undefined) assertEquals(reply.body, refusal);
    refusal = reply.body;
  }
  return refusal as Refusal;
}

/** Serves an entity that nothing may change. */
async function unchanged(
  run: (app: Client, id: string) => Promise<void>,
  options: MountOptions = {},
): Promise<void> {
  await using app = await mount([Refused], options);
  const id = await seed();
  const before = await getModel(Refused).find().lean();
  await run(app, id);
  assertEquals(await getModel(Refused).find().lean(), before);
}

/** Each second or third case of a product: all of its factors come in several. */
const some = <T>(every: number, cases: readonly T[]) => cases.filter((_, at) => at % every === 0);

/** Runs a table of filters that every operation refuses, each with what the refusal names. */
function refuses(name: string, named: "operator" | "field", cases: [unknown, string][]): void {
  test(name, (t) =>
    unchanged(async (app, id) => {
      for (const [filter, expected] of cases) {
        await t.step(JSON.stringify(filter).slice(0, 90), async () => {
          const refusal = await refusedEverywhere(app, id, asQuery(filter));
          assertEquals(refusal[named], expected);
          assertStringIncludes(refusal.message, `"${expected}"`);
        });
      }
    }));
}

const FORBIDDEN: [string, unknown][] = [
  ["$where", "sleep(1000) || true"],
  ["$expr", { $function: { body: "function() { return true }", args: [], lang: "js" } }],
  ["$function", { body: "function() { return true }", args: [], lang: "js" }],
  ["$accumulator", {}],
  ["$jsonSchema", { required: ["password"] }],
  ["$text", { $search: "a" }],
  ["$comment", "x"],
  ["$lookup", { from: "users" }],
  ["$unionWith", "users"],
  ["$alwaysTrue", 1],
  ["$set", { name: "x" }],
  ["$rand", {}],
  ["$sampleRate", 1],
  ["$code", "1"],
  ["$ref", "users"],
  ["$eq", { name: "a" }],
  ["$not", { name: "a" }],
  ["$oid", "507f1f77bcf86cd799439011"],
  ["$AND", [{}]],
  ["$", 1],
];

/** Every place where an operator of the top level may be hidden. */
const TOP_LEVEL: ((inner: object) => object)[] = [
  (inner) => inner,
  (inner) => ({ name: "a", ...inner }),
  (inner) => ({ $and: [inner] }),
  (inner) => ({ $or: [{ name: "a" }, inner] }),
  (inner) => ({ $nor: [{ $or: [{ $and: [{ name: "a" }, inner] }] }] }),
  (inner) => ({ parts: { $elemMatch: { label: "x", ...inner } } }),
  (inner) => ({ parts: { $not: { $elemMatch: { $or: [inner] } } } }),
];

refuses(
  "q is refused when it holds an operator that is not allowed, at any depth",
  "operator",
  some(
    3,
    FORBIDDEN.flatMap(([operator, operand]) =>
      TOP_LEVEL.map((wrap): [unknown, string] => [wrap({ [operator]: operand }), operator])
    ),
  ),
);

refuses(
  "q is refused when a condition on a field holds an operator that is not allowed",
  "operator",
  some(
    2,
    ["$where", "$expr", "$function", "$jsonSchema", "$text", "$and", "$or", "$nor", "$comment"]
      .concat("$set", "$slice", "$bitsAllSet", "$eQ", "$", "$__proto__", "$oid")
      .flatMap((operator): [unknown, string][] => [
        [{ name: { $ne: "x", [operator]: "1" } }, operator],
        [{ name: { $not: { $ne: "x", [operator]: "1" } } }, operator],
        [{ "free.a": { [operator]: "1", $ne: 0 } }, operator],
        [{ tags: { $elemMatch: { $ne: "x", $not: { [operator]: "1", $ne: "y" } } } }, operator],
        [{ $or: [{ "parts.label": { [operator]: 1, $in: [] } }] }, operator],
      ]),
  ),
);

refuses("q is refused when a key inside a literal is an operator or reaches a prototype", "field", [
  [{ free: { a: { $where: "1" } } }, "free.a"],
  [{ free: { $eq: { a: { $gt: 1 } } } }, "free.a"],
  [{ free: { $in: [{ a: 1, $where: "1" }] } }, "free"],
  [{ free: [{ $where: "1" }] }, "free"],
  [{ "free.a": { x: [{ y: { $expr: 1 } }] } }, "free.a.x.y"],
  [{ free: { x: { ["__proto__"]: { a: 1 } } } }, "free.x"],
  [{ free: { constructor: 1 } }, "free"],
  [{ free: { a: { prototype: 1 } } }, "free.a"],
  [{ free: { "a\0b": 1 } }, "free"],
  [{ free: { _bsontype: "Code" } }, "free"],
  [{ free: { $elemMatch: { _bsontype: "Code" } } }, "_bsontype"],
  [{ free: { x: { _bsontype: "ObjectId" } } }, "free.x"],
  [{ tags: { $all: [{ $elemMatch: { $eq: "t" } }] } }, "tags"],
  [{ name: { $in: [{ $regex: "^a" }] } }, "name"],
]);

const SECRETS = [
  "password",
  "password.x",
  "password.0",
  "vault",
  "vault.label",
  "vault.secret",
  "vault.inner.label",
  "notes",
  "notes.x",
  "part.secret",
  "part.secret.x",
  "part.inner.secret",
  "parts.secret",
  "parts.0.secret",
  "parts.0.inner.inner.secret",
  "map.k.secret",
];
const UNKNOWN = ["nothing", "name.x", "part.nothing", "parts.0.nothing", "others.name", "tags.x"]
  .concat("others.0.password", "Name", "", ".", "name.", "part..label", "part.$label", "name\0")
  .concat("constructor", "toString", "map.__proto__", "free.__proto__.x", "free.a.constructor");

refuses(
  "q is refused when it names a secret or what is not declared, and tells no difference",
  "field",
  some(
    2,
    [...SECRETS, ...UNKNOWN, "__proto__"].flatMap((path) => {
      const clause = (value: unknown) => Object.fromEntries([[path, value]]);
      return [
        [clause("x"), path],
        [clause({ $exists: true }), path],
        [{ name: "a", $or: [{ year: 1 }, { $nor: [clause({ $regex: "^a" })] }] }, path],
      ] as [unknown, string][];
    }),
  ),
);

refuses("q is refused when it names a secret inside of $elemMatch", "field", [
  [{ parts: { $elemMatch: { secret: "s" } } }, "secret"],
  [{ parts: { $elemMatch: { "secret.x": 1 } } }, "secret.x"],
  [{ parts: { $elemMatch: { $or: [{ secret: { $gt: "" } }] } } }, "secret"],
  [{ parts: { $not: { $elemMatch: { "inner.secret": "s" } } } }, "inner.secret"],
  [{ "parts.inner": { $elemMatch: { secret: "s" } } }, "parts.inner"],
  [{ part: { $elemMatch: { secret: "s" } } }, "part"],
  [{ map: { $elemMatch: { secret: "s" } } }, "map"],
]);

refuses(
  "q is refused when it compares an object that holds a secret as a whole",
  "field",
  some(
    2,
    ["part", "parts", "parts.0", "part.inner", "map", "map.k"].flatMap((path) =>
      [
        { label: "x", secret: "s" },
        { secret: { x: 1 } },
        {},
        null,
        [],
        { $eq: { label: "x", secret: "s" } },
        { $ne: {} },
        { $gt: { label: "x", secret: "r" } },
        { $gte: {} },
        { $lt: { label: "x", secret: "t" } },
        { $lte: null },
        { $in: [{ label: "x", secret: "s" }] },
        { $nin: [] },
        { $all: [{ label: "x", secret: "s" }] },
        { $not: { $gt: { label: "x", secret: "r" } } },
      ].map((condition): [unknown, string] => [{ [path]: condition }, path])
    ),
  ),
);

refuses("q is refused when an operand is malformed", "operator", [
  [{ $and: {} }, "$and"],
  [{ $or: [] }, "$or"],
  [{ $nor: "x" }, "$nor"],
  [{ name: { $in: "a" } }, "$in"],
  [{ name: { $nin: { 0: "a" } } }, "$nin"],
  [{ tags: { $all: null } }, "$all"],
  [{ name: { $exists: "yes" } }, "$exists"],
  [{ name: { $type: {} } }, "$type"],
  [{ name: { $type: [] } }, "$type"],
  [{ tags: { $size: -1 } }, "$size"],
  [{ tags: { $size: { $gt: 1 } } }, "$size"],
  [{ year: { $mod: 2 } }, "$mod"],
  [{ year: { $mod: [0, 1] } }, "$mod"],
  [{ year: { $mod: ["2", 1] } }, "$mod"],
  [{ name: { $regex: {} } }, "$regex"],
  [{ name: { $regex: { $where: "1" } } }, "$regex"],
  [{ name: { $regex: "a\0" } }, "$regex"],
  [{ part: { $regex: "a" } }, "$regex"],
  [{ map: { $regex: "a" } }, "$regex"],
  [{ name: { $regex: "a", $options: "g" } }, "$options"],
  [{ name: { $regex: "a", $options: { $where: "1" } } }, "$options"],
  [{ name: { $options: "i" } }, "$options"],
  [{ name: { $not: "a" } }, "$not"],
  [{ name: { $not: {} } }, "$not"],
  [{ tags: { $elemMatch: "t" } }, "$elemMatch"],
  [{ name: { $elemMatch: { $eq: "a" } } }, "$elemMatch"],
  [{ free: { $near: "here" } }, "$near"],
  [{ free: { $geoWithin: { $where: "1" } } }, "$geoWithin"],
  [{ free: { $geoWithin: { $geometry: { type: "Point", coordinates: ["0"] } } } }, "$geoWithin"],
  [{ free: { $near: { $geometry: { type: "Code", coordinates: [0, 0] } } } }, "$near"],
  [{ free: { $near: { $geometry: { type: "Point", coordinates: [0, 0], crs: {} } } } }, "$near"],
  [{ name: { $near: [0, 0] } }, "$near"],
]);

refuses("q is refused when a value cannot be cast", "field", [
  [{ year: "many" }, "year"],
  [{ year: { $gt: {} } }, "year"],
  [{ year: { $in: [1, [2]] } }, "year"],
  [{ _id: "me" }, "_id"],
  [{ _id: { $oid: "me" } }, "_id"],
  [{ others: { $in: ["x"] } }, "others"],
  [{ name: ["a"] }, "name"],
  [{ name: { a: 1 } }, "name"],
  [{ year: { $date: "never" } }, "year"],
  [{ "free.x": { $numberLong: "99999999999999999999" } }, "free.x"],
]);

/** Query strings that are no filter at all, as they go over the wire. */
const MALFORMED = [
  "?q",
  "?q=",
  "?q=%20",
  "?q=x",
  "?q=null",
  "?q=true",
  "?q=5",
  "?q=%22x%22",
  "?q=[]",
  "?q=[{}]",
  "?q={name:1}",
  "?q=%7B",
  "?q=%",
  "?q=%7B%22name%22:%22%FF%22%7D",
  "?q=%7B%22name%22:%22%ZZ%22%7D",
  "?q={}&q={}",
  "?q={}&%71={}",
  "?q={}&q",
  "?q[]={}",
  "?q[name]=a",
  "?q[$where]=1",
  "?q%5Bname%5D%5B$ne%5D=a",
  "?%71[name]=a",
  "?[q]=a",
  "?q={}&q[name]=a",
  "?page=1&q[name]=a",
  "?q[",
];

const PARSERS: [string, (app: Express) => unknown][] = [
  ["the simple parser", (app) => app.set("query parser", "simple")],
  ["the extended parser", (app) => app.set("query parser", "extended")],
  ["no parser", (app) => app.set("query parser", false)],
  ["a parser of the host's own", (app) => app.set("query parser", () => ({}))],
];

for (const [name, configure] of PARSERS) {
  test(`q is refused when it is malformed, with ${name}`, async (t) => {
    const prepare = (app: Express) => {
      configure(app);
      app.use(express.json());
    };
    await unchanged(async (app, id) => {
      for (const query of MALFORMED) {
        await t.step(query, async () => void await refusedEverywhere(app, id, query));
      }
    }, { prepare });
  });

  test(`q is honoured, with ${name}`, async () => {
    const prepare = (app: Express) => {
      configure(app);
      app.use(express.json());
    };
    await using app = await mount([Refused], { prepare });
    await seed();

    await app.delete(`/things${asQuery({ name: "b" })}`);
    assertEquals(await getModel(Refused).countDocuments(), 1);
    await app.delete(`/things${asQuery({ name: "a" })}`);
    assertEquals(await getModel(Refused).countDocuments(), 0);
  });
}

test("removeAll() deletes nothing when q comes over a raw socket in an odd form", async (t) => {
  await using app = await mount([Refused]);
  await seed();
  const targets = [
    "/things?q=\xff",
    "/things#?q=x",
    "/things??q=x",
    "http://evil.example/things?q=",
  ]
    .concat("/things?a#&q=x", "/THINGS/?q=%00", "/things?&&q=x&", '/things?q={"name":"\xff"}');
  for (const target of targets) {
    await t.step(JSON.stringify(target), async () => {
      const head = `DELETE ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
      const { status } = await requestRaw(
        app.url,
        Uint8Array.from(head, (each) => each.charCodeAt(0)),
      );
      assertEquals(status, 400);
      assertEquals(await getModel(Refused).countDocuments(), 1);
    });
  }
});

/** Nests a filter so that it is `depth` deep. */
function nest(depth: number): object {
  return depth === 1 ? {} : { $and: [nest(depth - 1)] };
}

test("q is refused when it is over the caps by default", async (t) => {
  const over: [string, unknown, unknown][] = [
    ["depth", nest(20), nest(21)],
    ["conditions", { $or: Array(199).fill({ year: 1 }) }, { $or: Array(200).fill({ year: 1 }) }],
    ["list", { year: { $in: Array(1000).fill(1) } }, { year: { $in: Array(1001).fill(1) } }],
    ["expression", { name: { $regex: "a".repeat(200) } }, { name: { $regex: "a".repeat(201) } }],
  ];
  await using app = await mount([Refused]);
  const id = await seed();
  for (const [name, within, beyond] of over) {
    await t.step(name, async () => {
      assertEquals((await app.get(`/things${asQuery(within)}`)).status, 200);
      await refusedEverywhere(app, id, asQuery(beyond));
    });
  }
});

test("initialize() sets the caps on q when the host gives some", async () => {
  const queryLimits = { maxDepth: 2, maxClauses: 2, maxList: 1, maxRegex: 2 };
  await using app = await mount([Refused], { limits: { query: queryLimits } });
  const id = await seed();
  const within = [nest(2), { name: "a", year: 1 }, { year: { $in: [1] } }, {
    name: { $regex: "aa" },
  }];
  const beyond = [nest(3), { name: "a", year: 1, tags: "t" }, { year: { $in: [1, 2] } }, {
    name: { $regex: "aaa" },
  }];

  for (const filter of within) {
    assertEquals((await app.get(`/things${asQuery(filter)}`)).status, 200);
  }
  for (const filter of beyond) await refusedEverywhere(app, id, asQuery(filter));
});

test("a cap on q that is undefined keeps its default", async () => {
  const none = { maxDepth: undefined, maxList: undefined } as never;
  await using app = await mount([Refused], { limits: { query: none } });
  const id = await seed();
  await refusedEverywhere(app, id, asQuery({ year: { $in: Array(1001).fill(1) } }));
  await refusedEverywhere(app, id, asQuery(nest(21)));
});

test("q is refused when it is nested thousands deep, and the process lives on", async (t) => {
  const deep = [
    `{"$and":[`.repeat(1000) + "{}" + "]}".repeat(1000),
    `{"free":` + "[".repeat(6000) + "]".repeat(6000) + "}",
    `{"free":` + `{"a":`.repeat(2000) + "1" + "}".repeat(2000) + "}",
    `{"name":` + `{"$not":`.repeat(1500) + "1" + "}".repeat(1500) + "}",
  ];
  await using app = await mount([Refused]);
  await seed();
  for (const text of deep) {
    await t.step(text.slice(0, 20), async () => {
      const head = `DELETE /things?q=${text} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
      const { status, body } = await requestRaw(app.url, head);
      assertEquals(status, 400);
      assertStringIncludes(body, "BAD_FORMAT");
      assertEquals(await getModel(Refused).countDocuments(), 1);
    });
  }
});

test("all() stops an expression that takes the database too long, and answers others meanwhile", async () => {
  await using app = await mount([Refused], { limits: { timeMS: 4000 } });
  const text = "a".repeat(5000);
  await getModel(Refused).create(Array.from({ length: 200 }, () => ({ name: text })) as never);
  const slow = asQuery({ name: { $regex: "^(a|aa|aaa)*(a|aa|aaa)*(a|aa|aaa)*$b" } });

  const [evil, good] = await Promise.all([
    app.get(`/things${slow}`),
    app.get(`/things${asQuery({ year: 1 })}`),
  ]);

  assert([200, 400, 503].includes(evil.status), `status ${evil.status}`);
  assertEquals(good.status, 200);
});

test("create() takes no notice of q", async () => {
  await using app = await mount([Refused]);

  const { status } = await app.post("/things?q=x", { name: "a" });

  assertEquals(status, 201);
});
