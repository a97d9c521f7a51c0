import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { Schema, Types } from "mongoose";
import { connect, type Json, type NewOf } from "@mongrove/mongrove/client";
import {
  all,
  arrayProp,
  create,
  type Defaulted,
  FrameworkModel,
  type Hidden,
  type InitializeOptions,
  one,
  prop,
  type ReadOnly,
  type Ref,
  rest,
  update,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { heldFetch } from "./held/held_fetch.ts";
import { mount } from "../support/support.ts";
import { onlyStrict } from "../support/only_strict.ts";

enum Genre {
  Comedy = "comedy",
  Drama = "drama",
}
enum Level {
  Low,
  High,
}

@rest({ route: "/forms-others", methods: [create()] })
class Other extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ hidden: true })
  pin?: Hidden<string>;
}

/** Embedded in others. */
class Part extends FrameworkModel {
  @prop({ type: Date })
  at!: Date;
  @prop({ type: Types.Decimal128 })
  price!: Types.Decimal128;
  @prop({ hidden: true })
  pin?: Hidden<string>;
  get line(): string {
    return String(this.price);
  }
}

/** Embedded in others, without identifiers. */
class Bare extends FrameworkModel {
  static override schemaOptions = { _id: false };
  declare readonly _id: never;
  @prop({ type: BigInt })
  big!: bigint;
}

const POPULATE = { populate: { ref: true, refs: true }, select: ["name", "date", "ref"] } as const;

/** A field of every kind that `@prop` and `@arrayProp` know. */
@rest({
  route: "/forms",
  methods: [all(POPULATE), one(POPULATE), create(), update()],
  schemaOptions: { timestamps: true, minimize: false },
})
class Forms extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop()
  optional?: string;
  @prop({ type: Number })
  number!: number;
  @prop({ type: Schema.Types.Int32 })
  int!: number;
  @prop({ type: Schema.Types.Double })
  double!: number;
  @prop({ type: Boolean, default: false })
  flag!: Defaulted<boolean>;
  @prop({ default: 5 })
  counted!: Defaulted<number>;
  @prop({ type: Date })
  date!: Date;
  @prop({ type: BigInt })
  big!: bigint;
  @prop({ type: BigInt })
  bigger!: bigint;
  @prop({ type: Buffer })
  bytes!: Buffer;
  @prop({ type: Types.ObjectId })
  id!: Types.ObjectId;
  @prop({ type: Types.ObjectId })
  text!: string;
  @prop({ type: Types.Decimal128 })
  decimal!: Types.Decimal128;
  @prop({ type: Types.UUID })
  uuid!: Types.UUID;
  @prop({ enum: Genre })
  genre!: Genre;
  @prop({ type: Number, enum: Level })
  level!: Level;
  @prop({ enum: ["a", "b"] })
  letter!: "a" | "b";
  @prop({ type: Map, of: Number })
  numbers!: Map<string, number>;
  @prop({ type: Map, of: Date })
  days!: Map<string, Date>;
  @prop({ type: Map, of: Part })
  partMap!: Map<string, Part>;
  @prop({ type: Object })
  free!: { a: string; at: Date; list: { id: Types.ObjectId }[] };
  @prop({ type: Object })
  any!: object;
  @prop({ type: Schema.Types.Mixed })
  mixed!: Record<string, number>;
  @prop({ type: Part })
  part!: Part;
  @prop({ type: Bare })
  bare!: Bare;
  @prop({ ref: Other })
  ref!: Ref<Other>;
  @arrayProp({ items: Other })
  refs!: Ref<Other>[];
  @arrayProp({ items: String })
  tags!: string[];
  @arrayProp({ items: Date })
  dates!: Date[];
  @arrayProp({ items: BigInt })
  bigs!: bigint[];
  @arrayProp({ items: Buffer })
  byteses!: Buffer[];
  @arrayProp({ items: Types.UUID })
  uuids!: Types.UUID[];
  @arrayProp({ items: Object })
  frees!: { a: Date }[];
  @arrayProp({ items: Part, embedded: true })
  parts!: Part[];
  @prop({ type: Number, readonly: true, default: 1 })
  readonly!: ReadOnly<number>;
  @prop({ type: Boolean, readonly: true, default: true })
  readonly readonlyToo!: ReadOnly<boolean>;
  @prop({ hidden: true })
  secret?: Hidden<string>;
  @arrayProp({ items: String, hidden: true })
  secrets?: Hidden<string[]>;
  declare readonly createdAt: ReadOnly<Date>;
  declare readonly updatedAt?: Date;
  method(): string {
    return this.name;
  }
  get getter(): string {
    return this.name;
  }
}

/** A type, as a value: `typeof`, of what is inside of lists, Maps (the key `*`) and objects too. */
type Form<V> = unknown extends V ? unknown
  : V extends string ? "string"
  : V extends number ? "number"
  : V extends boolean ? "boolean"
  : V extends Date ? "date"
  : V extends readonly (infer I)[] ? readonly [Form<I>]
  : V extends object ? string extends keyof V ? { "*": Form<V[keyof V]> }
    : { [K in keyof V]-?: Form<NonNullable<V[K]>> }
  : never;

