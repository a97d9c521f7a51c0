/**
 * What the compiler must accept of fields, and what it must refuse. `deno test` type-checks this file: a case that
 * compiles although it must not is an unused `@ts-expect-error`, and that is an error.
 */
import { assertEquals } from "@std/assert";
import type { Buffer } from "node:buffer";
import { Buffer as Bytes } from "node:buffer";
import { Schema, Types } from "mongoose";
import {
  arrayProp,
  type DateOnly,
  type FieldDecorator,
  FrameworkModel,
  getModel,
  prop,
  type Ref,
  type Restricted,
  StoredFile,
} from "../../mod.ts";
import { Actor, Address, expect, Movie, type Same } from "../support/same_type.ts";

enum Genre {
  Comedy = "comedy",
  Drama = "drama",
}
enum Level {
  Low,
  High,
}

// Fields that agree with their options

class Agrees extends FrameworkModel {
  @prop()
  text!: string;
  @prop()
  optional?: string;
  @prop()
  nullable!: string | null;
  @prop({ required: true })
  literal!: "a" | "b";
  @prop({ enum: Genre, default: Genre.Comedy })
  genre!: Genre;
  @prop({ type: Number, enum: Level })
  level?: Level;
  @prop({ enum: ["a", "b"] as const })
  letter?: "a" | "b";
  @prop({ type: String, minLength: 2, match: /a/, trim: true })
  named?: string;
  @prop({ type: Number, min: 1, max: [9, "Too big"], validate: (value) => value > 1 })
  number?: number;
  @prop({ type: Boolean, default: false })
  flag!: boolean;
  @prop({ type: Date, default: Date.now })
  now!: Date;
  @prop({ type: Date, default: () => new Date(), min: new Date(0) })
  made!: Date;
  @prop({ type: BigInt })
  big?: bigint;
  @prop({ type: Bytes })
  bytes?: Buffer;
  @prop({ type: Types.Decimal128 })
  price?: Types.Decimal128;
  @prop({ type: Schema.Types.Decimal128 })
  price2?: Types.Decimal128;
  @prop({ type: Types.UUID })
  uuid?: Types.UUID;
  @prop({ type: Map, of: Number })
  map?: Map<string, number>;
  @prop({ type: Object })
  free?: { name: string; list: string[] };
  @prop({ type: Schema.Types.Mixed })
  mixed?: Record<string, unknown>;
  @prop({ default: 5 })
  five!: number;
  @prop({ default: 5n })
  bigFive!: bigint;
  @prop({ default: true })
  yes!: boolean;
  @prop({ default: "a" })
  letterA!: string;
  @prop({ type: Address })
  address?: Address;
  @prop({ type: () => Address })
  later?: Address;
  @prop({ type: Types.ObjectId })
  id1?: Types.ObjectId;
  @prop({ type: Schema.Types.ObjectId })
  id2?: string;
  @prop({ ref: Actor })
  actor?: Ref<Actor>;
  @prop({ ref: () => Actor, required: true, index: true })
  actor2!: string;
  @prop({ type: String, ref: () => Actor })
  actor3?: string;
  @prop({ ref: Actor, exists: true })
  actor4?: Ref<Actor>;
  @prop({ type: Number, ref: "Host", exists: true, required: true })
  actor5!: number;
  @prop({ type: Map, of: Types.ObjectId, ref: "Actor", exists: true })
  actorMap?: Map<string, Types.ObjectId>;
  @prop({ exists: false })
  unchecked?: string;
  @arrayProp({ items: String })
  tags?: string[];
  @arrayProp({ items: String, enum: Genre })
  genres?: Genre[];
  @arrayProp({ items: Number, default: [1], validate: (list) => list.length < 3 })
  numbers?: number[];
  @arrayProp({ items: Actor })
  actors?: Types.ObjectId[];
  @arrayProp({ items: () => Actor })
  actors2?: Ref<Actor>[];
  @arrayProp({ items: Actor, embedded: false })
  actors3?: string[];
  @arrayProp({ items: () => Actor, exists: true })
  actors4?: Ref<Actor>[];
  @arrayProp({ items: Actor, exists: true, embedded: false })
  actors5?: string[];
  @arrayProp({ items: Address, embedded: true, hidden: true, readonly: true })
  addresses?: Address[];
  @arrayProp({ items: () => Address, embedded: true })
  addresses2!: Address[];
  @arrayProp({ items: Object })
  frees?: { a: number }[];
}

