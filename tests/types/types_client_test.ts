/**
 * What the compiler must accept of the client's types, and what it must refuse. `deno test` type-checks this file: a case
 * that compiles although it must not is an unused `@ts-expect-error`, and that is an error.
 */
import { assertEquals } from "@std/assert";
import { Types } from "mongoose";
import {
  type Answer,
  type ChangesOf,
  connect,
  type Json,
  type NewOf,
  type PatchOf,
  type Query,
  type ReplacementOf,
  type Resource,
  type SortName,
} from "@mongrove/mongrove/client";
import type { FieldName } from "../../src/client/types/select.ts";
import { arrayProp, FrameworkModel, type Hidden, prop } from "../../mod.ts";
import type { Defaulted, FrameworkRequest, ReadOnly, Ref, Restricted } from "../../mod.ts";
import type { Film, Person } from "../fixtures/studio.ts";
import { expect, type Same } from "../support/same_type.ts";

class Inner extends FrameworkModel {
  @prop({ required: true })
  city!: string;
  @prop({ type: Date })
  since?: Date;
  @prop({ hidden: true })
  pin?: Hidden<string>;
}

/** Embedded in itself. */
class Tree extends FrameworkModel {
  @prop()
  name?: string;
  @arrayProp({ items: () => Tree, embedded: true })
  trees?: Tree[];
}

const trees: Query<Tree>[] = [
  { name: "a", "trees.name": "b", "trees.trees.name": "c", "trees.trees.trees.name": { any: 1 } },
  // @ts-expect-error no such field, at the third name
  { "trees.trees.nme": "c" },
];

class Referring extends FrameworkModel {
  @prop({ ref: Inner })
  one?: Ref<Inner>;
  @arrayProp({ items: () => Tree })
  trees?: Ref<Tree>[];
}

const referring: Query<Referring>[] = [
  { "one.city": "Rome", "one.since": { $gt: "2026-01-01" }, $nor: [{ "trees.name": null }] },
  { one: "0123", "one._id": { $ne: "0123" }, "trees.name": { $not: { $regex: "a" } } },
  // @ts-expect-error no such field of the referred class
  { "one.cty": "Rome" },
  // @ts-expect-error hidden
  { "one.pin": "1" },
  // @ts-expect-error no single value
  { "trees.trees": [] },
  // @ts-expect-error another type
  { "one.city": 5 },
];

enum Genre {
  Comedy = "comedy",
  Drama = "drama",
}

class Thing extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ type: Number })
  year?: number;
  @prop({ type: Boolean })
  flag?: boolean | null;
  @prop({ type: BigInt })
  big?: bigint;
  @prop({ type: Types.Decimal128 })
  price?: Types.Decimal128;
  @prop({ enum: Genre })
  genre?: Genre;
  @prop({ type: Inner })
  inner?: Inner;
  @arrayProp({ items: Inner, embedded: true })
  inners!: Inner[];
  @arrayProp({ items: String })
  tags!: string[];
  @arrayProp({ items: Number })
  spot?: number[];
  @prop({ type: Map, of: Number })
  counts?: Map<string, number>;
  @prop({ type: Object })
  free?: { a: string };
  @prop({ hidden: true })
  secret?: Hidden<string>;
  @prop({ type: Date, readonly: true })
  made?: ReadOnly<Date>;
  readonly also?: string;
  get line(): string {
    return this.name;
  }
  upper(): string {
    return this.name;
  }
}

const isGuest = (req: FrameworkRequest) => req.headers.authorization === undefined;

/** What some readers do not see. */
class Kept extends FrameworkModel {
  @prop({ required: true, hidden: isGuest })
  note!: Restricted<string>;
  @prop({ type: Number, hidden: isGuest })
  score?: Restricted<number>;
  @arrayProp({ items: Inner, embedded: true, hidden: isGuest })
  inners!: Restricted<Inner[]>;
  @prop({ readonly: isGuest, default: "open" })
  state!: string;
}