/** A real value in the same way. */
function formOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(formOf);
  if (value instanceof Date) return "date";
  if (typeof value !== "object" || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, formOf(each)]));
}

const PART = { _id: "string", at: "string", price: "string" } as const;

/** What the types say: this object would not compile if a field of `Json<Forms>` had another form. */
const FORMS = {
  ...{ _id: "string", __v: "number", name: "string", optional: "string" },
  ...{ number: "number", int: "number", double: "number", flag: "boolean", counted: "number" },
  ...{ date: "string", big: "number", bigger: "string", bytes: "string", id: "string" },
  ...{ text: "string", decimal: "string", uuid: "string", genre: "string", level: "number" },
  ...{ letter: "string", numbers: { "*": "number" }, days: { "*": "string" } },
  ...{ partMap: { "*": PART }, free: { a: "string", at: "string", list: [{ id: "string" }] } },
  ...{ any: {}, mixed: { "*": "number" }, part: PART, bare: { big: "number" }, ref: "string" },
  ...{ refs: ["string"], tags: ["string"], dates: ["string"], bigs: ["number"] },
  ...{ byteses: ["string"], uuids: ["string"], frees: [{ a: "string" }], parts: [PART] },
  ...{ readonly: "number", readonlyToo: "boolean", createdAt: "string", updatedAt: "string" },
} as const satisfies Form<Json<Forms>>;

const ID = "0123456789abcdef01234567";
const UUID = "0123abcd-4567-489a-bcde-f0123456789a";
const AT = new Date(0);
const ENTITY: Omit<NewOf<Forms>, "ref"> = {
  ...{ name: "A", optional: "b", number: 1.5, int: 1, double: 0.5, flag: true, date: AT },
  ...{ big: 5n, bigger: 2n ** 60n, bytes: "aGk=", id: ID, text: ID, decimal: "1.10", uuid: UUID },
  ...{ genre: "comedy", level: 1, letter: "a" } as const,
  ...{ numbers: { "*": 1 }, days: { "*": AT } },
  ...{ partMap: { "*": { at: AT, price: 1.5 } }, free: { a: "a", at: AT, list: [{ id: ID }] } },
  ...{ any: {}, mixed: { "*": 1 }, part: { at: AT, price: "1" }, bare: { big: "5" } },
  ...{ tags: ["a"], dates: [AT], bigs: [1], byteses: ["aGk="], uuids: [UUID], frees: [{ a: AT }] },
  ...{ parts: [{ at: AT, price: "1", pin: "p" }], secret: "s", secrets: ["s"] },
};

/** Serves the models, and creates an entity with every field. All calls are held against the OpenAPI document. */
async function openForms(options: Pick<InitializeOptions, "strict"> = {}) {
  const held = await heldFetch([Forms, Other], fetch);
  const app = await mount([Forms, Other], options);
  const api = connect(app.url, { fetch: held.fetch });
  const forms = api.resource<Forms>("/forms");
  const other = await api.resource<Other>("/forms-others").create({ name: "O", pin: "1" });
  const made = await forms.create({ ...ENTITY, ref: other._id, refs: [other._id] });
  return {
    forms,
    made,
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      held.check();
    },
  };
}

test("Json is what answers show of every kind of field", async () => {
  await using open = await openForms();
  const { forms, made } = open;
  const { items: [listed] } = await forms.all();
  const changed = await forms.update(made._id, { name: "B" });
  for (const answer of [made, await forms.one(made._id), listed, changed]) {
    assertEquals(formOf(answer), FORMS);
  }
});

test("what the types of bodies allow is accepted by strict bodies, and so is what was read", async () => {
  await using open = await openForms({ strict: onlyStrict("bodies") });
  const { forms, made } = open;
  const changed = await forms.update(made._id, { ...made, name: "B", optional: null });
  assertEquals([changed.name, changed.optional, changed.__v], ["B", undefined, 1]);
  const locked = await forms.update(made._id, { name: "C", __v: changed.__v });
  assertEquals([locked.name, formOf(locked.part)], ["C", PART]);
});

test("an answer with select, populate and revive is what its type says", async () => {
  await using open = await openForms();
  const { forms, made: { _id } } = open;
  const other = { _id: "string", __v: "number", name: "string" } as const;
  const whole = await forms.one(_id, { populate: ["ref", "refs"], revive: ["date", "dates"] });
  assert(whole.ref);
  const changed = { ...FORMS, ref: other, refs: [other], date: "date", dates: ["date"] } as const;
  assertEquals(formOf(whole), changed satisfies Form<typeof whole>);
  const part = await forms.one(_id, { select: ["date", "ref"], populate: ["ref"] });
  const chosen = { _id: "string", date: "string", ref: other } as const;
  assertEquals(formOf(part), chosen satisfies Form<typeof part>);
  const { items: [first] } = await forms.all({ select: ["name", "date"], revive: ["date"] });
  assert(first);
  const listed = { _id: "string", name: "string", date: "date" } as const;
  assertEquals(formOf(first), listed satisfies Form<typeof first>);
});