// The keyword readonly

class Keyword extends FrameworkModel {
  @prop({ readonly: true })
  readonly kept?: string;
  @prop({ type: Number, readonly: true })
  readonly total!: number;
  @prop({ stamp: "createdBy" })
  readonly author?: string;
  @prop({ type: StoredFile, maxBytes: 9 })
  readonly picture?: StoredFile;
  @prop({ type: Object })
  list?: readonly string[];
  // @ts-expect-error clients could set it
  @prop()
  readonly a?: string;
  // @ts-expect-error clients could set it
  @prop({ type: Number, required: true })
  readonly b!: number;
  // @ts-expect-error clients could set it
  @prop({ hidden: true })
  readonly c!: string;
  // @ts-expect-error some clients could set it
  @prop({ readonly: () => true })
  readonly d!: string;
  // @ts-expect-error clients could set it
  @arrayProp({ items: String })
  readonly e?: string[];
  // @ts-expect-error clients could set it
  @prop({ type: () => Keyword })
  readonly f?: Keyword;
  // @ts-expect-error clients could set it
  @prop({ default: 5 })
  readonly g = 5;
}

// Fields that do not agree

class Disagrees extends FrameworkModel {
  // @ts-expect-error a number without a type
  @prop()
  a!: number;
  // @ts-expect-error a date without a type
  @prop({ required: true })
  b!: Date;
  // @ts-expect-error a number is no text
  @prop({ type: Number })
  c!: string;
  // @ts-expect-error text is no number
  @prop({ type: String })
  d!: number;
  // @ts-expect-error a date is no text
  @prop({ type: Date })
  e!: string;
  // @ts-expect-error an int64 is no number
  @prop({ type: BigInt })
  f!: number;
  // @ts-expect-error the default is of another type
  @prop({ type: Number, default: "a" })
  g!: number;
  // @ts-expect-error the default tells another type
  @prop({ default: 5 })
  h!: string;
  // @ts-expect-error another model
  @prop({ type: Address })
  i!: Actor;
  // @ts-expect-error another model, by a thunk
  @prop({ type: () => Address })
  j!: Actor;
  // @ts-expect-error a reference is an identifier, not the entity
  @prop({ ref: Actor })
  k!: Actor;
  // @ts-expect-error a reference is no number
  @prop({ ref: () => Actor })
  l!: number;
  // @ts-expect-error an option that there is not
  @prop({ requird: true })
  m!: string;
  // @ts-expect-error a class that is no model
  @prop({ type: class Plain {} })
  n!: object;
  // @ts-expect-error a reference to a class that is no model
  @prop({ ref: class Plain {} })
  o!: string;
  // @ts-expect-error a validator of another type
  @prop({ type: Number, validate: (value: string) => value === "" })
  p!: number;
  // @ts-expect-error a list under @prop
  @prop({ type: String })
  q!: string[];
  // @ts-expect-error bytes are no text
  @prop({ type: Bytes })
  r!: string;
  // @ts-expect-error Mongoose's own spelling is held against the field as well
  @prop({ type: Schema.Types.Decimal128 })
  s!: number;
}

class Unreferring extends FrameworkModel {
  // @ts-expect-error no reference
  @prop({ exists: true })
  a?: string;
  // @ts-expect-error an identifier that refers to no model
  @prop({ type: Types.ObjectId, exists: true })
  b?: Types.ObjectId;
  // @ts-expect-error an embedded object
  @prop({ type: Address, exists: true })
  c?: Address;
  // @ts-expect-error values
  @arrayProp({ items: String, exists: true })
  d?: string[];
  // @ts-expect-error embedded objects
  @arrayProp({ items: Address, embedded: true, exists: true })
  e?: Address[];
  // @ts-expect-error neither true nor false
  @prop({ ref: Actor, exists: "yes" })
  f?: Ref<Actor>;
}

