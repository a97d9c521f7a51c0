import { assert, assertEquals } from "@std/assert";
import type { Buffer } from "node:buffer";
import { Buffer as Bytes } from "node:buffer";
import { Schema, Types } from "mongoose";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  one,
  prop,
  type Ref,
  rest,
  update,
} from "../../mod.ts";
import { mountDocumented } from "../support/documented.ts";
import { longTest, test } from "../harness/testing.ts";

class Address extends FrameworkModel {
  @prop({ required: true })
  street!: string;
  @prop({ type: Number, min: 0 })
  floor?: number;
}

@rest({ route: "/kinds", methods: [all(), one(), create(), update()] })
class Kind extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ required: true, default: "d" })
  filled!: string;
  @prop({ required: true, default: "d", trim: true })
  trimmed!: string;
  @prop({ match: /^a/ })
  matched?: string;
  @prop({ enum: ["a", "1", "true"] as const })
  letter?: "a" | "1" | "true";
  @prop({ type: Number, enum: [1, 2] })
  digit?: number;
  @prop({ type: Number })
  number?: number;
  @prop({ type: Number, required: true, default: 1 })
  due!: number;
  @prop({ type: Number, min: 0 })
  positive?: number;
  @prop({ type: Number, min: 1888, max: 9000 })
  year?: number;
  @prop({ type: Boolean })
  flag?: boolean;
  @prop({ type: BigInt })
  big?: bigint;
  @prop({ type: Bytes })
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
  @prop({ type: Object })
  free?: object;
  @prop({ type: Address })
  address?: Address;
  @arrayProp({ items: Number })
  numbers?: number[];
  @arrayProp({ items: String, enum: ["a", "b"] })
  letters?: string[];
  @arrayProp({ items: () => Kind })
  kinds?: Ref<Kind>[];
  @arrayProp({ items: Address, embedded: true })
  addresses?: Address[];
}

const FIELDS = [
  ...["text", "filled", "trimmed", "matched", "letter", "digit", "number", "due", "positive"],
  ...["year", "flag", "big", "bytes", "id24", "price", "uuid", "int", "double", "map", "free"],
  ...["address", "numbers", "letters", "kinds", "addresses"],
];

const ID = "0123456789abcdef01234567";

/** Values that bodies may have anywhere. Dates are not among them: no schema says what `Date` reads. */
const VALUES = [
  ...[true, false, 0, 1, -1, 2, 1.5, 1e30, 2000, 12345678901, "", " ", "a", "ab", "abc"],
  ...["1", "-1", "+1", "0x10", "1e3", "2000", "Infinity", "true", "yes", "maybe", "AAEC/w==", "é"],
  ...[ID, ID.toUpperCase(), "01234567-89ab-4def-8123-456789abcdef", "9007199254740993"],
  ...[{}, [], [null], [1], ["a"], [{}], [[1]], [ID], { a: 1 }, { a: null }, { "a.b": 1 }, {
    "": 1,
  }],
  ...[{ $a: 1 }, { $numberDecimal: "1.5" }, { street: "s" }, { street: "", floor: 1 }],
  ...[{ street: "s", floor: -1 }, [{ street: "s" }], [{ street: 5, floor: "2" }], {
    a: { b: [1] },
  }],
  ...[[{ street: null }], { a: [{ "b.c": 1 }] }, null],
];

/** Texts of numbers are read in fields with bounds, too. No schema says which of them are within. */
const UNSAID = ['{"digit":"+1"}', '{"year":"2000"}'];

/** Sends each value in each field, and gives those that the schema and the server judge differently. */
async function differences(
  app: Awaited<ReturnType<typeof mountDocumented>>,
  { method, path, schema, fields }: Judged,
) {
  const isValid = app.named(schema);
  const different: string[] = [];
  for (const field of fields) {
    for (const value of VALUES) {
      const body = { [field]: value };
      const { status } = await app.send(method, path, { body });
      if (isValid(body) !== (status < 300)) different.push(JSON.stringify(body));
    }
  }
  return different.filter((body) => !UNSAID.includes(body));
}

interface Judged {
  readonly method: string;
  readonly path: string;
  readonly schema: string;
  readonly fields: readonly string[];
}

longTest("a body is accepted if the document says so, and the answer is as it says", async () => {
  await using app = await mountDocumented([Kind]);
  const judged = { method: "POST", path: "/kinds", schema: "KindNew", fields: FIELDS };
  assertEquals(await differences(app, judged), []);
  const all = await app.read<unknown[]>("/kinds");
  const isValid = app.named("Kind");
  assert(all.length > 100);
  assertEquals(all.filter((each) => !isValid(each)), []);
});

test("a patch is accepted if the document says so, and only then", async () => {
  await using app = await mountDocumented([Kind]);
  const { _id } = await app.created("/kinds", { address: { street: "s" } });
  const fields = ["filled", "digit", "positive", "map", "free", "address", "letters", "addresses"];
  const judged = { method: "PATCH", path: `/kinds/${_id}`, schema: "KindPatch", fields };
  assertEquals(await differences(app, judged), []);
});

test("numbers that JSON does not have are refused in bodies", async () => {
  await using app = await mountDocumented([Kind]);
  for (const body of ['{"number":1e999}', '{"double":"-Infinity"}', '{"numbers":[1e999]}']) {
    const headers = { "content-type": "application/json" };
    const reply = await fetch(`${app.url}/kinds`, { method: "POST", headers, body });
    assertEquals([body, reply.status], [body, 400]);
    await reply.body?.cancel();
  }
});
