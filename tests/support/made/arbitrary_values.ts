import fc from "fast-check";
import { Buffer } from "node:buffer";
import mongoose from "mongoose";

const { Types } = mongoose;
const { Binary, BSONRegExp, BSONSymbol, Code, DBRef, Double, Int32, Long, MaxKey, MinKey } =
  mongoose.mongo;
const { Timestamp, UUID } = mongoose.mongo;

/** Any other identifier of an embedded object in an answer was made up by Mongoose. */
export const POOL = [
  "0123456789abcdef01234567",
  "fedcba9876543210fedcba98",
  "aaaaaaaaaaaaaaaaaaaaaaaa",
];

export const FIELD_NAMES = [
  "a",
  "b",
  "c",
  "10",
  "2",
  "é",
  'q"t',
  "with space",
  "_x",
  "back\\slash",
];

const KEYS = [
  ...FIELD_NAMES,
  "",
  "$a",
  "a.b",
  "__proto__",

  "prototype",
  "length",
  "h",
  "\u2028",
  "😀",
];

export const texts = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom("", "5", "true", '"\\\b\f\n\r\t\0\x7f', "\ud800", "x\udfff", "é".repeat(200)),
);
const int32s = fc.integer().map((value) => new Int32(value));
const doubles = fc.oneof(
  fc.double(),
  fc.constantFrom(NaN, Infinity, -Infinity, -0, 0, 2 ** 53, 2 ** 53 + 2, 1e21, 5e-324),
).map((value) => new Double(value));
const longs = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.bigInt({ min: -(2n ** 54n), max: 2n ** 54n }),
  fc.constantFrom(2n ** 53n - 1n, 2n ** 53n, -(2n ** 53n), 0n, -1n),
).map((value) => Long.fromBigInt(value));
const decimals = fc.constantFrom(
  "0",
  "-0",
  "1.50",
  "1E+400",
  "NaN",
  "-Infinity",
  "123456789.123456789",
)
  .map((value) => Types.Decimal128.fromString(value));
const dates = fc.oneof(
  fc.date({ noInvalidDate: true }),
  fc.constantFrom("0000-01-01", "0001-01-01", "9999-12-31", "+010000-01-01T00:00:00Z")
    .map((value) => new Date(value)),
  fc.constantFrom("-000001-01-01T00:00:00Z", "+275760-09-13T00:00:00Z").map((value) =>
    new Date(value)
  ),
);
export const objectIds = fc.constantFrom(...POOL).map((value) => new Types.ObjectId(value));
const uuids = fc.uuid().map((value) => new UUID(value));
const binaries = fc.tuple(fc.uint8Array({ maxLength: 20 }), fc.constantFrom(0, 1, 2, 3, 4, 5, 128))
  .map(([bytes, subtype]) => new Binary(Buffer.from(bytes), subtype));
const oddities = fc.constantFrom(
  new Timestamp({ t: 2 ** 32 - 1, i: 5 }),
  /a\/b/gims,
  new BSONRegExp("^a.*", "imx"),
  new MinKey(),
  new MaxKey(),
  new Code("x => x"),
  new Code("x", { y: 1 }),
  new BSONSymbol("symbol"),
  new DBRef("c", new Types.ObjectId(POOL[0])),
);
const scalars = fc.oneof(
  texts,
  int32s,
  doubles,
  longs,
  decimals,
  dates,
  objectIds,
  uuids,
  binaries,
  oddities,
  fc.boolean(),
  fc.constant(null),
);

export const { value: anything } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalars,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie("value"), { maxKeys: 5 }).map(ownKeys),
  ),
}));

/** The driver looks at prototypes, so all keys become own keys. */
export function ownKeys(value: Record<string, unknown>): object {
  const result = {};
  for (const [key, each] of Object.entries(value)) {
    const descriptor = { value: each, enumerable: true, configurable: true, writable: true };
    Object.defineProperty(result, key, descriptor);
  }
  return result;
}

/** Types of fields with values that fit, and a default. */
export const SCALAR_FIELDS: [unknown, fc.Arbitrary<unknown>, unknown][] = [
  [String, texts, "x"],
  [Number, fc.oneof(int32s, doubles, longs), 5],
  [Boolean, fc.boolean(), false],
  [Date, dates, () => new Date(0)],
  [BigInt, fc.oneof(longs, int32s), 5n],
  [Buffer, binaries, undefined],
  [Types.ObjectId, objectIds, undefined],
  [Types.Decimal128, decimals, undefined],
  [Types.UUID, uuids, undefined],
  [mongoose.Schema.Types.Int32, int32s, 1],
  [mongoose.Schema.Types.Double, doubles, 1.5],
];

/** Objects whose keys a map can have. */
export function keyed(values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const keys = fc.constantFrom("a", "b", "10", "2", "é", "length", 'q"', "");
  return fc.dictionary(keys, values, { maxKeys: 4 }).map((value) => ownKeys(value));
}
