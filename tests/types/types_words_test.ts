/** What the compiler must accept and refuse of the options that the description of an API shows. */
import { assertEquals } from "@std/assert";
import type { Buffer } from "node:buffer";
import { Buffer as Bytes } from "node:buffer";
import { Types } from "mongoose";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  type Hidden,
  prop,
  type Ref,
  rest,
} from "../../mod.ts";
import type { FieldOptions } from "../../src/declare/decorators/field_options.ts";
import { Actor, Address, expect, type Same } from "../support/same_type.ts";

const ID = "0123456789abcdef01234567";

class Told extends FrameworkModel {
  @prop({ summary: "A text", description: "**Any**", deprecated: true, example: "a" })
  text?: string;
  @prop({ enum: ["a", "b"] as const, example: "b" })
  letter?: "a" | "b";
  @prop({ type: Number, example: 5 })
  number?: number;
  @prop({ type: Boolean, example: false })
  flag?: boolean;
  @prop({ type: Date, example: "2020-01-02T03:04:05.678Z" })
  date?: Date;
  @prop({ type: BigInt, example: "9007199254740993" })
  big?: bigint;
  @prop({ type: Bytes, example: "AAEC" })
  bytes?: Buffer;
  @prop({ type: Types.Decimal128, example: "1.50" })
  price?: Types.Decimal128;
  @prop({ ref: Actor, example: ID })
  actor?: Ref<Actor>;
  @prop({ type: Map, of: Number, example: { a: 1 } })
  stock?: Map<string, number>;
  @prop({ type: Object, example: { any: [1] } })
  extra?: object;
  @prop({ type: Address, example: { street: "s" } })
  address?: Address;
  @prop({ hidden: true, example: "secret" })
  secret?: Hidden<string>;
  @arrayProp({ items: String, example: ["a", "b"] })
  tags?: string[];
  @arrayProp({ items: Actor, example: [ID] })
  actors?: Ref<Actor>[];
}

class Wrong extends FrameworkModel {
  // @ts-expect-error: a text, the field is a number
  @prop({ type: Number, example: "5" })
  number?: number;
  // @ts-expect-error: a Date, which is a text in JSON
  @prop({ type: Date, example: new Date() })
  date?: Date;
  // @ts-expect-error: not one of the letters
  @prop({ enum: ["a", "b"] as const, example: "c" })
  letter?: "a" | "b";
  // @ts-expect-error: one value, the field is a list
  @arrayProp({ items: String, example: "a" })
  tags?: string[];
  // @ts-expect-error: a list of texts, the elements are numbers
  @arrayProp({ items: Number, example: ["1"] })
  numbers?: number[];
  // @ts-expect-error: a number, the summary is a text
  @prop({ summary: 5 })
  text?: string;
}

expect<Same<FieldOptions<Date>["example"], string | undefined>>();
expect<Same<FieldOptions<bigint[]>["example"], readonly (string | number)[] | undefined>>();

@rest({
  route: "/told",
  methods: [
    all({ summary: "List", tags: ["a"], deprecated: false, example: { text: "a" } }),
    create<Routed>({ description: "Create", operationId: "make", preSend: (_req, told) => told }),
    // @ts-expect-error: tags are a list
    all({ tags: "a" }),
    // @ts-expect-error: a summary is a text
    create({ summary: 5 }),
  ],
})
class Routed extends FrameworkModel {
  @prop()
  text?: string;
}

Deno.test("examples have the JSON form of their field", () => {
  assertEquals([Told.name, Wrong.name, Routed.name], ["Told", "Wrong", "Routed"]);
});
