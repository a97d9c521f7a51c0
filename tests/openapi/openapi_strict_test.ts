import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { Schema, Types } from "mongoose";
import { Ajv2020, type ValidateFunction } from "npm:ajv@^8/dist/2020.js";
import addFormats from "npm:ajv-formats@^3";
import {
  action,
  all,
  arrayProp,
  create,
  FrameworkModel,
  one,
  prop,
  type Ref,
  replace,
  rest,
  update,
  updateAll,
} from "../../mod.ts";
import { isInexact } from "../../src/schema/fields/json_numbers.ts";
import { type Document, type JsonSchema, mountDocumented } from "../support/documented.ts";
import { casesOf } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import { onlyStrict } from "../support/only_strict.ts";

class Inner extends FrameworkModel {
  @prop({ type: Number, min: 0 })
  size?: number;
  @prop({ readonly: true, default: "new" })
  state!: string;
}

class Body extends FrameworkModel {
  @prop({ type: Date, required: true })
  at!: Date;
}

const mark = action<Kind>("mark", {
  on: "one",
  body: Body,
  run: () => undefined,
});

@rest({
  route: "/kinds",
  methods: [
    all(),
    one(),
    create({ many: 3, atomic: false }),
    update(),
    replace(),
    updateAll({ fields: ["text", "inner"], atomic: false }),
    mark,
  ],
})
class Kind extends FrameworkModel {
  static override schemaOptions = { collection: "strict_kinds", timestamps: true };
  @prop()
  text?: string;
  @prop({ required: true, default: "d" })
  filled!: string;
  @prop({ trim: true })
  trimmed?: string;
  @prop({ match: /^a/, maxLength: 5 })
  matched?: string;
  @prop({ enum: ["a", "1", "true"] as const })
  letter?: "a" | "1" | "true";
  @prop({ set: (value: unknown) => value })
  setter?: string;
  @prop({ type: Number, enum: [1, 2] })
  digit?: number;
  @prop({ type: Number })
  number?: number;
  @prop({ type: Number, required: true, default: 1 })
  due!: number;
  @prop({ type: Number, min: 0, max: 9 })
  rank?: number;
  @prop({ type: Boolean })
  flag?: boolean;
  @prop({ type: Date })
  at?: Date;
  @prop({ type: Date, required: true, default: () => new Date() })
  since!: Date;
  @prop({ type: BigInt })
  big?: bigint;
  @prop({ type: Buffer })
  bytes?: Buffer;
  @prop({ type: Types.ObjectId })
  id24?: Types.ObjectId;
  @prop({ type: Types.Decimal128 })
  price?: Types.Decimal128;
  @prop({ type: Types.UUID })
  uuid?: Types.UUID;
  @prop({ type: Schema.Types.Int32 })
  int?: number;
  @prop({ type: Schema.Types.Double })
  double?: number;
  @prop({ type: Map, of: Number })
  map?: Map<string, number>;
  @prop({ type: Map, of: Inner })
  inners?: Map<string, Inner>;
  @prop({ type: Object })
  free?: object;
  @prop({ type: Inner })
  inner?: Inner;
  @arrayProp({ items: Date })
  dates?: Date[];
  @arrayProp({ items: String, enum: ["a", "b"] })
  letters?: string[];
  @arrayProp({ items: () => Kind })
  kinds?: Ref<Kind>[];
  @arrayProp({ items: Inner, embedded: true })
  parts?: Inner[];
  @prop({ hidden: true })
  secret?: string;
  @prop({ readonly: true })
  by?: string;
}

const FIELDS = [
  ...["text", "filled", "trimmed", "matched", "letter", "setter", "digit", "number", "due", "rank"],
  ...["flag", "at", "since", "big", "bytes", "id24", "price", "uuid", "int", "double", "map"],
  ...["inners", "free", "inner", "dates", "letters", "kinds", "parts", "secret", "by", "nope"],
];

/** An independent validator of a document's schemas, which checks formats too. */
function judgeOf(document: Document): (name: string) => ValidateFunction {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  ajv.addSchema(document, "document");
  return (name) => ajv.compile({ $ref: `document#/components/schemas/${name}` });
}

const digits = fc.stringMatching(/^-?[0-9]{1,20}(\.[0-9]{0,8})?([eE][+-]?[0-9]{1,2})?$/);
const two = (max: number) =>
  fc.integer({ min: 0, max }).map((value) => String(value).padStart(2, "0"));
const day = fc.tuple(fc.constantFrom("2024", "2025", "0000", "9999", "26"), two(13), two(32))
  .map((parts) => parts.join("-"));
const time = fc.tuple(two(24), two(60), two(61)).map((parts) => parts.join(":"));
const offset = fc.constantFrom("Z", "z", "", "+02:00", "-23:59", "+24:00", "+0200", ".5Z", ".Z");
const moment = fc.tuple(day, fc.constantFrom("T", "t", " "), time, offset)
  .map((parts) => parts.join(""));
const hex = fc.stringMatching(/^[0-9a-f]{24}$/);
const date = fc.date({ noInvalidDate: true }).map((value) => value.toISOString());
const uuid = fc.uuid();
const bytes = fc.uint8Array({ maxLength: 9 }).map((value) => Buffer.from(value).toString("base64"));

/** Whether a value has a number that a JSON parser may have rounded, which no schema can refuse in free-form data. */
function isRounded(given: unknown): boolean {
  if (typeof given === "number") return isInexact(given);
  return typeof given === "object" && given !== null && Object.values(given).some(isRounded);
}