expect<Same<Json<Kept>["note"], string | undefined>>();
expect<Same<Json<Kept>["score"], number | undefined>>();
expect<Same<Json<Kept>["inners"], Json<Pick<Kept, "inners">>["inners"]>>();
expect<Same<Json<Kept>["state"], string>>();
expect<Same<Exclude<SortName<Kept>, `-${string}`>, "_id" | "note" | "score" | "state">>();
const kept: [Query<Kept>, NewOf<Kept>, PatchOf<Kept>] = [
  { note: { $regex: "a" }, score: { $gt: 1 }, "inners.city": "Rome" },
  { note: "a", score: 1, inners: [{ city: "Rome" }], state: "open" },
  { score: null },
];

// @ts-expect-error it may be missing
const _note: string = ({} as Json<Kept>).note;

// Groups

/** Compiled, never called. */
async function groupsOf(things: Resource<Thing>, kept: Resource<Kept>): Promise<void> {
  const [group] = await things.groups({
    by: ["genre", "made"],
    sum: ["year", "price"],
    sort: ["-sum.year", "genre", "count"],
    q: { name: "a" },
  });
  if (group === undefined) return;
  expect<Same<typeof group.genre, `${Genre}` | null>>();
  expect<Same<typeof group.made, string | null>>();
  expect<Same<typeof group.count, number | undefined>>();
  expect<Same<typeof group.sum.year, number | null>>();
  expect<Same<typeof group.sum.price, string | null>>();
  // @ts-expect-error no average was asked for
  group.avg;
  // @ts-expect-error it is in no sum
  group.sum.big;
  const [all] = await things.groups({ avg: ["big"] });
  expect<Same<NonNullable<typeof all>["avg"]["big"], number | string | null>>();
  const [own] = await kept.groups({ by: ["state", "note"], sum: ["score"] });
  expect<Same<NonNullable<typeof own>["note"], string | null>>();
  expect<Same<NonNullable<typeof own>["sum"]["score"], number | null>>();
}

function wrongGroups(things: Resource<Thing>): unknown[] {
  return [
    groupsOf,
    // @ts-expect-error no such field
    () => things.groups({ by: ["nme"] }),
    // @ts-expect-error no value of a group
    () => things.groups({ by: ["tags"] }),
    // @ts-expect-error hidden
    () => things.groups({ by: ["secret"] }),
    // @ts-expect-error no number
    () => things.groups({ sum: ["name"] }),
    // @ts-expect-error not asked for
    () => things.groups({ by: ["name"], sort: ["year"] }),
    // @ts-expect-error no reference
    () => things.groups({ by: ["made"], populate: ["made"] }),
    // @ts-expect-error entities have it, groups do not
    () => things.groups({ by: ["name"], limit: 5 }),
  ];
}

async function groupsWithEntities(films: Resource<Film>): Promise<void> {
  const [group] = await films.groups({
    by: ["name", "director"],
    populate: ["director"],
    timeZone: "Europe/Paris",
  });
  if (group === undefined) return;
  expect<Same<typeof group.director, Json<Person> | null>>();
  expect<Same<typeof group.name, string | null>>();
  // @ts-expect-error not grouped
  await films.groups({ by: ["name"], populate: ["director"] });
}

assertEquals(typeof groupsWithEntities, "function");

// Names

expect<
  Same<
    FieldName<Person>,
    "_id" | "__v" | "name" | "born"
  >
>();
expect<Same<SortName<Person>, "_id" | "-_id" | "name" | "-name" | "born" | "-born">>();
expect<Same<Json<Person>["born"], string | undefined>>();
expect<Same<"line" | "upper" | "secret", Exclude<keyof Thing, keyof Json<Thing>>>>();
expect<Same<Json<Thing>["genre"], "comedy" | "drama" | undefined>>();
expect<Same<keyof Answer<Film, readonly ["name"]>, "_id" | "name">>();
expect<Same<Answer<Film>, Json<Film>>>();
expect<
  Same<Answer<Film, readonly ["updatedAt"], never, readonly ["updatedAt"]>["updatedAt"], Date>
>();

/** A list of names that the compiler does not know leaves every field open. */
type Open = Answer<Film, readonly ("name" | "year")[]>;
expect<Same<Pick<Open, "name">, { name?: string }>>();

// Filters