class DisagreesInDetail extends FrameworkModel {
  // @ts-expect-error a reference to another model
  @prop({ ref: () => Address })
  a?: Ref<Movie>;
  // @ts-expect-error a reference to another model, by its class
  @prop({ ref: Address })
  b?: Ref<Movie> | null;
  // @ts-expect-error a reference to another model, its type given
  @prop({ type: Types.ObjectId, ref: Address })
  c?: Ref<Movie>;
  // @ts-expect-error references to another model
  @arrayProp({ items: () => Address })
  d?: Ref<Movie>[];
  // @ts-expect-error a Map of another type
  @prop({ type: Map, of: Number })
  e?: Map<string, string>;
  // @ts-expect-error a Map of another model
  @prop({ type: Map, of: Address })
  f?: Map<string, Movie>;
  // @ts-expect-error no Map
  @prop({ of: String })
  g?: string;
  // @ts-expect-error a default outside of the enum
  @prop({ enum: ["a", "b"], default: "c" })
  h?: string;
  // @ts-expect-error a default outside of the TypeScript enum
  @prop({ enum: Genre, default: "horror" })
  i?: string;
  // @ts-expect-error a default outside of the values
  @prop({ type: Number, enum: { values: [1, 2] }, default: 3 })
  j?: number;
  // @ts-expect-error an enum beside the field's values
  @prop({ enum: ["a", "c"] })
  k?: "a" | "b";
  // @ts-expect-error an enum of elements beside the field's values
  @arrayProp({ items: String, enum: ["a", "c"] })
  l?: ("a" | "b")[];
  // @ts-expect-error a default beside the field's values
  @prop({ default: "c" })
  m?: "a" | "b";
  // @ts-expect-error a default function of another type
  @prop({ type: Date, default: () => "today" })
  n?: Date;
}

class AgreesInDetail extends FrameworkModel {
  @prop({ ref: () => Movie })
  a?: Ref<Movie>;
  @prop({ ref: Movie })
  b?: Ref<FrameworkModel>;
  @arrayProp({ items: () => Movie })
  c?: Ref<Movie>[];
  @prop({ type: Map, of: Address })
  d?: Map<string, Address>;
  @prop({ type: Map, of: () => Address })
  e?: Map<string, Address>;
  @prop({ type: Map, of: String })
  f?: Map<string, "a" | "b">;
  @prop({ type: Map })
  g?: Map<string, number>;
  @prop({ enum: ["a", "b", null], default: "a" })
  h?: string | null;
  @prop({ enum: ["comedy", "drama"], default: "comedy" })
  i?: Genre;
  @prop({ type: Number, enum: { values: [1, 2], message: "One or two" }, default: 2 })
  j?: number;
  @prop({ type: Number, enum: Level, default: Level.Low })
  k?: Level;
  @prop({ type: Object, default: { list: ["a"], deep: { n: 1 } } })
  l?: { list: string[]; deep: { n: number } };
  @prop({ type: Object, default: () => ({ list: [] }) })
  m?: { list: string[] };
  @prop({ type: Types.ObjectId, default: () => new Types.ObjectId() })
  n?: Types.ObjectId;
  @prop({ default: () => "a" })
  o?: string;
  @arrayProp({ items: String, enum: Genre, default: [Genre.Comedy] })
  p?: Genre[];
  @prop({ validate: (value) => value.length < 3, set: (value) => value.trim() })
  q?: string;
  @prop({ ref: () => AgreesInDetail })
  r?: Ref<AgreesInDetail>;
  @prop({ required: true, validate: (value) => value.length < 3 })
  s!: string;
  @prop({ hidden: (req) => req.ip === "", set: (value) => value.trim() })
  t!: Restricted<string>;
  // @ts-expect-error -- some readers do not get the field
  @prop({ hidden: (req) => req.ip === "", set: (value) => value.trim() })
  u!: string;
}

