import { assertEquals, assertThrows } from "@std/assert";
import {
  all,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  rest,
  type Restricted,
  updateAll,
} from "../../mod.ts";
import { mountDocumented } from "../support/documented.ts";
import { test } from "../harness/testing.ts";
import { asQuery, mount } from "../support/support.ts";
import { pass } from "../support/both_paths.ts";

class Address extends FrameworkModel {
  @prop()
  city?: string;
  @prop({ hidden: true })
  code?: string;
}

class Free extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ hidden: true })
  secret?: string;
  @prop({ select: false })
  aside?: string;
  @arrayProp({ items: String })
  tags?: string[];
  @prop({ type: Object })
  free?: object;
  @prop({ type: Address })
  address?: Address;
  @arrayProp({ items: Address, embedded: true })
  addresses?: Address[];
  @prop({ ref: () => Guarded })
  friend?: Ref<Guarded>;
}

@rest({ route: "/guarded", methods: [one({ preFetch: () => true }), create()] })
class Guarded extends FrameworkModel {
  @prop()
  name?: string;
}

@rest({ route: "/one", methods: [one()], scope: () => ({ name: "a" }) })
@rest({ route: "/other", methods: [one()] })
class Several extends FrameworkModel {
  @prop()
  name?: string;
}

class Part extends FrameworkModel {
  @prop({ ref: Guarded })
  guarded?: Ref<Guarded>;
  @prop({ ref: Guarded, unguarded: true })
  shown?: Ref<Guarded>;
}

/** Declares a list with options, of a class with references. */
function declare(options: object): void {
  @rest({ route: "/x", methods: [all(options as never)] })
  class Holder extends FrameworkModel {
    @prop()
    name?: string;
    @prop({ ref: Free })
    free?: Ref<Free>;
    @arrayProp({ items: Free })
    frees?: Ref<Free>[];
    @prop({ ref: Free, hidden: true })
    hidden?: Ref<Free>;
    @prop({ ref: Guarded })
    guarded?: Ref<Guarded>;
    @prop({ ref: Guarded, unguarded: true })
    shown?: Ref<Guarded>;
    @prop({ ref: Several })
    several?: Ref<Several>;
    @prop({ ref: "Nobody" })
    unknown?: string;
    @arrayProp({ items: Part, embedded: true })
    parts?: Part[];
  }
  Framework.describe({ models: [Holder] });
}

const WRONG: readonly (readonly [options: object, problem: string])[] = [
  [
    { filter: ["free.nme"] },
    `has "free.nme" in "filter", which is no single value of "Free" that clients see`,
  ],
  ...["free.secret", "free.aside", "free.tags", "free.free", "free.free.x", "free.address"].map(
    (path) =>
      [
        { filter: [path] },
        `has "${path}" in "filter", which is no single value of "Free" that clients see`,
      ] as const,
  ),
  ...["free.address.code", "free.addresses.city", "free.friend.name", "frees.0.0.name"].map(
    (path) =>
      [
        { filter: [path] },
        `has "${path}" in "filter", which is no single value of "Free" that clients see`,
      ] as const,
  ),
  [
    { filter: ["hidden.name"] },
    `has "hidden.name" in "filter", which is no field that clients see`,
  ],
  [{ filter: ["name.name"] }, `has "name.name" in "filter", which is no field that clients see`],
  [
    { filter: ["unknown.name"] },
    `has "unknown.name" in "filter", which is no field of a known class: name a model class as its reference`,
  ],
  ...["guarded.name", "parts.guarded.name"].map((path) =>
    [
      { filter: [path] },
      `has "${path}" in "filter", but hook "preFetch" of one() of "Guarded" would not run: give both operations the ` +
      `same "preFetch", or set unguarded: true at the field if every client may see what its scope allows`,
    ] as const
  ),
  [
    { filter: ["name", "free.name"], live: true },
    `cannot be live with "free.name" in "filter", as a change of an entity behind the reference is no event of the list: name the path only in another @rest, whose all() is not live`,
  ],
];

test("a wrong path through a reference is an error at start-up", () => {
  for (const [options, problem] of WRONG) {
    const message = `Cannot mount "Holder": all() ${problem}`;
    const { message: told } = assertThrows(() => declare(options), TypeError);
    assertEquals(told, message);
  }
  assertThrows(() => declare({ filter: ["several.name"] }), TypeError, `Cannot refer to "Several"`);
  declare({ filter: ["free.name", "frees.name", "free.address.city", "free._id"] });
  declare({ filter: ["shown.name", "parts.shown.name"] });
  declare({ filter: ["name", "free"], live: true });
});

const isGuest = ({ headers }: { headers: object }) => !("x-staff" in headers);

@rest({ route: "/people", methods: [all(), create()] })
class Person extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ hidden: isGuest })
  phone?: Restricted<string>;
}

class Line extends FrameworkModel {
  @prop({ ref: Person })
  by?: Ref<Person>;
}

const filter = ["person", "person.name", "person.phone", "people.name", "lines.by.name"] as const;

@rest({
  route: "/notes",
  methods: [
    all({ filter: [...filter] }),
    updateAll({ filter: ["person.name"], fields: ["text"] }),
    create(),
  ],
})
@rest({ route: "/hooked", methods: [all({ filter: ["person.name"], postFetch: pass })] })
class Note extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ ref: Person })
  person?: Ref<Person>;
  @arrayProp({ items: Person })
  people?: Ref<Person>[];
  @arrayProp({ items: Line, embedded: true })
  lines?: Line[];
}

test("a reader names only the fields of a referred class that he sees", async () => {
  await using app = await mount([Note, Person]);
  const { _id } = await getModel(Person).create({ name: "Ann", phone: "555" });
  await app.created("/notes", { text: "a", person: String(_id) });
  const q = asQuery({ $nor: [{ "person.phone": "1" }] });
  const staff = { headers: { "x-staff": "1" } };
  assertEquals((await app.get<unknown[]>(`/notes${q}`, staff)).body.length, 1);
  const { status, body } = await app.get(`/notes${q}`);
  const listed = filter.filter((name) => name !== "person.phone");
  assertEquals([status, body], [400, {
    code: "BAD_FORMAT",
    message: `Field "person.phone" cannot be used in "q", which takes ${
      listed.map((name) => `"${name}"`).join(", ")
    }`,
    field: "person.phone",
  }]);
});

test("paths through references are described", async () => {
  const [list] = Framework.describe({ models: [Note] });
  const paths = list?.filter?.fields.map(({ path, type }) => [path, type]);
  assertEquals(paths, [
    ["person", "ObjectId"],
    ["lines", "Array"],
    ["person.name", "String"],
    ["person.phone", "String"],
    ["people.name", "String"],
    ["lines.by.name", "String"],
  ]);
  assertEquals(list?.filter?.limits.maxReferred, 1000);
  await using app = await mountDocumented([Note, Person]);
  const isValid = app.named("NoteFilter");
  const told: [string, boolean, object][] = [
    ["listed", true, { "person.name": "Ann", "people.name": { $regex: "^A" } }],
    ["listed, in clauses", true, { $nor: [{ "lines.by.name": { $not: { $gt: "A" } } }] }],
    ["listed, in an element", true, { lines: { $elemMatch: { "by.name": { $ne: null } } } }],
    ["unlisted", false, { "people.phone": "1" }],
    ["unlisted, an array of references", false, { people: { $elemMatch: { name: "Ann" } } }],
    ["an operator of a list", false, { "person.name": { $elemMatch: { $eq: "a" } } }],
  ];
  for (const [what, expected, q] of told) assertEquals(isValid(q), expected, what);
});