const filters: Query<Thing>[] = [
  {},
  { name: "a", year: 5, flag: null, genre: "comedy", _id: "x" },
  { year: { $gte: 1970, $mod: [2, 1], $in: [1, null], $not: { $lt: 5 } } },
  { name: { $regex: "a", $options: "i" }, tags: { $regex: "a", $size: 1, $all: ["a"] } },
  { made: { $gt: new Date() }, also: { $exists: true }, big: { $lt: 5n }, price: { $eq: "1.1" } },
  { "inner.city": "Rome", "inners.since": { $lt: "2020-01-01" }, "counts.a": 1, "free.a": "x" },
  { inners: { $elemMatch: { city: { $ne: "a" } } }, spot: { $near: { $geometry: {} } } },
  { $or: [{ name: "a" }, { $and: [{ year: 1 }], $nor: [{ flag: true }] }], free: { a: 1 } },
  { tags: ["a", "b"] },
];

const wrongFilters: Query<Thing>[] = [
  // @ts-expect-error no such field
  { yeer: 1 },
  // @ts-expect-error no such field, beside one
  { name: "a", yeer: 1 },
  // @ts-expect-error an expression for a number
  { year: { $regex: "x" } },
  // @ts-expect-error text for a number
  { year: "x" },
  // @ts-expect-error text for a list of numbers
  { year: { $in: ["x"] } },
  // @ts-expect-error not one of the values
  { genre: "tragedy" },
  // @ts-expect-error no such operator
  { year: { $greater: 1 } },
  // @ts-expect-error a hidden field
  { secret: "x" },
  // @ts-expect-error a hidden field inside
  { "inner.pin": "x" },
  // @ts-expect-error no such field inside
  { "inner.cty": "x" },
  // @ts-expect-error a getter
  { line: "x" },
  // @ts-expect-error a method
  { upper: { $exists: true } },
  // @ts-expect-error a wrong field in a list of filters
  { $or: [{ yeer: 1 }] },
  // @ts-expect-error code
  { $where: "true" },
  // @ts-expect-error a wrong field in an element
  { inners: { $elemMatch: { cty: 1 } } },
  // @ts-expect-error no list
  { name: { $size: 1 } },
  // @ts-expect-error a filter without it would select more
  { year: undefined },
  // @ts-expect-error a comparison without it would select more
  { year: { $gte: undefined } },
];

// Bodies

const bodies: NewOf<Thing>[] = [
  { name: "a" },
  { name: "a", secret: "s", big: 5n, price: 1, counts: { a: 1 }, genre: "drama", year: undefined },
  {
    name: "a",
    inner: { city: "a", since: new Date(), pin: "5" },
    inners: [{ _id: "x", city: "a" }],
    tags: [],
  },
  { name: "a", big: "5", inner: { city: "a", since: "2020-01-01" }, free: { a: "x" }, flag: null },
];

/** What a creation needs. */
class Needs extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ required: true, hidden: true })
  secret!: Hidden<string>;
  @prop({ default: false })
  done!: Defaulted<boolean>;
  @prop({ enum: Genre, default: Genre.Drama })
  genre!: Defaulted<Genre>;
  @prop({ type: Object, default: () => ({ a: "x" }) })
  free!: Defaulted<{ a: string }>;
  @prop({ hidden: isGuest, required: true })
  note!: Restricted<string>;
  @prop({ readonly: true, required: true })
  owner!: ReadOnly<string>;
  @prop()
  nullable!: string | null;
  @arrayProp({ items: Inner, embedded: true })
  list!: Inner[];
  @prop({ type: Thing })
  thing?: Thing;
}

expect<Same<Json<Needs>["done"], boolean>>();
expect<Same<Json<Needs>["genre"], "drama" | "comedy">>();
expect<Same<Json<Needs>["free"], { a: string }>>();
expect<Same<NewOf<Needs>["done"], boolean | undefined>>();
const needs: NewOf<Needs>[] = [
  { name: "a", secret: "s" },
  {
    name: "a",
    secret: "s",
    done: true,
    genre: "drama",
    free: { a: "a" },
    thing: { name: "a" },
  },
  // @ts-expect-error a required field is missing
  {},
  // @ts-expect-error a required field is missing
  { name: "a", done: true },
  // @ts-expect-error a required field cannot be undefined
  { name: undefined, secret: "s" },
  // @ts-expect-error a required field of an embedded entity is missing
  { name: "a", secret: "s", thing: {} },
  // @ts-expect-error not one of the values
  { name: "a", secret: "s", genre: "tragedy" },
];

