/**
 * What the compiler must accept of `define()`, and what it must refuse. `deno test` type-checks this file: a case that
 * compiles although it must not is an unused `@ts-expect-error`, and that is an error.
 */
import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import {
  action,
  all,
  create,
  define,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
  type Hidden,
  type ModelClass,
  one,
  onlyIf,
  prop,
  type ReadOnly,
  type Ref,
  type Restricted,
  type StandardSchema,
  update,
  updateAll,
} from "../../mod.ts";
import type { Identifier } from "../../src/declare/decorators/field_type.ts";
import { expect, type Same } from "../support/same_type.ts";

const { Schema, Types } = mongoose;

enum Genre {
  Comedy = "comedy",
  Drama = "drama",
}

class Actor extends FrameworkModel {
  name!: string;
  act(): string {
    return this.name;
  }
}
define(Actor, {
  fields: { name: { required: true } },
  rest: {
    route: "/actors",
    methods: [
      all({
        sort: ["name"],
        preSend: (req, actor) => {
          expect<Same<typeof actor, Entity<Actor>>>();
          expect<Same<typeof req, FrameworkRequest<Actor>>>();
          return actor.act() === "" ? null : actor;
        },
      }),
      one({
        lean: true,
        postFetch: (_req, actor) => {
          expect<Same<typeof actor, Actor>>();
          return actor;
        },
      }),
      create({ preSave: onlyIf((_req, actor) => actor.name !== "") }),
      updateAll({ fields: ["name"] }),
    ],
    scope: (req) => {
      expect<Same<typeof req, FrameworkRequest<Actor>>>();
      return { name: String(req.get("x-name")) };
    },
  },
});

class Address extends FrameworkModel {
  street!: string;
  city?: string;
}
define(Address, { fields: { street: {}, city: {} } });

const schema = {} as StandardSchema & {
  readonly "~standard": { readonly types?: { readonly input: string; readonly output: string } };
};

// Properties that agree with their entries

class Agrees extends FrameworkModel {
  static override schemaOptions = { timestamps: true };
  text!: string;
  optional?: string;
  nullable!: string | null;
  literal!: "a" | "b";
  genre!: Genre;
  named?: string;
  number?: number;
  initial = 5;
  flag!: boolean;
  made!: Date;
  big?: bigint;
  bytes?: Buffer;
  price?: mongoose.Types.Decimal128;
  uuid?: mongoose.Types.UUID;
  map?: Map<string, number>;
  free?: { name: string; list: string[] };
  mixed?: Record<string, unknown>;
  address?: Address;
  later?: Address;
  id?: mongoose.Types.ObjectId;
  actor?: Ref<Actor>;
  actorText!: string;
  friend?: Ref<Agrees>;
  tags!: string[];
  genres?: Genre[];
  actors?: Ref<Actor>[];
  addresses!: Address[];
  secret?: Hidden<string>;
  role!: ReadOnly<string>;
  pay!: Restricted<number>;
  // deno-lint-ignore no-explicit-any -- a property whose type says nothing
  anything?: any;
  nothing?: unknown;
  readonly createdAt!: Date;
  declare readonly updatedAt: Date;
  get upper(): string {
    return this.text.toUpperCase();
  }
  shout(): string {
    return `${this.text}!`;
  }
  static find(): string {
    return "";
  }
}

define(Agrees, {
  fields: {
    text: { required: true, validate: (text) => text.length > 1, set: (text) => text.trim() },
    optional: { type: String, validate: { validator: (text) => text.length > 1 } },
    nullable: { default: null, hidden: false },
    literal: { enum: ["a", "b"], default: "a" },
    genre: { enum: Genre, default: Genre.Comedy },
    named: { minLength: 2, maxLength: [9, "Too long"], match: /a/, validate: schema },
    number: { type: Number, min: 1, max: [9, "Too big"], validate: [(n) => n > 1, (n) => n < 9] },
    initial: { default: 5 },
    flag: { default: false },
    made: { type: Date, default: () => new Date(), min: new Date(0) },
    big: { type: BigInt },
    bytes: { type: Buffer },
    price: { type: Types.Decimal128 },
    uuid: { type: Types.UUID },
    map: { type: Map, of: Number },
    free: { type: Object },
    mixed: { type: Schema.Types.Mixed },
    address: { type: Address },
    later: { type: () => Address },
    id: { type: Types.ObjectId },
    actor: { ref: Actor, exists: true, rest: { methods: [one()] } },
    actorText: { ref: () => Actor, index: true },
    friend: { ref: () => Agrees },
    tags: { items: String, validate: (tags) => tags.length < 3 },
    genres: { items: String, enum: Genre },
    actors: {
      items: () => Actor,
      rest: [
        { methods: [all({ preSend: (_req, actor) => actor.name === "" ? null : actor })] },
        { route: "/cast", methods: [one()], ifMatch: true },
      ],
    },
    addresses: {
      items: Address,
      embedded: true,
      apart: true,
      rest: {
        methods: [all(), create({ preSave: (_req, address) => (address.street.trim(), address) })],
        scope: (req) => ({ city: String(req.get("x-city")) }),
      },
    },
    secret: { hidden: true },
    role: { readonly: true, default: "user" },
    anything: { type: Object },
    nothing: { type: Schema.Types.Mixed },
    pay: { type: Number, hidden: (req) => req.get("x-role") !== "boss" },
  },
  rest: [
    { route: "/agrees", methods: [all({ select: ["text", "number"], filter: ["address.city"] })] },
    {
      route: "/others",
      methods: [
        one(),
        update<Agrees>({ preSave: (_req, entity) => entity }),
        action("touch", {
          on: "one",
          run: async (_req, entity: Entity<Agrees>) => await entity.save(),
        }),
      ],
      schemaOptions: { collection: "agrees" },
      getConnection: (req) => {
        expect<Same<typeof req, FrameworkRequest>>();
        return mongoose.connection;
      },
      main: true,
    },
  ],
});

