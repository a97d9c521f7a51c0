import { assert, assertEquals, assertThrows } from "@std/assert";
import { Buffer } from "node:buffer";
import { gzipSync } from "node:zlib";
import { Schema, type Types } from "mongoose";
import {
  all,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  rest,
} from "../../../mod.ts";
import type { FrameworkRequest } from "../../../mod.ts";
import { documentOf } from "../../support/documented.ts";
import { test } from "../../harness/testing.ts";
import { mount, type Mounted } from "../../support/support.ts";
import { importTable, sendTable } from "./csv.ts";
import { onlyStrict } from "../../support/only_strict.ts";

class Place extends FrameworkModel {
  @prop()
  city?: string;
  @prop({ type: Number })
  lat?: number;
  @prop({ readonly: true })
  code?: string;
}

@rest({ route: "/owners", methods: [one()] })
class Owner extends FrameworkModel {
  @prop()
  name?: string;
}

function isNoBoss(req: FrameworkRequest): boolean {
  return req.get("x-role") !== "boss";
}

const OPTIONS = { many: 3, atomic: false, formats: ["ndjson", "csv"] } as const;

@rest({ route: "/things", methods: [all(), create(OPTIONS)] })
@rest({ route: "/hooked", methods: [create({ ...OPTIONS, preSave: (_req, thing) => thing })] })
@rest({ route: "/closed", methods: [create({ ...OPTIONS, preFetch: () => false })] })
@rest({ route: "/lines", methods: [create({ many: 3, atomic: false, formats: ["ndjson"] })] })
class Thing extends FrameworkModel {
  static override schemaOptions = { timestamps: true };
  @prop({ required: true })
  name!: string;
  @prop({ type: Number, max: 100 })
  rank?: number;
  @prop({ type: Boolean })
  open?: boolean;
  @prop({ type: Date })
  at?: Date;
  @prop({ type: BigInt })
  big?: bigint;
  @prop({ type: Schema.Types.Decimal128 })
  price?: Types.Decimal128;
  @prop({ type: Buffer })
  bytes?: Buffer;
  @prop({ type: Place })
  place?: Place;
  @prop({ ref: Owner })
  owner?: Ref<Owner>;
  @arrayProp({ items: String })
  tags?: string[];
  @prop({ type: Object })
  free?: object;
  @prop({ type: Map, of: Number })
  counts?: Map<string, number>;
  @prop({ hidden: true })
  password?: string;
  @prop({ select: false })
  quiet?: string;
  @prop({ readonly: true })
  state?: string;
  @prop({ hidden: isNoBoss })
  margin?: string;
  @prop({ readonly: isNoBoss })
  grade?: string;
}

class Box extends FrameworkModel {
  @prop({ required: true })
  label!: string;
  @prop({ type: Number })
  size?: number;
}

@rest({ route: "/shelves", methods: [one()] })
class Shelf extends FrameworkModel {
  @rest({ methods: [create(OPTIONS)] })
  @arrayProp({ items: Box, embedded: true, apart: false })
  boxes?: Box[];
  @rest({ methods: [create(OPTIONS)] })
  @arrayProp({ items: Thing })
  things?: Ref<Thing>[];
}

const MODELS = [Thing, Owner, Shelf];

async function open(options = {}): Promise<Mounted> {
  const app = await mount(MODELS, options);
  await getModel(Thing).init();
  return app;
}

/** Gives the stored things in their order, without what the framework sets. */
async function stored(): Promise<Record<string, unknown>[]> {
  const found = await getModel(Thing).collection.find({}, { sort: { _id: 1 }, promoteLongs: false })
    .toArray();
  const ofFramework = ["_id", "__v", "createdAt", "updatedAt"];
  return found.map((each) =>
    Object.fromEntries(Object.entries(each).filter(([name]) => !ofFramework.includes(name)))
  );
}

const OWNER = "6a5f1c2a9b1e8a0012a4d004";

const TABLE = [
  "name,rank,open,at,big,price,bytes,place.city,place.lat,owner,password,quiet",
  `a,1.5,true,2024-03-09,9007199254740993,0.10,AQI=,Rome,-2,${OWNER},secret,soft`,
  'b,,FALSE,,,,,,,,,""',
  '"c, d","-7",TRUE,2024-03-09T01:02:03.004Z,-1,1E3,,"",,,,',
].join("\r\n");