const changes: (PatchOf<Needs> & ChangesOf<Needs>)[] = [
  {},
  { done: true, genre: "drama", free: { a: "a" } },
  // @ts-expect-error a hidden field
  { secret: "s" },
  // @ts-expect-error a readonly field
  { owner: "x" },
];

const patches: PatchOf<Thing>[] = [
  { name: null, inner: { city: null, since: null }, counts: { a: null }, tags: null },
];

const read = {} as Json<Thing>;

/** Bodies that repeat what a client has read. */
const repeated: PatchOf<Thing>[] = [
  read,
  { ...read, name: "a" },
  { _id: "x", __v: 1, name: "a" },
];
const replacements: ReplacementOf<Thing>[] = [
  read,
  { ...read, name: "a" },
  { _id: "x", __v: 1, made: "2020-01-01T00:00:00.000Z", name: "a" },
];

const unread: (NewOf<Thing> | ChangesOf<Thing>)[] = [
  // @ts-expect-error nothing is stored, or much is
  { _id: "x" },
  // @ts-expect-error nothing is stored, or much is
  { __v: 1 },
  // @ts-expect-error readonly
  { made: "2020-01-01T00:00:00.000Z" },
];

const wrongBodies: PatchOf<Thing>[] = [
  // @ts-expect-error not as an answer shows it
  { _id: 5 },
  // @ts-expect-error not as an answer shows it
  { __v: "1" },
  // @ts-expect-error readonly
  { made: "2020-01-01T00:00:00.000Z" },
  // @ts-expect-error hidden
  { secret: "s" },
  // @ts-expect-error hidden inside
  { inner: { pin: "s" } },
  // @ts-expect-error a getter
  { line: "x" },
  // @ts-expect-error a method
  { upper: "x" },
  // @ts-expect-error no such field
  { nme: "x" },
  // @ts-expect-error text for a number
  { year: "5" },
  // @ts-expect-error no such field inside
  { inner: { cty: "x" } },
  // @ts-expect-error a list with null
  { tags: [null] },
];

// Calls

const films: Resource<Film> = connect("http://localhost").resource<Film>("/studio");
const unlinked = connect("http://localhost").resource<FrameworkModel & { stars: boolean }>(
  "/unlinked",
);

async function calls(): Promise<void> {
  const one = await films.one("x", { populate: ["director", "cast"] });
  const name: string | undefined = one.director?.name;
  const names: string[] = one.cast?.map((each) => each.name) ?? [name ?? ""];
  const short = await films.one("x", { populate: { director: ["name"] } });
  expect<Same<keyof NonNullable<typeof short.director>, "_id" | "name">>();
  expect<Same<NonNullable<typeof short.cast>, string[]>>();
  await films.one(names[0] ?? "", { known: await films.one("x") });
  const { items } = await films.all({ select: ["name"], sort: ["-year"] });
  expect<Same<keyof (typeof items)[number], "_id" | "name">>();
  const live = films.live({
    select: ["name", "createdAt"],
    revive: ["createdAt"],
    q: { year: 1 },
  });
  for await (const list of live) {
    expect<Same<typeof list, Answer<Film, ["name", "createdAt"], never, ["createdAt"]>[]>>();
    list[0]?.createdAt satisfies Date | undefined;
  }
  for await (const list of films.live()) expect<Same<typeof list, Json<Film>[]>>();
  films.part("reviews", "x").live() satisfies AsyncGenerator<{ text: string }[]>;
  films.part("place", "x").one() satisfies Promise<{ city: string }>;
  films.part("reviews", "x").part("comments", "y").one("z") satisfies Promise<{ text: string }>;
  films.part("cast", "x").all() satisfies Promise<{ items: Json<Person>[] }>;
}