// Subclasses, in either form, and abstract bases

class Decorated extends FrameworkModel {
  @prop()
  name?: string;
}
class OfDecorated extends Decorated {
  age?: number;
}
define(OfDecorated, { extends: Decorated, fields: { age: { type: Number } } });
class Redeclared extends OfDecorated {
  more?: string;
}
define(Redeclared, { extends: OfDecorated, fields: { more: {}, name: { required: true } } });
class DecoratedAgain extends Redeclared {
  @prop()
  last?: string;
}
abstract class Abstract extends FrameworkModel {
  abstract label: string;
}
define(Abstract, { fields: { label: {} } });

function within(Base: ModelClass<Decorated>): ModelClass<Decorated & { extra?: string }> {
  class Within extends Base {
    extra?: string;
  }
  define(Within, { extends: Base, fields: { extra: {} } });
  return Within;
}

class Note extends FrameworkModel {
  text?: string;
  size?: number;
  owner?: Identifier;
}
class Bare extends FrameworkModel {}
class Loose extends FrameworkModel {
  // deno-lint-ignore no-explicit-any -- a property whose type says nothing
  anything?: any;
}
const FIELDS = { text: {}, size: { type: Number }, owner: { type: Types.ObjectId } } as const;
define(Note, { fields: FIELDS });

class Keyword extends FrameworkModel {
  readonly total!: number;
  readonly list?: string[];
  readonly author?: string;
}
define(Keyword, {
  fields: {
    total: { type: Number, readonly: true },
    list: { items: String, readonly: true },
    author: { stamp: "createdBy" },
  },
});

// Declarations that do not agree with their classes; nobody calls the function

function refused(): void {
  define(Bare, { fields: { _id: { type: String, minLength: 2 } } });
  define(Bare, { fields: { _id: { type: Number, default: () => 5 } } });
  define(Bare, { fields: { _id: { type: Types.UUID } } });
  // @ts-expect-error an _id of a type that paths cannot name
  define(Bare, { fields: { _id: { type: Date } } });
  // @ts-expect-error an option of another type
  define(Bare, { fields: { _id: { type: Number, minLength: 2 } } });
  // @ts-expect-error an entry is missing
  define(Note, { fields: { text: {}, size: { type: Number } } });
  // @ts-expect-error an entry for no property
  define(Note, { fields: { ...FIELDS, other: {} } });
  // @ts-expect-error an entry for a method
  define(Actor, { fields: { name: {}, act: {} } });
  // @ts-expect-error clients could set a property with the keyword readonly
  define(Keyword, { fields: { total: { type: Number } } });
  // @ts-expect-error some clients could set it
  define(Keyword, { fields: { total: { type: Number, readonly: () => true } } });
  // @ts-expect-error clients could set it
  define(Keyword, { fields: { list: { items: String } } });
  // @ts-expect-error a number without a type
  define(Note, { fields: { ...FIELDS, size: {} } });
  // @ts-expect-error a type of another property
  define(Note, { fields: { ...FIELDS, text: { type: Number } } });
  // @ts-expect-error no options of a field
  define(Note, { fields: { ...FIELDS, text: String } });
  // @ts-expect-error a limit of another type
  define(Note, { fields: { ...FIELDS, text: { maxLength: "x" } } });
  // @ts-expect-error a function of another value
  define(Note, { fields: { ...FIELDS, text: { validate: (text: number) => text > 1 } } });
  // @ts-expect-error a property whose type says nothing needs an entry, too
  define(Loose, { fields: {} });
  // @ts-expect-error no fields
  define(Note, { rest: { route: "/notes", methods: [all()] } });
  // @ts-expect-error no options
  define(Note);
  // @ts-expect-error a route that is no text
  define(Note, { fields: FIELDS, rest: { route: 5, methods: [all()] } });
  // @ts-expect-error an operation that is not called
  define(Note, { fields: FIELDS, rest: { route: "/notes", methods: [all] } });
  // @ts-expect-error no operations
  define(Note, { fields: FIELDS, rest: { route: "/notes" } });
  // @ts-expect-error another value of an option
  define(Note, { fields: FIELDS, rest: { route: "/notes", methods: [all()], ifMatch: "x" } });
  // @ts-expect-error the second of two routes has none
  define(Note, { fields: FIELDS, rest: [{ route: "/notes", methods: [one()] }, { methods: [] }] });
  // @ts-expect-error a base that is none
  define(Note, { extends: Address, fields: FIELDS });
  // @ts-expect-error a base that is no class
  define(Note, { extends: "Note", fields: FIELDS });
  // @ts-expect-error no class
  define("Note", { fields: {} });
}

Deno.test("define() has the types that every case above says", () => {
  assertEquals([refused, within, DecoratedAgain].length, 3);
});
