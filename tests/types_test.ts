/**
 * What the compiler must accept, and what it must refuse. `deno test` type-checks this file: a case that compiles
 * although it must not is an unused `@ts-expect-error`, and that is an error.
 */
import { assertEquals } from "@std/assert";
import type { Buffer } from "node:buffer";
import { Buffer as Bytes } from "node:buffer";
import { type HydratedDocument, Schema, Types } from "mongoose";
import {
  all,
  and,
  arrayProp,
  asFilter,
  create,
  type Entity,
  type EntityHook,
  type FieldDecorator,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  type HooksOf,
  one,
  or,
  prop,
  type Ref,
  remove,
  removeAll,
  rest,
  RestError,
  update,
} from "../mod.ts";

/** Compiles only if both types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true
  : false;

/** Takes `true` only. */
function expect<_T extends true>(): void {}

enum Genre {
  Comedy = "comedy",
  Drama = "drama",
}
enum Level {
  Low,
  High,
}

class Address extends FrameworkModel {
  @prop({ required: true })
  street!: string;
}

class Actor extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @arrayProp({ items: () => Movie })
  movies?: string[];
  act(): string {
    return this.name;
  }
}

class Movie extends FrameworkModel {
  @prop({ required: true })
  title!: string;
  @arrayProp({ items: Actor })
  actors?: Types.ObjectId[];
  static byTitle(title: string): string {
    return title;
  }
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
  @arrayProp({ items: Address, embedded: true, hidden: true, readonly: true })
  addresses?: Address[];
  @arrayProp({ items: () => Address, embedded: true })
  addresses2!: Address[];
  @arrayProp({ items: Object })
  frees?: { a: number }[];
}

// Fields that do not

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

// Hooks

class User extends FrameworkModel {
  @prop()
  name!: string;
  @prop()
  password?: string;
  hi(): string {
    return this.name;
  }
}

function removePassword(_req: FrameworkRequest, user: Entity<User>): Entity<User> {
  user.password = "";
  expect<Same<typeof user.name, string>>();
  expect<Same<ReturnType<typeof user.hi>, string>>();
  expect<Same<ReturnType<typeof user.isNew extends boolean ? () => 1 : never>, 1>>();
  return user;
}
function named(_req: FrameworkRequest, entity: { name: string }): object | null {
  return entity.name ? entity : null;
}
function keepFields<K extends string>(..._names: K[]): EntityHook<{ [N in K]: unknown }> {
  return (_req, entity) => entity;
}
function generic<T extends FrameworkModel>(_req: FrameworkRequest, entity: Entity<T>): Entity<T> {
  return entity;
}
function owned<T extends FrameworkModel & { owner: string }>(
  _req: FrameworkRequest,
  entity: Entity<T>,
): Entity<T> | null {
  return entity.owner ? entity : null;
}
const verify = (req: FrameworkRequest): boolean => req.headers.authorization === "x";
async function paginate(req: FrameworkRequest): Promise<boolean> {
  req.framework.options.skip = Number(req.query.page) * 20;
  return await Promise.resolve(true);
}
const forActors = (req: FrameworkRequest<Actor>): boolean => req.framework.filter !== undefined;

// Hooks that fit

@rest({
  route: "/a",
  methods: [
    all({ preSend: keepFields("_id", "name"), preFetch: and(verify, paginate) }),
    one({ preFetch: or(verify, and(verify, paginate)) }),
    create({
      preSave: (_req, entity: Entity<Fits>, previous) => previous === entity ? null : entity,
    }),
    update({ persist: removePassword, postFetch: asFilter(and(removePassword, named)) }),
    remove({ postFetch: or(removePassword, generic) }),
    removeAll({ fetch: () => [], preSave: (_req, entity) => entity }),
  ],
})
@rest({ route: "/b", methods: [all(), one({ preSend: and(generic, named) })] })
class Fits extends User {
  @prop()
  extra?: string;
}

@rest({
  route: "/typed",
  methods: [
    all<Typed>({
      preFetch: (req) => {
        expect<Same<typeof req, FrameworkRequest<Typed>>>();
        return true;
      },
      fetch: async (req) => (await req.framework.model()).find({ name: "x" }),
      postFetch: (_req, entity) => {
        expect<Same<typeof entity, Entity<Typed>>>();
        return entity.name === "x" ? null : entity;
      },
      preSend: async (_req, entity) => await Promise.resolve({ name: entity.name }),
    }),
    create<Typed>({
      preSave: (_req, entity, previous) => {
        expect<Same<typeof previous, Entity<Typed> | undefined>>();
        return entity;
      },
    }),
    update<Typed>({ postFetch: and((_req, entity) => entity.name ? entity : null) }),
  ],
  getConnection: async (req) => (await req.framework.model()).db,
  scope: (req) => ({ owner: req.headers.host }),
})
class Typed extends FrameworkModel {
  @prop()
  name!: string;
}