for (const bodies of ["strict", "loose"] as const) {
  test(`an import of a table reads each cell by the type of its field, with ${bodies} bodies`, async () => {
    await using app = await open(bodies === "strict" ? { strict: onlyStrict("bodies") } : {});
    const fates = await importTable(app, "/things", { raw: TABLE });
    assertEquals(fates.map(({ line, status }) => [line, status]), [[2, 201], [3, 201], [4, 201]]);
    const things = await stored();
    const [first, second, third] = ["a", "b", "c, d"].map((name) =>
      things.find((each) => each.name === name)
    );
    assertEquals(JSON.parse(JSON.stringify(first)), {
      name: "a",
      rank: 1.5,
      open: true,
      at: "2024-03-09T00:00:00.000Z",
      big: { low: 1, high: 2097152, unsigned: false },
      price: { $numberDecimal: "0.10" },
      bytes: "AQI=",
      place: { city: "Rome", lat: -2, _id: String(Object(first?.place)._id) },
      owner: OWNER,
      password: "secret",
      quiet: "soft",
      tags: [],
    });
    assertEquals(second, { name: "b", open: false, quiet: "", tags: [] });
    assertEquals([third?.name, third?.rank, third?.open], ["c, d", -7, true]);
    assertEquals(Object(third?.place).city, "");
  });
}

const WRONG_CELLS: [column: string, cell: string, message: string][] = [
  ["rank", "many", 'Value at "rank" cannot be read as Number: send a number'],
  ["rank", "0x10", 'Value at "rank" cannot be read as Number: send a number'],
  [
    "rank",
    '"1,5"',
    'Value at "rank" cannot be read as Number: send a number, with a dot and without a',
  ],
  [
    "price",
    '"-1.234,5"',
    'Value at "price" cannot be read as Decimal128: send a number or the text of a decimal number, with a dot and',
  ],
  ["rank", "9007199254740993", 'Value at "rank" cannot be read as Number: send a number'],
  ["rank", "1e999", 'Number at "rank" is not read exactly'],
  ["rank", "101", "Path `rank` (101) is more than maximum allowed value (100)."],
  ["open", "1", 'Value at "open" cannot be read as Boolean: send true or false'],
  ["open", "constructor", 'Value at "open" cannot be read as Boolean: send true or false'],
  ["at", "03/09/2024", 'Value at "at" cannot be read as Date: send a date such as 2026-01-31'],
  ["at", "45000", 'Value at "at" cannot be read as Date: send a date such as 2026-01-31'],
  ["at", "2024-02-30", 'Value at "at" cannot be read as Date: send a date such as 2026-01-31'],
  ["big", "9223372036854775808", 'Value at "big" cannot be read as BigInt'],
  ["price", "a", 'Value at "price" cannot be read as Decimal128'],
  ["bytes", "?", 'Value at "bytes" cannot be read as Buffer: send bytes in base64'],
  ["owner", "x", 'Value at "owner" cannot be read as ObjectId'],
  ["place.lat", "x", 'Value at "place.lat" cannot be read as Number: send a number'],
];

for (const [column, cell, message] of WRONG_CELLS) {
  test(`an import refuses the cell ${cell} of the column ${column}`, async () => {
    await using app = await open();
    const raw = `name,${column}\na,${cell}\nb,\n`;
    const [fate, next] = await importTable(app, "/things", { raw });
    const told = Object(fate?.errors)[column]?.message;
    assertEquals([fate?.line, fate?.status, fate?.code], [2, 400, "BAD_DATA"]);
    assert(String(told).startsWith(message), told);
    assertEquals(next?.status, 201);
  });
}

test("an import tells of all wrong cells of a row", async () => {
  await using app = await open();
  const [fate] = await importTable(app, "/things", { raw: "name,rank,open\na,x,y\n" });
  assertEquals(Object.keys(fate?.errors ?? {}), ["rank", "open"]);
});

test("an import ignores the columns that the caller sees and cannot set", async () => {
  await using app = await open({ strict: onlyStrict("bodies") });
  const raw =
    "_id,name,__v,createdAt,updatedAt,state,grade,place._id,place.code\nx,a,y,z,1,2,3,4,5\n";
  const [fate] = await importTable(app, "/things", { raw });
  assertEquals(fate?.status, 201);
  assertEquals(await stored(), [{ name: "a", tags: [] }]);
  const boss = { "x-role": "boss" };
  await importTable(app, "/things", { raw: "name,grade,margin\nb,1,2\n", headers: boss });
  assertEquals((await stored())[1], { name: "b", grade: "1", margin: "2", tags: [] });
});

