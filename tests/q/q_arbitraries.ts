/** Filters, and the documents that they select from, for tests that hold the library against a judge. */
import fc from "fast-check";
import { arrayProp, FrameworkModel, prop } from "../../mod.ts";
import type { JudgedFilter, Value } from "./q_judge.ts";

class JudgedPart extends FrameworkModel {
  static override schemaOptions = { _id: false };
  @prop()
  a?: string;
  @prop({ default: "b" })
  b?: string;
}

/** The fields that the filters name. */
export class JudgedFields extends FrameworkModel {
  @prop({ type: Number })
  n?: number;
  @prop({ lowercase: true })
  text?: string;
  @arrayProp({ items: String })
  tags?: string[];
  @arrayProp({ items: Number })
  numbers?: number[];
  @prop({ type: JudgedPart })
  inner?: JudgedPart;
  @arrayProp({ items: JudgedPart, embedded: true })
  parts?: JudgedPart[];
  @prop({ type: Object })
  free?: object;
  @prop({ type: Map, of: String })
  map?: Map<string, string>;
}

const number = fc.integer({ min: 0, max: 3 });
const text = fc.constantFrom("", "x", "y", "1");
const part = fc.record({ a: text, b: text }, { requiredKeys: [] });
const { free } = fc.letrec<{ free: Value }>((tie) => ({
  free: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    fc.constant(null),
    number,
    text,
    fc.boolean(),
    fc.array(tie("free"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b"), tie("free"), { maxKeys: 2, noNullPrototype: true }),
  ),
}));

/** Values by the paths that a filter may name. */
const PATHS: readonly (readonly [string, fc.Arbitrary<unknown>])[] = [
  ["n", fc.option(number)],
  ["text", fc.option(text)],
  ["tags", fc.oneof(text, fc.array(text, { maxLength: 2 }), fc.constant(null))],
  ["tags.0", fc.option(text)],
  ["numbers", fc.oneof(number, fc.array(number, { maxLength: 2 }))],
  ["inner", fc.option(part)],
  ["inner.a", fc.option(text)],
  ["parts", fc.oneof(part, fc.array(part, { maxLength: 2 }))],
  ["parts.b", fc.option(text)],
  ["parts.0.a", fc.option(text)],
  ["free", free],
  ["free.a", free],
  ["free.a.b", free],
  ["free.0", free],
  ["map.k", fc.option(text)],
];

const OPERATORS = ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"];

function operators(value: fc.Arbitrary<unknown>): fc.Arbitrary<JudgedFilter> {
  return fc.oneof(
    fc.tuple(fc.constantFrom(...OPERATORS), value).map(([name, each]) => ({ [name]: each })),
    fc.tuple(fc.constantFrom("$in", "$nin", "$all"), fc.array(value, { maxLength: 2 }))
      .map(([name, each]) => ({ [name]: each })),
    fc.boolean().map(($exists) => ({ $exists })),
    number.map(($size) => ({ $size })),
  );
}

const condition = fc.oneof(...PATHS.map(([path, value]) => {
  const said = fc.oneof(value, operators(value), operators(value).map(($not) => ({ $not })));
  return said.map((each) => ({ [path]: each }));
}));
const element = fc.oneof(
  operators(text).map(($elemMatch) => ({ tags: { $elemMatch } })),
  operators(number).map(($elemMatch) => ({ numbers: { $elemMatch } })),
  part.map(($elemMatch) => ({ parts: { $elemMatch } })),
);
const clause = fc.oneof(condition, element);
/** Filters on the fields of {@linkcode JudgedFields}. */
export const filters: fc.Arbitrary<JudgedFilter> = fc.oneof(
  clause,
  fc.tuple(fc.constantFrom("$and", "$or", "$nor"), fc.array(clause, { minLength: 1, maxLength: 3 }))
    .map(([name, list]) => ({ [name]: list })),
);

const document = fc.record({
  n: fc.option(number),
  text: fc.option(text),
  tags: fc.array(text, { maxLength: 2 }),
  numbers: fc.array(number, { maxLength: 2 }),
  inner: fc.option(part),
  parts: fc.array(part, { maxLength: 2 }),
  free,
  map: fc.dictionary(fc.constant("k"), text, { noNullPrototype: true }),
}, { requiredKeys: [] });

/** Stored documents of {@linkcode JudgedFields}. */
export const documents = fc.array(document, { minLength: 8, maxLength: 8 });