/** Operations of any model that has an owner. */
function forOwners<M extends FrameworkModel & { owner: string }>() {
  return [
    all<M>({ preFetch: (req) => req.ip !== undefined, lean: true }),
    one<M>({ postFetch: (req, entity) => entity.owner === req.ip ? entity : null }),
    // @ts-expect-error no entity is given
    create<M>({ preSave: (_req, entity) => void entity.owner }),
  ];
}

@rest({ route: "/g1", methods: forOwners<OwnedFits>() })
@rest({ route: "/g", methods: [all({ postFetch: generic }), one({ postFetch: owned })] })
class OwnedFits extends FrameworkModel {
  @prop()
  owner!: string;
}

@rest({ route: "/h", methods: [all({ preFetch: forActors }), one({ postFetch: asFilter(owned) })] })
class ActorFits extends Actor {
  @prop()
  owner!: string;
}

// Hooks that do not fit

// @ts-expect-error a hook for User on a model that is none
@rest({ route: "/x", methods: [all(), one({ postFetch: removePassword })] })
class Refused1 extends FrameworkModel {
  @prop()
  title!: string;
}
// @ts-expect-error it keeps a field that is not there
@rest({ route: "/x", methods: [all({ preSend: keepFields("_id", "nmae") })] })
class Refused2 extends FrameworkModel {
  @prop()
  name!: string;
}
// @ts-expect-error preFetch gives a boolean
@rest({ route: "/x", methods: [all({ preFetch: () => "yes" })] })
class Refused3 extends FrameworkModel {
  @prop()
  name!: string;
}
// @ts-expect-error inline hooks are typed by another model
@rest({ route: "/x", methods: [all<Typed>({ preSend: (_req, entity) => entity })] })
class Refused4 extends FrameworkModel {
  @prop()
  title!: string;
}
// @ts-expect-error a request of another model
@rest({ route: "/x", methods: [all({ preFetch: forActors })] })
class Refused5 extends FrameworkModel {
  @prop()
  title!: string;
}
// @ts-expect-error no owner, as the generic hook asks
@rest({ route: "/x", methods: [all({ postFetch: owned })] })
class Refused6 extends FrameworkModel {
  @prop()
  name!: string;
}
// @ts-expect-error no owner, as one of two composed hooks asks
@rest({ route: "/x", methods: [all({ postFetch: and(owned, generic) })] })
class Refused7 extends FrameworkModel {
  @prop()
  name!: string;
}
// @ts-expect-error no owner, as an alternative asks
@rest({ route: "/x", methods: [all({ postFetch: or(named, owned) })] })
class Refused8 extends FrameworkModel {
  @prop()
  name!: string;
}
// @ts-expect-error no owner, under asFilter
@rest({ route: "/x", methods: [all({ postFetch: asFilter(owned) })] })
class Refused9 extends FrameworkModel {
  @prop()
  name!: string;
}
// @ts-expect-error a hook that there is not
@rest({ route: "/x", methods: [all({ postFech: generic })] })
class Refused10 extends FrameworkModel {
  @prop()
  name!: string;
}
// @ts-expect-error no model
@rest({ route: "/x", methods: [all()] })
class Refused11 {
  name!: string;
}
// @ts-expect-error the second of two operations does not fit
@rest({ route: "/x", methods: [all({ postFetch: generic }), update({ preSave: removePassword })] })
class Refused12 extends FrameworkModel {
  @prop()
  name!: string;
}
// @ts-expect-error no route
@rest({ methods: [all()] })
class Refused13 extends FrameworkModel {}
// @ts-expect-error an operation that is not called
@rest({ route: "/x", methods: [all] })
class Refused14 extends FrameworkModel {}
// @ts-expect-error a hook that gives text
@rest({ route: "/x", methods: [all({ preSend: () => "text" })] })
class Refused15 extends FrameworkModel {}
// @ts-expect-error an option that there is not
@rest({ route: "/x", methods: [all()], schemaOption: {} })
class Refused16 extends FrameworkModel {}
// @ts-expect-error a persist hook for another model
@rest({ route: "/x", methods: [create({ persist: removePassword })] })
class Refused17 extends FrameworkModel {}

// @ts-expect-error a list saves nothing
@rest({ route: "/x", methods: [all({ preSave: generic })] })
class Refused18 extends FrameworkModel {}
// @ts-expect-error a removal answers with nothing
@rest({ route: "/x", methods: [remove({ preSend: generic })] })
class Refused19 extends FrameworkModel {}
// @ts-expect-error no operations
@rest({ route: "/x", methods: [] })
class Refused20 extends FrameworkModel {}
// @ts-expect-error a hook that returns nothing
@rest({ route: "/x", methods: [create({ preSave: (_req, _entity) => {} })] })
class Refused21 extends FrameworkModel {}
// @ts-expect-error a scope that returns nothing
@rest({ route: "/x", methods: [all()], scope: () => {} })
class Refused22 extends FrameworkModel {}

// Hooks of a list that stands elsewhere

const shared = [
  all({ preFetch: verify, preSend: named }),
  one<User>({ postFetch: removePassword }),
];
const some: HooksOf<User> = { preFetch: verify };