function wrongLists(): unknown[] {
  return [
    // @ts-expect-error no such field
    () => films.live({ sort: ["nme"] }),
    // @ts-expect-error a live list has no total
    () => films.live({ count: true }),
    // @ts-expect-error a single entity is no list
    () => films.part("place", "x").live(),
  ];
}

function wrongCalls(): unknown[] {
  return [
    // @ts-expect-error no such field
    () => films.all({ select: ["nme"] }),
    // @ts-expect-error no such field
    () => films.all({ sort: ["-nme"] }),
    // @ts-expect-error a list
    () => films.all({ sort: ["cast"] }),
    // @ts-expect-error no date
    () => films.all({ revive: ["name"] }),
    // @ts-expect-error no reference
    () => films.one("x", { populate: ["createdAt"] }),
    // @ts-expect-error no reference of a class that has none
    () => unlinked.one("x", { populate: ["stars"] }),
    // @ts-expect-error no reference, beside one
    () => films.one("x", { populate: { director: true, yer: true } }),
    // @ts-expect-error no field of the entity
    () => films.one("x", { populate: { director: ["nme"] } }),
    // @ts-expect-error no such field
    () => films.all({ limit: 5, q: { nme: "x" } }),
    // @ts-expect-error no such option
    () => films.all({ limt: 5 }),
    // @ts-expect-error no filter
    () => films.removeAll(),
    // @ts-expect-error no identifier
    () => films.remove(),
    // @ts-expect-error no entities
    () => films.part("name", "x"),
    // @ts-expect-error a single entity takes no identifier
    () => films.part("place", "x").one("y"),
    // @ts-expect-error an answer with less than is asked for
    async () => films.one("x", { known: await films.one("x", { select: ["name"] }) }),
    // @ts-expect-error an answer without its date
    async () => films.one("x", { revive: ["createdAt"], known: await films.one("x") }),
    // @ts-expect-error no version of its own
    async () => (await films.part("reviews", "x").one("y")).__v,
    // @ts-expect-error no model
    () => connect("x").resource<string>("/studio"),
    () => connect("x", { apiKey: async () => await Promise.resolve("k") }),
    // @ts-expect-error no key
    () => connect("x", { apiKey: undefined }),
  ];
}

// Types that say more than the options

class Disagrees extends FrameworkModel {
  // @ts-expect-error not hidden
  @prop()
  a?: Hidden<string>;
  // @ts-expect-error not hidden
  @prop({ type: Number, hidden: false })
  b?: Hidden<number>;
  // @ts-expect-error not hidden
  @arrayProp({ items: String })
  c?: Hidden<string[]>;
  // @ts-expect-error not readonly
  @prop({ type: Date })
  d?: ReadOnly<Date>;
  // @ts-expect-error not readonly
  @arrayProp({ items: String, hidden: true })
  e?: ReadOnly<string[]>;
  // @ts-expect-error a number without a type
  @prop({ readonly: true })
  f?: ReadOnly<number>;
  // @ts-expect-error no function hides it
  @prop()
  g?: Restricted<string>;
  // @ts-expect-error hidden from all
  @prop({ hidden: true })
  h?: Restricted<string>;
  // @ts-expect-error no default
  @prop({ type: Boolean, required: true })
  j!: Defaulted<boolean>;
  // @ts-expect-error no function hides it
  @arrayProp({ items: String, readonly: isGuest })
  i?: Restricted<string[]>;
}

Deno.test("the types of the client hold: every case compiles, or fails to, as it says", () => {
  const lists = [filters, wrongFilters, trees, referring, kept];
  assertEquals(lists.map(({ length }) => length), [9, 18, 2, 6, 3]);
  assertEquals([bodies, patches, wrongBodies].map(({ length }) => length), [4, 1, 11]);
  assertEquals([needs, changes].map(({ length }) => length), [7, 4]);
  assertEquals([repeated, replacements, unread].map(({ length }) => length), [3, 3, 3]);
  const unused = [calls, wrongCalls, wrongLists, Disagrees, Thing, Kept, Referring, Needs];
  assertEquals(wrongGroups.length, 1);
  assertEquals(unused.map(({ length }) => length), Array(8).fill(0));
});
