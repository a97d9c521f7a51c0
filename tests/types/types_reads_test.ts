/**
 * What the compiler must accept of the options of reads, and what it must refuse. `deno test` type-checks this file: a
 * case that compiles although it must not is an unused `@ts-expect-error`, and that is an error.
 */
import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { Types } from "mongoose";
import {
  all,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  type Hidden,
  type HooksOf,
  type LeanHooksOf,
  one,
  prop,
  type Ref,
  remove,
  removeAll,
  rest,
  update,
} from "../../mod.ts";
import type { ReadOptions } from "../../src/declare/options.ts";
import { Address, expect, type Same } from "../support/same_type.ts";

enum Genre {
  Comedy = "comedy",
}

class Person extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ hidden: true })
  phone?: Hidden<string>;
}

/** A field of each type. */
class Film extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ enum: Genre })
  genre?: Genre | null;
  @prop({ type: Number })
  year?: number;
  @prop({ type: BigInt })
  views?: bigint;
  @prop({ type: Boolean })
  seen?: boolean;
  @prop({ type: Date })
  made?: Date;
  @prop({ type: Types.Decimal128 })
  price?: Types.Decimal128;
  @prop({ type: Types.UUID })
  uuid?: Types.UUID;
  @prop({ type: Buffer })
  poster?: Buffer;
  @prop({ ref: Person })
  director?: Ref<Person> | null;
  @prop({ ref: Person })
  writer?: string;
  @prop({ type: Number, ref: "Studio" })
  studio?: number;
  @arrayProp({ items: Person })
  cast?: Ref<Person>[];
  @arrayProp({ items: Person })
  crew?: Types.ObjectId[];
  @arrayProp({ items: String })
  tags?: string[];
  @arrayProp({ items: Address, embedded: true })
  places?: Address[];
  @prop({ type: Address })
  home?: Address;
  @prop({ type: Object })
  free?: Record<string, unknown>;
  @prop({ type: Map, of: String })
  titles?: Map<string, string>;
  @prop({ required: true, hidden: true, minLength: 3, default: "none", match: /./ })
  secret!: Hidden<string>;
  @prop({ type: Number, hidden: true })
  cost?: Hidden<number | null>;
  @prop({ enum: ["a", "b"], hidden: true })
  grade?: Hidden<"a" | "b">;
  @prop({ ref: Person, exists: true, hidden: true })
  agent?: Hidden<Ref<Person>>;
  @arrayProp({ items: String, hidden: true })
  notes?: Hidden<string[]>;
  upper(): string {
    return this.name.toUpperCase();
  }
}

type Scalars =
  | ("_id" | "name" | "genre" | "year" | "views" | "seen" | "made")
  | ("price" | "uuid" | "poster" | "director" | "writer" | "studio");
type Lists = "cast" | "crew" | "tags" | "places";
type Objects = "home" | "free" | "titles";
type References = "director" | "writer" | "studio" | "cast" | "crew" | "tags";
type Options = ReadOptions<Film>;
type Element<T> = NonNullable<T> extends readonly (infer I)[] ? I : never;

function names(): void {
  expect<Same<Element<Options["sort"]>, Scalars>>();
  expect<Same<Element<Options["select"]>, Scalars | Lists | Objects | "__v">>();
  expect<
    Same<Element<Extract<Options["search"], readonly unknown[]>>, "name" | "genre" | "writer">
  >();
  expect<Same<References extends keyof NonNullable<Options["populate"]> ? true : false, true>>();
  expect<Same<"made" extends keyof NonNullable<Options["populate"]> ? true : false, false>>();
  expect<Same<Element<ReadOptions["sort"]>, string>>();
}

// Options that fit

const elsewhere = all({ sort: ["name"], select: ["cast"], populate: { cast: true }, count: true });
const named = all<Film>({ page: { max: 5 }, sort: ["_id", "year"], search: { index: true } });
const ofFilms: HooksOf<Film> = { sort: ["name"], populate: { cast: { select: ["name"] } } };
const ofLean: LeanHooksOf<Film> = { lean: true, select: ["name"] };
function shown(_req: FrameworkRequest, film: Entity<Film>): Entity<Film> {
  return film;
}

