import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { Schema, Types } from "mongoose";
import { all, create, FrameworkModel, getModel, prop, type Ref, rest } from "../../../mod.ts";
import { casesOf } from "../../harness/report.ts";
import { test } from "../../harness/testing.ts";
import { Random } from "../../judges/twins/random.ts";
import { mount } from "../../support/support.ts";
import { onlyStrict } from "../../support/only_strict.ts";

class Deep extends FrameworkModel {
  static override schemaOptions = { _id: false };
  @prop()
  text?: string;
  @prop({ type: Number })
  number?: number;
}

class Inner extends FrameworkModel {
  static override schemaOptions = { _id: false };
  @prop()
  text?: string;
  @prop({ type: Number })
  number?: number;
  @prop({ type: Deep })
  inner?: Deep;
}

class Row extends FrameworkModel {
  static override schemaOptions = { timestamps: true };
  @prop({ type: Number })
  index?: number;
  @prop()
  text?: string;
  @prop()
  other?: string;
  @prop({ type: Number })
  number?: number;
  @prop({ type: Schema.Types.Int32 })
  small?: number;
  @prop({ type: Schema.Types.Double })
  double?: number;
  @prop({ type: BigInt })
  big?: bigint;
  @prop({ type: Schema.Types.Decimal128 })
  decimal?: Types.Decimal128;
  @prop({ type: Boolean })
  flag?: boolean;
  @prop({ type: Date })
  at?: Date;
  @prop({ type: Buffer })
  bytes?: Buffer;
  @prop({ type: Schema.Types.UUID })
  uuid?: Types.UUID;
  @prop({ ref: "SourceRow" })
  ref?: Ref<FrameworkModel>;
  @prop({ type: Inner })
  inner?: Inner;
  @prop({ readonly: true, default: "new" })
  state?: string;
}

const LISTS = all({ formats: ["ndjson", "csv"], sort: ["index"] });

@rest({ route: "/sources", methods: [LISTS] })
class SourceRow extends Row {}

@rest({
  route: "/copies",
  methods: [LISTS, create({ many: 1000, atomic: false, formats: ["csv"] })],
})
class CopiedRow extends Row {}

const random = new Random(Number(Deno.env.get("CSV_SEED") ?? 20261127));
const pick = <T>(values: readonly T[]): T => random.one(values);
const whole = (below: number) => random.below(below);
const maybe = (value: () => object) => random.chance(0.8) ? value() : {};
const bytes = (length: number) => Array.from({ length }, () => whole(256));

const TEXTS = [
  ...["=1+1", "+1", "-1", "@x", "\tx", "\rx", "'x", "''", "'=", " =1", "a=1", "", " ", ",", '"'],
  ...['a "b", c', "a\r\nb", "a\nb", "\r", "\n", "ä€😀", "\u2028", "\ufeff", "\\", "null", "true"],
  ...["1", "007", "1e5", "\u0000", "__proto__", ";", "a;b", "'\"", '""', "x".repeat(500)],
];

/** Characters that spreadsheets skip before a formula, full-width signs, and the mark of the export. */
const MARKS = [..."'' \t\r\n\u0000\u00a0\u00ad\u200b\u2060\u3164\ufeff=+-@＝＋－＠1a"];

function text(): string {
  const marks = Array.from({ length: whole(5) }, () => pick(MARKS)).join("");
  const long = Array.from({ length: whole(4) }, () => pick(TEXTS)).join("");
  return pick([pick(TEXTS), long, marks, String.fromCharCode(...bytes(whole(12)))]);
}

/** Strict bodies have no dates outside of the years 0 to 9999, and no integers beyond 2^53. */
let isStrict = false;

function number(): number {
  const far = isStrict ? 0 : 2 ** 60;
  const value = pick([whole(1000) - 500, whole(1e6) / 7, -0.1, 1e21, 5e-324, 1.5e300, far]);
  return pick([value, -value]);
}

const FAR_DATES = [8.64e15, -8.64e15, 1e15, -1e14];

function inner(depth = 0): object {
  return {
    ...maybe(() => ({ text: text() })),
    ...maybe(() => ({ number: number() })),
    ...depth < 1 && maybe(() => ({ inner: inner(depth + 1) })),
  };
}

const ODD = ["Infinity", "-Infinity", "NaN"];

function decimal(): Types.Decimal128 {
  const digits = pick([
    `${whole(1e9)}`,
    `-${whole(1e6)}.${whole(1e6)}`,
    "1E+400",
    "-1.50",
    "0E-5",
    ...ODD,
  ]);
  return Types.Decimal128.fromString(digits);
}

function row(index: number): object {
  const values = {
    text,
    other: text,
    number,
    small: () => whole(2 ** 31) - 2 ** 30,
    double: number,
    big: () => pick([1n, -1n]) * (BigInt(whole(2 ** 31)) << BigInt(whole(32))),
    decimal,
    flag: () => pick([true, false]),
    at: () => new Date(pick([whole(4e12), -whole(4e12), isStrict ? 0 : pick(FAR_DATES)])),
    bytes: () => Buffer.from(bytes(whole(20))),
    uuid: () => new Types.UUID(crypto.randomUUID()),
    ref: () => new Types.ObjectId(),
    inner: () => inner(),
    state: text,
  };
  const some = Object.entries(values).map(([name, value]) => maybe(() => ({ [name]: value() })));
  return Object.assign({ index }, ...some);
}

/** Gives an entity without what an import does not take, and without what a table does not show. */
function comparable(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const ignored = ["_id", "__v", "createdAt", "updatedAt", "state"];
  const entries = Object.entries(value).filter(([name]) => !ignored.includes(name))
    .map(([name, each]) => [name, comparable(each)])
    .filter(([, each]) => each !== null && JSON.stringify(each) !== "{}");
  return Object.fromEntries(entries);
}

const COUNT = Number(Deno.env.get("CSV_ENTITIES") ?? casesOf(1000, 200));

for (const bodies of ["strict", "loose"] as const) {
  test(`a table of random entities gives the same entities again, with ${bodies} bodies`, async () => {
    isStrict = bodies === "strict";
    const options = bodies === "strict" ? { strict: onlyStrict("bodies") } : {};
    const limits = { limits: { timeMS: 60_000 } };
    await using app = await mount([SourceRow, CopiedRow], { ...options, ...limits });
    const rows = Array.from({ length: COUNT }, (_, index) => row(index));
    Object.assign(rows[0] ?? {}, {
      bytes: Buffer.alloc(0),
      decimal: Types.Decimal128.fromString("NaN"),
    });
    await getModel(SourceRow).collection.insertMany(rows as never);
    const read = (path: string, accept: string) =>
      app.send("GET", `${path}?sort=index`, { headers: { accept } });
    const { text: table } = await read("/sources", "text/csv");
    const told = await app.send("POST", "/copies", {
      raw: table,
      headers: { "content-type": "text/csv", prefer: "return=minimal" },
    });
    assertEquals([told.status, told.text.slice(0, 1000)], [207, ""]);
    const entities = async (path: string) => {
      const { text } = await read(path, "application/x-ndjson");
      return text.trim().split("\n").map((line) => comparable(JSON.parse(line)));
    };
    const [sources, copies] = [await entities("/sources"), await entities("/copies")];
    assertEquals(copies.length, COUNT);
    for (const [index, copy] of copies.entries()) assertEquals(copy, sources[index]);
  });
}