@rest({ route: "/shared", methods: [...shared, removeAll(some), create(some)] })
class Shared extends User {}
// @ts-expect-error hooks of the list expect another model
@rest({ route: "/x", methods: [...shared, create()] })
class Refused23 extends FrameworkModel {
  @prop()
  title!: string;
}
// @ts-expect-error a hook of the list returns nothing
const refused = [all({ preFetch: () => {} })];

// Inline hooks, typed by the class

@rest({
  route: "/inline",
  methods: [
    all({
      postFetch: (req, entity) => {
        expect<Same<typeof req, FrameworkRequest<Inline>>>();
        expect<Same<typeof entity, Entity<Inline>>>();
        return entity;
      },
    }),
    one({
      lean: true,
      preSend: (_req, entity) => {
        expect<Same<typeof entity, Inline>>();
        return { name: entity.name };
      },
    }),
    update({ preSave: and((_req, entity) => entity.name ? entity : null) }),
  ],
  scope: (req) => {
    expect<Same<typeof req, FrameworkRequest<Inline>>>();
    return {};
  },
})
class Inline extends FrameworkModel {
  @prop()
  name?: string;
  @rest({
    methods: [all({
      preSend: (_req, entity) => {
        expect<Same<typeof entity, Entity<Address>>>();
        return entity;
      },
    })],
  })
  @arrayProp({ items: Address, embedded: true })
  addresses?: Address[];
}

// Requests, models, errors

async function requests(req: FrameworkRequest<Movie>): Promise<void> {
  const model = await req.framework.model();
  const movie = await model.findOne({ title: "x" });
  if (movie !== null) expect<Same<typeof movie.title, string>>();
  expect<
    Same<
      typeof req.framework.operation,
      "all" | "one" | "create" | "update" | "remove" | "removeAll"
    >
  >();
  req.framework.filter.title = "x";
  req.framework.options = { limit: 5 };
  req.res?.setHeader("X-A", "b");
  // @ts-expect-error the operation is read-only
  req.framework.operation = "all";
  // @ts-expect-error a filter is an object
  req.framework.filter = "x";
}

async function models(): Promise<void> {
  const model = getModel(Movie);
  expect<Same<ReturnType<typeof model.byTitle>, string>>();
  const found: HydratedDocument<Movie> | null = await model.findById("x");
  expect<Same<typeof found, Entity<Movie> | null>>();
  const actor = new (getModel(Actor))({ name: "x" });
  expect<Same<ReturnType<typeof actor.act>, string>>();
  // @ts-expect-error a static that the class has not
  model.byName("x");
  // @ts-expect-error the static takes text
  model.byTitle(5);
  // @ts-expect-error no model class
  getModel(class Plain {});
  // @ts-expect-error no connection
  getModel(Movie, "mongodb://127.0.0.1");
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

function errors(): void {
  new RestError(401, { code: "UNAUTHENTICATED" }, {
    headers: { "WWW-Authenticate": "x" },
    cause: 1,
  });
  new RestError(403, "Not yours");
  // @ts-expect-error a status is a number
  new RestError("401", "x");
  // @ts-expect-error a body or a message
  new RestError(401, 5);
  // @ts-expect-error a body or a message
  new RestError(401);
}

function options(): void {
  Framework.initialize({
    models: [Movie],
    maxTimeMS: 5,
    query: { maxDepth: 2 },
    onError: (req) => req,
  });
  // @ts-expect-error no model
  Framework.initialize({ models: [class Plain {}] });
  // @ts-expect-error an option that there is not
  Framework.initialize({ model: [Movie] });
}

function compositions(): void {
  const both = and(removePassword, named);
  expect<Same<Parameters<typeof both>[1], Entity<User>>>();
  const first: (req: FrameworkRequest) => unknown = or(verify, paginate);
  const filter = asFilter(removePassword);
  expect<Same<typeof filter, typeof removePassword>>();
  // @ts-expect-error text is no hook
  and("x");
  // @ts-expect-error nothing is no hook
  asFilter();
  void first;
}

Deno.test("the types of the package hold: every case above compiles, or fails to, as it says", () => {
  const declared = [
    Agrees,
    Disagrees,
    DisagreesInArrays,
    DisagreesInDetail,
    AgreesInDetail,
    Elsewhere,
    Members,
    Stranger,
    Fits,
    Typed,
    OwnedFits,
  ];
  const refusedClasses = [
    ...[Refused1, Refused2, Refused3, Refused4, Refused5, Refused6, Refused7, Refused8, Refused9],
    ...[Refused18, Refused19, Refused20, Refused21, Refused22, Refused23],
    ...[Refused10, Refused11, Refused12, Refused13, Refused14, Refused15, Refused16, Refused17],
  ];
  assertEquals([...declared, ActorFits, Shared, Inline].length, 14);
  assertEquals([...refusedClasses, ...refused].length, 24);
  assertEquals([requests, models, references, errors, options, compositions].length, 6);
});