@rest({
  route: "/a",
  methods: [
    all({
      page: { size: 20, max: 100 },
      sort: ["year", "name", "_id", "made", "director", "poster"],
      select: ["name", "cast", "home", "free", "titles", "__v"],
      search: ["name", "genre"],
      populate: {
        director: true,
        cast: { select: ["name", "_id"], always: true },
        crew: { select: ["any"] },
        studio: true,
      },
      count: { upTo: 5, always: true },
      formats: ["ndjson", "csv"],
      parameters: ["confirm"],
      preFetch: (req) => req.ip !== undefined,
      preSend: shown,
    }),
    one({ select: ["name"], populate: { writer: { select: ["any"] } }, postFetch: shown }),
    all({
      sort: ["name"],
      lean: true,
      postFetch: (_req, film) => {
        expect<Same<typeof film, Fits>>();
        return film;
      },
    }),
    elsewhere,
    named,
    all(ofFilms),
    one(ofFilms),
    create(ofFilms),
    removeAll(ofFilms),
    all<Film>(ofFilms),
    one<Film>(ofLean),
    update<Film>(ofFilms),
    all(ofLean),
    all({ page: undefined, sort: undefined, search: undefined, count: undefined }),
  ],
})
class Fits extends Film {}

class Parts extends FrameworkModel {
  @rest({ methods: [all({ sort: ["name"], page: { max: 5 } }), one({ select: ["name"] })] })
  @arrayProp({ items: Person })
  a?: Ref<Person>[];
  @rest({ methods: [all({ sort: ["street"], search: ["street"] })] })
  @arrayProp({ items: Address, embedded: true })
  b?: Address[];
  @rest({ methods: [all({ sort: ["whatever"] })] })
  @arrayProp({ items: Person })
  c?: string[];
}

/** Operations of any model. */
function pagesOf<M extends FrameworkModel>() {
  return [all<M>({ page: { max: 5 }, count: true }), one<M>()];
}

@rest({ route: "/b", methods: pagesOf<Generic>() })
@rest({ route: "/c", methods: [all({ select: ["name"] })] })
class Generic extends FrameworkModel {
  @prop()
  name?: string;
}

// Options that do not fit

// @ts-expect-error no such field
@rest({ route: "/x", methods: [all({ sort: ["nme"] })] })
class Refused1 extends Film {}
// @ts-expect-error no such field in the list of a variable
@rest({ route: "/x", methods: [elsewhere] })
class Refused2 extends Person {}
// @ts-expect-error fields of another model
@rest({ route: "/x", methods: [all(ofFilms)] })
class Refused3 extends Person {}
// @ts-expect-error fields of another named model
@rest({ route: "/x", methods: [named] })
class Refused4 extends Person {}

/** Each is an error, as the comment above says. */
function refusedFields() {
  return [
    // @ts-expect-error a list
    all<Film>({ sort: ["tags"] }),
    // @ts-expect-error an embedded object
    all<Film>({ sort: ["home"] }),
    // @ts-expect-error an object
    all<Film>({ sort: ["free"] }),
    // @ts-expect-error a Map
    all<Film>({ sort: ["titles"] }),
    // @ts-expect-error a method
    all<Film>({ sort: ["upper"] }),
    // @ts-expect-error the version
    all<Film>({ sort: ["__v"] }),
    // @ts-expect-error a direction belongs to requests
    all<Film>({ sort: ["-name"] }),
    // @ts-expect-error a hidden field
    all<Film>({ sort: ["secret"] }),
    // @ts-expect-error a hidden number
    all<Film>({ sort: ["cost"] }),
    // @ts-expect-error a hidden list
    all<Film>({ select: ["notes"] }),
    // @ts-expect-error a hidden choice
    one<Film>({ select: ["name", "grade"] }),
    // @ts-expect-error hidden text
    all<Film>({ search: ["secret"] }),
    // @ts-expect-error a number
    all<Film>({ search: ["year"] }),
    // @ts-expect-error a list of strings
    all<Film>({ search: ["tags"] }),
    // @ts-expect-error an index is there or not
    all<Film>({ search: { index: false } }),
  ];
}