const REFUSED_HEADS: [head: string, message: string][] = [
  ["name,other", 'Column "other" is unknown'],
  ["name,margin", 'Column "margin" is unknown'],
  ["name,__proto__", 'Column "__proto__" is unknown'],
  ["name,constructor", 'Column "constructor" is unknown'],
  ["name,place.__proto__", 'Column "place.__proto__" is unknown'],
  ["name,place.other", 'Column "place.other" is unknown'],
  ["name,name.first", 'Column "name.first" is unknown'],
  ["name,owner.name", 'Column "owner.name" is unknown'],
  ["name,tags.0", 'Column "tags.0" is unknown'],
  ["name,", 'Column "" is unknown'],
  ["name, rank", 'Column " rank" is unknown'],
  ["name;rank", 'Column "name;rank" is unknown: commas must separate the columns'],
  ["name\trank", 'Column "name\trank" is unknown: commas must separate the columns'],
  ["name,name", 'Column "name" is there twice'],
  ["name,_id,_id", 'Column "_id" is there twice'],
  ["name,tags", 'Column "tags" is not a single value'],
  ["name,free", 'Column "free" is not a single value'],
  ["name,counts", 'Column "counts" is not a single value'],
  ["name,place", 'Column "place" is not a single value'],
  ["_id,state", "The head names no column that can be set"],
  ['name,"rank', "The row has a quote that is not closed"],
  ['name,"rank" ', "The row has a text after a closing quote"],
  ['name,r"ank', "The row has a quote or a line break in a cell without quotes"],
  ["", "The body has no head: its first row names the columns"],
  ["\r\n\n", "The body has no head: its first row names the columns"],
  ["\ufeff", "The body has no head: its first row names the columns"],
];

for (const [head, message] of REFUSED_HEADS) {
  test(`an import refuses the head ${JSON.stringify(head)}, and stores nothing`, async () => {
    await using app = await open();
    const { status, body } = await sendTable(app, "/things", {
      raw: `${head}\n`.slice(head ? 0 : 1),
    });
    assertEquals([status, body.code, body.message], [400, "BAD_FORMAT", message]);
    assertEquals(await stored(), []);
  });
}

test("an import refuses a hidden column byte for byte as an unknown one", async () => {
  await using app = await open();
  const answer = async (name: string) => {
    const { text, headers } = await sendTable(app, "/things", { raw: `name,${name}\na,b\n` });
    return [text.replaceAll(name, "x"), headers.get("content-type")];
  };
  assertEquals(await answer("margin"), await answer("nothing"));
});

test("an import takes the files of spreadsheet programs", async () => {
  await using app = await open();
  const raw = '\ufeff"name","rank","open"\r\n"a","1","TRUE"\r\n"b c","",""\r\n';
  const fates = await importTable(app, "/things", { raw });
  assertEquals(fates.map(({ line, status }) => [line, status]), [[2, 201], [3, 201]]);
  assertEquals(await stored(), [
    { name: "a", rank: 1, open: true, tags: [] },
    { name: "b c", tags: [] },
  ]);
});

test("an import of a table names the line where each row begins", async () => {
  await using app = await open();
  const raw = '\nname,rank\n\n"a\nb\r\nc",1\nx\n"d""e",2\n\r\ny,1,2\nlast,3';
  const fates = await importTable(app, "/hooked", { raw });
  const columns = "The row does not have one cell for each of the 2 columns of the head";
  assertEquals(fates.map(({ line, status, message }) => [line, status, message]), [
    [4, 201, undefined],
    [7, 400, columns],
    [8, 201, undefined],
    [10, 400, columns],
    [11, 201, undefined],
  ]);
  assertEquals((await stored()).map(({ name }) => name), ["a\nb\r\nc", 'd"e', "last"]);
});

const WRONG_ROWS: [row: string | Uint8Array<ArrayBuffer>, message: string][] = [
  ['"a', "The row has a quote that is not closed"],
  ['"a"b', "The row has a text after a closing quote"],
  ['a"b"', "The row has a quote or a line break in a cell without quotes"],
  ["a\rb", "The row has a quote or a line break in a cell without quotes"],
  [new Uint8Array([0x61, 0xff]), "The row is not UTF-8: save the table in this encoding"],
  [new Uint8Array([0xed, 0xa0, 0x80]), "The row is not UTF-8: save the table in this encoding"],
];

for (const [row, message] of WRONG_ROWS) {
  test(`an import refuses the row ${Deno.inspect(row)}`, async () => {
    await using app = await open();
    const raw = Buffer.concat([Buffer.from("name\nb\n"), Buffer.from(row)]);
    const fates = await importTable(app, "/things", { raw: new Uint8Array(raw) });
    assertEquals(fates.map(({ line, status }) => [line, status]), [[2, 201], [3, 400]]);
    assertEquals(fates[1]?.message, message);
  });
}

