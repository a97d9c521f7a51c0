import { assertEquals, assertThrows } from "@std/assert";
import mongoose from "mongoose";
import {
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  one,
  prop,
  type Ref,
  remove,
  removeAll,
  replace,
  rest,
  update,
  updateAll,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";

class Part extends FrameworkModel {
  @prop()
  name?: string;
}

interface Declared {
  readonly methods?: readonly unknown[];
  readonly ofParts?: readonly unknown[];
  readonly ofPart?: readonly unknown[];
  readonly ofFriend?: readonly unknown[];
  readonly options?: object;
}

function declare({ methods = [], ofParts = [], ofPart = [], ofFriend = [], options }: Declared) {
  @rest({ route: "/things", methods: [one(), ...methods as never[]], ...options })
  class Thing extends FrameworkModel {
    static override configure(schema: mongoose.Schema) {
      schema.index({ code: 1 }, { unique: true, sparse: true });
      schema.index({ label: 1, name: 1 }, { unique: true });
    }
    @prop({ unique: true })
    slug?: string;
    @prop()
    code?: string;
    @prop()
    label?: string;
    @prop()
    name?: string;
    @prop({ hidden: true, unique: true })
    secret?: string;
    @prop({ hidden: () => true, unique: true })
    guarded?: string;
    @prop({ readonly: true })
    fixed?: string;
    @prop({ immutable: true })
    lasting?: string;
    @arrayProp({ items: String })
    tags?: string[];
    @rest({ methods: [one(), ...ofParts as never[]] })
    @arrayProp({ items: Part, embedded: true })
    parts?: Part[];
    @rest({ methods: [one(), ...ofPart as never[]] })
    @prop({ type: Part })
    part?: Part;
    @rest({ methods: [one(), ...ofFriend as never[]] })
    @prop({ type: mongoose.Types.ObjectId, ref: () => Thing })
    friend?: Ref<Thing>;
  }
  return Thing;
}

/** Declares an operation with options that the compiler would refuse. */
const made = (method: unknown, options?: unknown) =>
  (method as (given: unknown) => unknown)(options);

const REFUSED: readonly (readonly [name: string, declared: Declared, message: string])[] = [
  ...[0, -1, 1.5, "9", Infinity, null].map((many) =>
    [
      `many: ${many}`,
      { methods: [made(create, { many })] },
      'create() needs a whole number of at least 1 as "many"',
    ] as const
  ),
  ...[0, -1, 1.5, "9", NaN].map((max) =>
    [
      `max: ${max}`,
      { methods: [made(removeAll, { max })] },
      'removeAll() needs a whole number of at least 1 as "max"',
    ] as const
  ),
  [
    "atomic: 0",
    { methods: [made(create, { many: 5, atomic: 0 })] },
    'create() needs a boolean as "atomic"',
  ],
  ...[true, false].map((atomic) =>
    [
      `atomic: ${atomic} without many`,
      { methods: [made(create, { atomic })] },
      'create() needs "many" with "atomic"',
    ] as const
  ),
  [
    "q: true",
    { methods: [made(removeAll, { q: true })] },
    'removeAll() needs "required" or "optional" as "q"',
  ],
  ["many of update()", { methods: [made(update, { many: 5 })] }, 'update() cannot have "many"'],
  [
    "fields of update()",
    { methods: [made(update, { fields: ["name"] })] },
    'update() cannot have "fields"',
  ],
  ["max of create()", { methods: [made(create, { max: 5 })] }, 'create() cannot have "max"'],
  ["by of remove()", { methods: [made(remove, { by: "slug" })] }, 'remove() cannot have "by"'],
  [
    "q of updateAll()",
    { methods: [made(updateAll, { fields: ["name"], q: "required" })] },
    'updateAll() cannot have "q"',
  ],
  [
    "updateAll() without fields",
    { methods: [made(updateAll)] },
    'updateAll() needs a list of fields as "fields"',
  ],
  [
    "fields: []",
    { methods: [made(updateAll, { fields: [] })] },
    'updateAll() needs a list of fields as "fields"',
  ],
  ...["none", "fixed", "lasting", "_id", "__v", "parts.name"].map((name) =>
    [
      `fields: ["${name}"]`,
      { methods: [made(updateAll, { fields: ["name", name] })] },
      `updateAll() has "${name}" in "fields", which is no field that a body can set`,
    ] as const
  ),
  [
    "by: none",
    { methods: [made(replace, { by: "none" })] },
    'replace() has "none" as "by", which is no field',
  ],
  [
    "by a hidden field",
    { methods: [made(replace, { by: "secret" })] },
    'replace() has "secret" as "by", which is hidden',
  ],
  [
    "by a list",
    { methods: [made(replace, { by: "tags" })] },
    'replace() has "tags" as "by", which is no scalar',
  ],
  ...["name", "label"].map((by) =>
    [
      `by ${by}`,
      { methods: [made(replace, { by })] },
      `replace() has "${by}" as "by", which has no unique index on that field alone`,
    ] as const
  ),
  [
    "lean",
    { methods: [made(replace, { lean: true })] },
    "replace() writes documents and cannot be lean",
  ],
  [
    "filter of replace()",
    { methods: [made(replace, { filter: ["name"] })] },
    'replace() cannot have "filter"',
  ],
  ["preSend of updateAll()", {
    methods: [made(updateAll, { fields: ["name"], preSend: () => ({}) })],
  }, 'updateAll() never runs its hook "preSend"'],
  [
    "replace() of what is embedded",
    { ofParts: [made(replace)] },
    'property "parts" embeds what it holds and cannot have replace()',
  ],
  [
    "replace() of one that is embedded",
    { ofPart: [made(replace)] },
    'property "part" holds one entity and cannot have replace()',
  ],
  [
    "replace() of one reference",
    { ofFriend: [made(replace)] },
    'property "friend" holds one entity and cannot have replace()',
  ],
  [
    "updateAll() of one reference",
    { ofFriend: [made(updateAll, { fields: ["name"] })] },
    'property "friend" holds one entity and cannot have updateAll()',
  ],
  ...[undefined, 5, "24", "h", "1w", "0h", "-1h"].map((keep) =>
    [
      `keep: ${keep}`,
      { methods: [made(create, { idempotency: { keep } })] },
      'create() needs a time such as "24h" as "idempotency.keep"',
    ] as const
  ),
  [
    "idempotency: true",
    { methods: [made(create, { idempotency: true })] },
    'create() needs a time such as "24h" as "idempotency.keep"',
  ],
  ["an unknown option of keys", {
    methods: [made(create, { idempotency: { keep: "1h", keys: 1 } })],
  }, 'create() has an unknown option "idempotency.keys"'],
  ["the old name of a part of an option", {
    methods: [made(create, { idempotency: { keep: "1h", by: () => "me" } })],
  }, 'create() has an unknown option "idempotency.by", which is now "caller"'],
  [
    "key, an earlier name",
    { methods: [made(create, { idempotency: { keep: "1h", key: "required" } })] },
    'create() has an unknown option "idempotency.key", which is now "required"',
  ],
  [
    "required: 1",
    { methods: [made(create, { idempotency: { keep: "1h", required: 1 } })] },
    'create() needs a boolean as "idempotency.required"',
  ],
  [
    "by that is no function",
    { methods: [made(create, { idempotency: { keep: "1h", caller: "me" } })] },
    'create() needs a function as "idempotency.caller"',
  ],
  ["keys of a scope without callers", {
    methods: [made(create, { idempotency: { keep: "1h" } })],
    options: { scope: () => ({}) },
  }, 'create() needs "idempotency.caller", which names the caller'],
  ["keys of connections without callers", {
    methods: [made(create, { idempotency: { keep: "1h" } })],
    options: { getConnection: () => mongoose.connection },
  }, 'create() needs "idempotency.caller", which names the caller'],
  ["keys below a scope without callers", {
    ofFriend: [made(create, { idempotency: { keep: "1h" } })],
    options: { scope: () => ({}) },
  }, 'create() needs "idempotency.caller", which names the caller'],
  ["keys beside persist", {
    methods: [made(create, { idempotency: { keep: "1h" }, persist: () => ({}) })],
  }, 'create() cannot have "idempotency" with its own "persist"'],
  ["keys of entities with fates", {
    methods: [made(create, { many: 5, atomic: false, idempotency: { keep: "1h" } })],
  }, 'create() cannot have "idempotency" with "atomic: false"'],
];

for (const [name, declared, message] of REFUSED) {
  test(`a write does not start with ${name}`, () => {
    const start = () => Framework.describe({ models: [declare(declared)] });
    const { message: told } = assertThrows(start, TypeError);
    assertEquals(
      [told.startsWith('Cannot mount "Thing": '), told.includes(message)],
      [true, true],
      told,
    );
  });
}

/** Returns why a class whose creation has keys without callers does not start. */
function keysFailure(
  { hooks = {}, field = {}, inner = {}, caller }: {
    hooks?: object;
    field?: object;
    inner?: object;
    caller?: (req: FrameworkRequest) => string;
  },
): string {
  class Held extends FrameworkModel {
    @prop(inner)
    text?: string;
  }
  const idempotency = { keep: "1h" as const, ...caller && { caller } };
  @rest({ route: "/notes", methods: [create({ idempotency }), one(hooks as never)] })
  class Note extends FrameworkModel {
    @prop(field)
    text?: string;
    @arrayProp({ items: Held, embedded: true })
    held?: Held[];
  }
  try {
    Framework.describe({ models: [Note] });
    return "";
  } catch (error) {
    return error instanceof TypeError ? error.message : String(error);
  }
}

test("keys need callers where functions of fields or hooks of one() divide these", () => {
  const rule = () => true;
  const pass = (_req: unknown, entity: object) => entity;
  const cases: [Parameters<typeof keysFailure>[0], string][] = [
    [{ field: { hidden: rule } }, 'the function "hidden" of "text"'],
    [{ field: { readonly: rule } }, 'the function "readonly" of "text"'],
    [{ inner: { hidden: rule } }, 'the function "hidden" of "text"'],
    ...["preFetch", "fetch", "postFetch", "preSend"].map((name) =>
      [{ hooks: { [name]: pass } }, `the hook "${name}" of one()`] as [object, string]
    ),
  ];
  for (const [given, why] of cases) {
    const told = keysFailure(given);
    const start =
      'Cannot mount "Note": create() needs "idempotency.caller", which names the caller: ';
    assertEquals(told.slice(0, start.length + why.length), start + why);
    assertEquals(keysFailure({ ...given, caller: () => "me" }), "");
  }
  assertEquals(keysFailure({ field: { hidden: true }, inner: { readonly: true } }), "");
});

test("a write that needs q does not start where no q is taken", () => {
  const start = (...methods: readonly unknown[]) =>
    Framework.describe({
      models: [declare({ methods })],
      filters: "listed",
    });
  const fields = ["name"] as never;
  const filter = ["label"] as never;
  for (const method of [updateAll({ fields }), removeAll({ q: "required" })]) {
    const told = `${method.operation}() needs a "filter"`;
    assertThrows(() => start(method), TypeError, told);
  }
  start(updateAll({ fields, filter }), removeAll({ q: "required", filter }));
  start(removeAll());
});

test("writes start with every option that they take", () => {
  const methods = [
    create({ many: 5, atomic: false }),
    updateAll({ fields: ["name", "secret"] as never, max: false, atomic: false }),
    removeAll({ max: 5, q: "required" }),
    replace({ by: "slug" }),
  ];
  const described = Framework.describe({ models: [declare({ methods })] });
  const ofThings = described.filter(({ path }) => !path.includes("/:id/"));
  assertEquals(ofThings.map(({ method, path }) => `${method} ${path}`).toSorted(), [
    ...["DELETE /things", "GET /things/:id", "PATCH /things", "POST /things", "PUT /things/:id"],
  ]);
  const keys = { keep: "24h", required: true, caller: () => "me" } as const;
  declare({ methods: [create({ idempotency: keys })], options: { scope: () => ({}) } });
});