/** Each is an error, too. */
function refusedOptions() {
  return [
    // @ts-expect-error a hidden reference
    all<Film>({ populate: { agent: true } }),
    // @ts-expect-error a date
    all<Film>({ populate: { made: true } }),
    // @ts-expect-error embedded
    all<Film>({ populate: { places: true } }),
    // @ts-expect-error its own identifier
    all<Film>({ populate: { _id: true } }),
    // @ts-expect-error a hidden field of the other model
    one<Film>({ populate: { cast: { select: ["phone"] } } }),
    // @ts-expect-error no field of the other model
    one<Film>({ populate: { director: { select: ["nme"] } } }),
    // @ts-expect-error false is no option
    one<Film>({ populate: { cast: false } }),
    // @ts-expect-error no max
    all<Film>({ page: { size: 5 } }),
    // @ts-expect-error false is no option
    all<Film>({ count: false }),
  ];
}

/** The same without the name of a model: `@rest` checks the names of fields, and these are errors at once. */
function misplaced() {
  return [
    // @ts-expect-error one entity has no pages
    one({ page: { max: 5 } }),
    // @ts-expect-error one entity is not sorted
    one<Film>({ sort: ["name"] }),
    // @ts-expect-error one entity has one format
    one({ formats: ["csv"] }),
    // @ts-expect-error no format
    all({ formats: ["xml"] }),
    // @ts-expect-error no list of formats
    all<Film>({ formats: "csv" }),
    // @ts-expect-error one entity is not counted
    one({ count: true, preSend: shown }),
    // @ts-expect-error a write answers with the entity
    create({ select: ["name"] }),
    // @ts-expect-error a write answers with identifiers
    update<Film>({ populate: { cast: true } }),
    // @ts-expect-error a removal answers with nothing
    remove({ search: ["name"] }),
    // @ts-expect-error a removal has no pages
    removeAll({ page: { max: 5 } }),
    // @ts-expect-error no option of a page
    all({ page: { max: 5, sise: 2 } }),
    // @ts-expect-error no option of a count
    all({ count: { upto: 5 } }),
    // @ts-expect-error no option of a reference
    all({ populate: { cast: { allways: true } } }),
  ];
}

class RefusedPart extends FrameworkModel {
  // @ts-expect-error no field of what it refers to
  @rest({ methods: [all({ sort: ["nme"] })] })
  @arrayProp({ items: Person })
  a?: Ref<Person>[];
  // @ts-expect-error hidden in what it refers to
  @rest({ methods: [one({ select: ["phone"] })] })
  @prop({ ref: Person })
  b?: Ref<Person>;
  // @ts-expect-error no field of what it embeds
  @rest({ methods: [all({ search: ["name"] })] })
  @arrayProp({ items: Address, embedded: true })
  c?: Address[];
}

/** A hidden field holds what it says. */
async function hidden(film: Film, entity: Entity<Film>): Promise<void> {
  film.secret = "text";
  entity.secret = "text";
  entity.cost = null;
  const text: string = film.secret;
  const size: number | null | undefined = film.cost;
  await getModel(Film).create({ name: text, secret: text, cost: 5, grade: "a", notes: ["x"] });
  await getModel(Film).find({ secret: text, cost: { $gt: size ?? 0 } });
  expect<Same<Hidden<null>, null>>();
  // @ts-expect-error a number is no text
  film.secret = 5;
  // @ts-expect-error not one of the two
  film.grade = "c";
}

class HiddenDisagrees extends FrameworkModel {
  // @ts-expect-error a number without a type
  @prop({ hidden: true })
  a?: Hidden<number>;
  // @ts-expect-error text is no number
  @prop({ type: String, hidden: true })
  b?: Hidden<number>;
  // @ts-expect-error a default of another type
  @prop({ default: 5, hidden: true })
  c?: Hidden<string>;
}

Deno.test("the options of reads hold: every case above compiles, or fails to, as it says", () => {
  const classes = [Fits, Parts, Generic, Refused1, Refused2, Refused3, Refused4, RefusedPart];
  assertEquals([...classes, HiddenDisagrees].length, 9);
  assertEquals([refusedFields().length, refusedOptions().length, misplaced().length], [15, 9, 13]);
  assertEquals([typeof names, typeof hidden], ["function", "function"]);
});