test("an import stores a NUL of a cell, and no mark of UTF-8 within the table is lost", async () => {
  await using app = await open();
  await importTable(app, "/things", { raw: "\ufeffname\n\ufeffa\nb\u0000c\n" });
  assertEquals((await stored()).map(({ name }) => name), ["\ufeffa", "b\u0000c"]);
});

test("an import undoes the quotes of formulas, and nothing else", async () => {
  await using app = await open();
  const cells = ["'=1+1", "'-1", "''x", "'x", "''", "'", '"\'\tx"'];
  await importTable(app, "/things", { raw: `name\n${cells.join("\n")}\n` });
  const names = (await stored()).map(({ name }) => name);
  assertEquals(names, ["=1+1", "-1", "'x", "'x", "'", "'", "\tx"]);
});

test("an import ends at a row of more than 1 MiB, quoted or not", async () => {
  await using app = await open();
  for (const cell of [`"${"a".repeat(1 << 20)}`, "a".repeat(1 << 20), ",".repeat(1 << 20)]) {
    const fates = await importTable(app, "/things", { raw: `name,rank\na,1\n${cell}x\nb,2\n` });
    assertEquals(fates.map(({ line, status }) => [line, status]), [[2, 201], [3, 413]]);
  }
  const { status } = await sendTable(app, "/things", { raw: `"${"a".repeat(1 << 20)}x` });
  assertEquals(status, 413);
});

test("an import takes a compressed table, and refuses other charsets and media types", async () => {
  await using app = await open();
  const raw = new Uint8Array(gzipSync("name,rank\na,1\n"));
  const fates = await importTable(app, "/things", { raw, headers: { "content-encoding": "gzip" } });
  assertEquals(fates.map(({ status }) => status), [201]);
  const types = ["text/csv; charset=UTF-8", 'text/csv;header=present;charset="utf-8"'];
  for (const type of types) {
    await importTable(app, "/things", { raw: "name\nb\n", headers: { "content-type": type } });
  }
  const answerTo = async (path: string, type: string) => {
    const headers = { "content-type": type };
    const { status, body } = await sendTable(app, path, { raw: "name\nb\n", headers });
    return [status, body.message];
  };
  const latin = await answerTo("/things", "text/csv; charset=iso-8859-1");
  assertEquals(latin, [415, "The charset is not UTF-8"]);
  assertEquals(await answerTo("/lines", "text/csv"), [415, "The Content-Type is not JSON"]);
  assertEquals((await answerTo("/closed", "text/csv"))[0], 403);
});

test("an import of a table creates the parts of a parent, in their order", async () => {
  await using app = await open();
  const shelf = await getModel(Shelf).create({});
  const raw = "_id,label,size\nx,a,1\ny,,2\nz,c,3\n";
  const fates = await importTable(app, `/shelves/${shelf._id}/boxes`, { raw });
  assertEquals(fates.map(({ line, status }) => [line, status]), [[2, 201], [3, 400], [4, 201]]);
  await importTable(app, `/shelves/${shelf._id}/things`, { raw: "name,rank\nd,4\n" });
  const { boxes, things } = await app.read<{ boxes: { label: string }[]; things: string[] }>(
    `/shelves/${shelf._id}`,
  );
  assertEquals([boxes.map(({ label }) => label), things.length], [["a", "c"], 1]);
});

test("create() with csv needs a field that fits in a cell", () => {
  @rest({ route: "/lists", methods: [create({ many: 2, formats: ["csv"] })] })
  class List extends FrameworkModel {
    @arrayProp({ items: String })
    tags?: string[];
    @prop({ readonly: true })
    state?: string;
  }
  const start = () => Framework.initialize({ models: [List] });
  const problem = 'create() has "csv" in "formats", but no field that fits in a cell';
  assertThrows(start, TypeError, problem);
});

test("describe() and the document tell of tables", async () => {
  const route = Framework.describe({ models: MODELS }).find(({ operation, path }) =>
    operation === "create" && path === "/things"
  );
  assertEquals(route?.formats, ["ndjson", "csv"]);
  const { operation } = await documentOf(MODELS);
  const { requestBody, responses } = operation("POST", "/things");
  const types = ["application/json", "application/x-ndjson", "text/csv"];
  assertEquals(Object.keys(requestBody?.content ?? {}), types);
  assertEquals(Object.keys(responses[207]?.content ?? {}), types.slice(0, 2));
});
