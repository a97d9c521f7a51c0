/**
 * What the compiler must accept of the option `groups`, and what it must refuse. `deno test` type-checks this file: a case
 * that compiles although it must not is an unused `@ts-expect-error`, and that is an error.
 */
import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { Types } from "mongoose";
import {
  all,
  arrayProp,
  FrameworkModel,
  type Hidden,
  type HooksOf,
  one,
  prop,
  type Ref,
  rest,
  type Restricted,
  update,
} from "../../mod.ts";
import type { ReadOptions } from "../../src/declare/options.ts";
import type { GroupsOptions } from "../../src/features/groups/option.ts";
import { Address, expect, type Same } from "../support/same_type.ts";

enum Genre {
  Comedy = "comedy",
}

/** A field of each type. */
class Film extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ enum: Genre })
  genre?: Genre | null;
  @prop({ type: Number })
  year?: number | null;
  @prop({ type: BigInt })
  views?: bigint;
  @prop({ type: Boolean })
  seen?: boolean;
  @prop({ type: Date })
  made?: Date | null;
  @prop({ type: Types.Decimal128 })
  price?: Types.Decimal128;
  @prop({ type: Types.UUID })
  uuid?: Types.UUID;
  @prop({ type: Buffer })
  poster?: Buffer;
  @prop({ ref: () => Film })
  sequel?: Ref<Film>;
  @arrayProp({ items: Number })
  scores?: number[];
  @prop({ type: Address })
  home?: Address;
  @prop({ type: Object })
  free?: Record<string, unknown>;
  @prop({ type: Number, hidden: true })
  cost?: Hidden<number>;
  @prop({ type: Date, hidden: true })
  leak?: Hidden<Date>;
  @prop({ type: Number, hidden: (req) => req.ip === undefined })
  margin?: Restricted<number>;
  upper(): string {
    return this.name.toUpperCase();
  }
}

type Groups = NonNullable<ReadOptions<Film>["groups"]>;
type Key = Groups["by"][number];
type Element<T> = NonNullable<T> extends readonly (infer I)[] ? I : never;
type Names =
  | ("name" | "genre" | "year" | "views" | "seen" | "made" | "price")
  | ("uuid" | "poster" | "sequel" | "margin");

function names(): void {
  expect<Same<Extract<Key, string>, Names>>();
  expect<Same<keyof Exclude<Key, string>, "made">>();
  expect<Same<Element<Groups["sum"]>, "year" | "views" | "price" | "margin">>();
  expect<Same<Element<Groups["avg"]>, "year" | "views" | "price" | "margin">>();
  expect<Same<Extract<GroupsOptions["by"][number], string>, string>>();
}

// Options that fit

const elsewhere = all({ groups: { by: ["name", { made: "day" }], sum: ["year"] } });
const named = all<Film>({ groups: { by: [{ made: "month" }], count: true } });
const ofFilms: HooksOf<Film> = { groups: { by: ["genre", { made: "year" }], avg: ["price"] } };

@rest({
  route: "/a",
  methods: [
    all({
      groups: {
        by: ["name", "genre", "seen", "sequel", "margin", { made: "month" }],
        count: true,
        sum: ["year", "views", "price", "margin"],
        avg: ["year"],
        max: 5,
        minCount: 2,
      },
      page: { max: 5 },
      preFetch: (req) => req.ip !== undefined,
    }),
    elsewhere,
    named,
    all(ofFilms),
    all<Film>(ofFilms),
    all({ groups: undefined }),
    all({ groups: { by: ["made", "name"], sum: undefined as never } }),
  ],
})
class Fits extends Film {}

/** Operations of any model. */
function groupsOf<M extends FrameworkModel>() {
  return [all<M>({ page: { max: 5 } }), one<M>()];
}

@rest({ route: "/b", methods: groupsOf<Film>() })
class Generic extends Film {}

// Options that do not fit

// @ts-expect-error no such field
@rest({ route: "/x", methods: [all({ groups: { by: ["nme"] } })] })
class Refused1 extends Film {}
// @ts-expect-error no such field in the operation of a variable
@rest({ route: "/x", methods: [elsewhere] })
class Refused2 extends FrameworkModel {}
// @ts-expect-error no date
@rest({ route: "/x", methods: [all({ groups: { by: [{ name: "day" }] } })] })
class Refused3 extends Film {}
// @ts-expect-error no number
@rest({ route: "/x", methods: [all({ groups: { by: ["name"], sum: ["genre"] } })] })
class Refused4 extends Film {}
// @ts-expect-error hidden
@rest({ route: "/x", methods: [all({ groups: { by: ["name"], avg: ["cost"] } })] })
class Refused5 extends Film {}
// @ts-expect-error fields of another named model
@rest({ route: "/x", methods: [named] })
class Refused6 extends FrameworkModel {}

/** Each is an error, as the comment above says. */
function refused() {
  return [
    // @ts-expect-error no such field of a class without dates
    all<FrameworkModel & { name: string }>({ groups: { by: ["nme"] } }),
    // @ts-expect-error a list
    all<Film>({ groups: { by: ["scores"] } }),
    // @ts-expect-error an embedded object
    all<Film>({ groups: { by: ["home"] } }),
    // @ts-expect-error an object
    all<Film>({ groups: { by: ["free"] } }),
    // @ts-expect-error a method
    all<Film>({ groups: { by: ["upper"] } }),
    // @ts-expect-error the identifier makes no groups
    all<Film>({ groups: { by: ["_id"] } }),
    // @ts-expect-error a hidden number
    all<Film>({ groups: { by: ["cost"] } }),
    // @ts-expect-error a hidden date
    all<Film>({ groups: { by: [{ leak: "day" }] } }),
    // @ts-expect-error no such unit
    all<Film>({ groups: { by: [{ made: "week" }] } }),
    // @ts-expect-error a text has no unit
    all<Film>({ groups: { by: ["genre", { name: "day" }] } }),
    // @ts-expect-error dates have no sum
    all<Film>({ groups: { by: ["name"], sum: ["made"] } }),
    // @ts-expect-error lists have no average
    all<Film>({ groups: { by: ["name"], avg: ["scores"] } }),
    // @ts-expect-error the version is no number of the class
    all<Film>({ groups: { by: ["name"], sum: ["__v"] } }),
    // @ts-expect-error nothing to group by
    all<Film>({ groups: { count: true } }),
    // @ts-expect-error no option of groups
    all<Film>({ groups: { by: ["name"], min: ["year"] } }),
  ];
}

/** The same without the name of a model. */
function misplaced() {
  return [
    // @ts-expect-error one entity has no groups
    one({ groups: { by: ["name"] } }),
    // @ts-expect-error a write has no groups
    update<Film>({ groups: { by: ["name"] } }),
    // @ts-expect-error no option of groups
    all({ groups: { by: ["name"], atMost: 5 } }),
    // @ts-expect-error no such unit
    all({ groups: { by: [{ made: "hour" }] } }),
  ];
}

Deno.test("the option groups holds: every case above compiles, or fails to, as it says", () => {
  const classes = [Fits, Generic, Refused1, Refused2, Refused3, Refused4, Refused5, Refused6];
  assertEquals([classes.length, refused().length, misplaced().length], [8, 15, 4]);
  assertEquals(typeof names, "function");
});