// Decorators that stand elsewhere

const short = prop({ maxLength: 5 });
const year = prop({ type: Number, min: 1888 });
const tags = arrayProp({ items: String });
function trimmed(): FieldDecorator<string> {
  return prop({ trim: true });
}

class Elsewhere extends FrameworkModel {
  @short
  a?: string;
  @year
  b?: number;
  @tags
  c?: string[];
  @trimmed()
  d!: string;
  // @ts-expect-error a number is no text
  @short
  e?: number;
  // @ts-expect-error text is no number
  @year
  f?: string;
}

class DisagreesInArrays extends FrameworkModel {
  // @ts-expect-error texts are no numbers
  @arrayProp({ items: String })
  a!: number[];
  // @ts-expect-error numbers are no texts
  @arrayProp({ items: Number })
  b!: string[];
  // @ts-expect-error references are identifiers
  @arrayProp({ items: Actor })
  c!: Actor[];
  // @ts-expect-error embedded documents are no identifiers
  @arrayProp({ items: Address, embedded: true })
  d!: string[];
  // @ts-expect-error another model
  @arrayProp({ items: () => Address, embedded: true })
  e!: Actor[];
  // @ts-expect-error one is no list
  @arrayProp({ items: String })
  f!: string;
  // @ts-expect-error no items
  @arrayProp({})
  g!: string[];
  // @ts-expect-error no options
  @arrayProp()
  h!: string[];
  // @ts-expect-error scalars are never embedded
  @arrayProp({ items: String, embedded: true })
  i!: string[];
  // @ts-expect-error the default is of another type
  @arrayProp({ items: Number, default: ["a"] })
  j!: number[];
}

class Stranger {
  // @ts-expect-error fields belong to models
  @prop()
  name!: string;
}

class Members extends FrameworkModel {
  // @ts-expect-error a method is no field
  @prop()
  method() {}
  // @ts-expect-error a getter is no field
  @prop()
  get getter() {
    return "";
  }
  // @ts-expect-error an accessor is no field
  @prop()
  accessor value = "";
}

class Days extends FrameworkModel {
  @prop({ type: Date, dateOnly: true, required: true, default: Date.now })
  day!: DateOnly;
  @prop({ type: Date, dateOnly: true })
  plain?: Date;
  @prop({ type: Map, of: Date, dateOnly: true })
  byName?: Map<string, DateOnly>;
  @arrayProp({ items: Date, dateOnly: true })
  days?: DateOnly[];
  // @ts-expect-error the option is missing
  @prop({ type: Date })
  missing?: DateOnly;
  // @ts-expect-error the option is missing
  @arrayProp({ items: Date })
  missingInAll?: DateOnly[];
  // @ts-expect-error a string is no date
  @prop({ dateOnly: true })
  text?: string;
  // @ts-expect-error a number is no date
  @arrayProp({ items: Number, dateOnly: true })
  numbers?: number[];
}

/** An identifier may be text wherever a body or a filter is written; what is read is an identifier. */
async function references(): Promise<void> {
  const model = getModel(Agrees);
  await model.create({ actor: "x", actors2: ["x"] });
  await model.insertMany([{ actor: "x" }]);
  await model.find({ actor: "x", actors2: "x" });
  await model.find({ actor: { $in: ["x"] } });
  await model.updateOne({ actor: "x" }, { $set: { actor: "x" } });
  const made = new model({ actor: "x" });
  made.set({ actor: "x" });
  made.set("actor", "x");
  expect<Same<typeof made.actor, Ref<Actor> | undefined>>();
  // @ts-expect-error a number is no identifier
  await model.create({ actor: 5 });
}

Deno.test("the types of fields hold: every case above compiles, or fails to, as it says", () => {
  const agreeing = [Agrees, AgreesInDetail, Elsewhere];
  const disagreeing = [
    Disagrees,
    Unreferring,
    DisagreesInArrays,
    DisagreesInDetail,
    Members,
    Stranger,
    Days,
  ];
  assertEquals([agreeing.length, disagreeing.length, typeof references], [3, 7, "function"]);
});