/** A JSON value that may be one of any type, or nearly one. */
const value = fc.oneof(
  ...[digits, day, moment, hex, hex.map((text) => text.toUpperCase()), date, uuid, bytes],
  ...[uuid.map((text) => text.toUpperCase()), bytes.map((text) => text.slice(0, -1))],
  fc.constantFrom<unknown>(null, true, false, 0, 1, 2, -1, 1.5, "", " ", "a", "b", "ab", "true"),
  fc.integer(),
  fc.double({ noDefaultInfinity: true, noNaN: true, min: -1e15, max: 1e15 }),
  fc.string({ maxLength: 6 }),
  fc.jsonValue({ maxDepth: 2 }),
).map((each): unknown => JSON.parse(JSON.stringify(each))).filter((each) => !isRounded(each));

const inner = fc.dictionary(fc.constantFrom("size", "state", "sise", "_id", "__v"), value, {
  maxKeys: 2,
});
const whole = fc.oneof(
  { weight: 6, arbitrary: value },
  fc.array(value, { maxLength: 2 }),
  fc.dictionary(fc.constantFrom("a", "a.b", "$a", "b"), value, { maxKeys: 2 }),
  inner,
  fc.array(inner, { maxLength: 2 }),
  fc.dictionary(fc.constantFrom("a", "b"), inner, { maxKeys: 2 }),
);
const field = fc.constantFrom(...FIELDS);
const body = fc.array(fc.tuple(field, whole), { minLength: 1, maxLength: 2 })
  .map((entries): Record<string, unknown> => Object.fromEntries(entries));

/** Whether a body has a key that only the stored entity can allow, which no schema decides. */
function repeats(given: unknown): boolean {
  if (typeof given !== "object" || given === null) return false;
  return Object.entries(given).some(([key, each]) =>
    ["_id", "state", "by", "createdAt"].includes(key) || repeats(each)
  );
}

test("strict bodies are accepted if the document says so, and only then", async () => {
  await using app = await mountDocumented([Kind], { strict: onlyStrict("bodies") });
  const judge = judgeOf(app.document);
  const { _id } = await app.created("/kinds", {});
  const [isNew, isPatch] = [judge("KindNew"), judge("KindPatch")];
  const counted = { accepted: 0, refused: 0 };
  const isJudged = fc.asyncProperty(body, async (given) => {
    const made = await app.post("/kinds", given);
    counted[made.status < 300 ? "accepted" : "refused"]++;
    assertEquals([made.status < 300, made.status], [isNew(given), isNew(given) ? 201 : 400]);
    if (repeats(given)) return;
    const patched = await app.patch(`/kinds/${_id}`, given);
    assertEquals(patched.status, isPatch(given) ? 200 : 400);
  });
  const cases = casesOf(600, 250);
  await fc.assert(isJudged, { numRuns: cases, endOnFailure: true });
  assertEquals(Object.values(counted).map((count) => count > cases / 30), [true, true]);
});

test("the document closes strict bodies, and allows stored values only where one is stored", async () => {
  await using app = await mountDocumented([Kind], { strict: onlyStrict("bodies") });
  const { schemas, operation } = app;
  const refOf = (method: string, path: string) =>
    operation(method, path).requestBody?.content["application/json"]?.schema;
  assertEquals(refOf("PUT", "/kinds/{id}")?.$ref, "#/components/schemas/KindReplacement");
  const repeated = ["_id", "__v", "by", "createdAt", "updatedAt"];
  const found = Object.entries(schemas).filter(([name]) =>
    /(New|Patch|Replacement|Changes|Element)$/.test(name)
  );
  assertEquals(
    found.map(([name, { additionalProperties, properties }]) => [
      name,
      additionalProperties,
      [...repeated, "state"].filter((key) => key in (properties as object)),
    ]).sort(),
    [
      ["BodyNew", false, []],
      ["InnerElement", false, ["_id", "state"]],
      ["InnerNew", false, []],
      ["InnerPatch", false, ["_id", "state"]],
      ["InnerReplacement", false, ["_id", "state"]],
      ["KindChanges", false, []],
      ["KindNew", false, []],
      ["KindPatch", false, repeated],
      ["KindReplacement", false, repeated],
    ],
  );
});

test("the values that a body may only repeat are readOnly, so that generated clients leave them out", async () => {
  await using app = await mountDocumented([Kind], { strict: onlyStrict("bodies") });
  const properties = app.schemas.KindPatch?.properties as Record<string, JsonSchema>;
  const readOnly = Object.keys(properties).filter((name) => properties[name]?.readOnly === true);
  assertEquals(readOnly.sort(), ["__v", "_id", "by", "createdAt", "updatedAt"]);
});

test("an entity as it was read is a body of a patch and of a replacement, and not a new one", async () => {
  await using app = await mountDocumented([Kind], { strict: onlyStrict("bodies") });
  const { _id } = await app.created("/kinds", { parts: [{ size: 1 }], inner: { size: 2 } });
  const stored = await app.read(`/kinds/${_id}`);
  const judge = judgeOf(app.document);
  assertEquals([judge("KindPatch")(stored), judge("KindReplacement")(stored)], [true, true]);
  assertEquals(judge("KindNew")(stored), false);
  assertEquals((await app.put(`/kinds/${_id}`, stored)).status, 200);
});
