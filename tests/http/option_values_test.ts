import { assertEquals, assertThrows } from "@std/assert";
import mongoose, { type Schema } from "mongoose";
import {
  all,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  type InitializeOptions,
  one,
  prop,
  remove,
  removeAll,
  replace,
  rest,
  updateAll,
} from "../../mod.ts";
import { admin } from "../../src/admin/mod.ts";
import { CHECKS } from "../../src/openapi/check_options.ts";
import { openapi } from "../../src/openapi/mod.ts";
import { ADMIN_OPTIONS as ADMIN } from "../../src/admin/_check_options.ts";
import { features } from "../../src/features.ts";
import { completeLiveLimits } from "../../src/features/live/live_limits.ts";
import { completeQueryLimits } from "../../src/filter/q/limits.ts";
import { INITIALIZE_OPTIONS as INITIALIZE } from "../../src/host/initialize.ts";
import { REST_OPTIONS as REST } from "../../src/http/routes/_check_rest.ts";
import { ARRAY_OPTIONS, MONGOOSE_OPTIONS, SINGLE_OPTIONS } from "../../src/schema/build_field.ts";
import { MONGOOSE_KINDS, OWN_KINDS } from "../../src/schema/field_option_kinds.ts";
import { completeBodyLimits } from "../../src/write/body/read_body.ts";
import { hasRows, refuses, type Takes } from "./wrong_values.ts";

function modelWith(
  { field = {}, list = {}, on = {}, methods = [all(), one(), remove()] }: {
    readonly field?: object;
    readonly list?: object;
    readonly on?: object;
    readonly methods?: readonly unknown[];
  },
) {
  @rest({ route: "/things", methods, ...on } as never)
  class Thing extends FrameworkModel {
    @prop({ ...field } as never)
    name?: string;
    @prop({ unique: true })
    slug?: string;
    @arrayProp({ items: String, ...list } as never)
    tags?: string[];
  }
  return Thing;
}

const start = (parts: Parameters<typeof modelWith>[0], options: InitializeOptions = {}) =>
  Framework.initialize({ models: [modelWith(parts)], tidy: false, ...options });

Deno.test("each option of initialize() refuses a value of another kind", () => {
  const table: Record<string, Takes> = {
    models: "",
    onError: "function",
    limits: "{}",
    filters: "",
    indexes: "",
    // The routes of the test are not strict.
    strict: "",
    ...{ guard: "function", actor: "function", actorNames: "function" },
    tenant: undefined,
    tidy: "true",
    plugins: "",
    queryMethod: undefined,
    batch: "",
    log: undefined,
  };
  hasRows(table, Object.keys(INITIALIZE));
  for (const [name, takes] of Object.entries(table)) {
    refuses(name, takes, (value) => start({}, { [name]: value }));
  }
  for (const value of ["true", 1, null]) {
    for (const name of ["log", "tenant", "queryMethod"]) {
      assertThrows(() => start({}, { [name]: value }), TypeError, `"${name}" is not`);
    }
  }
});

Deno.test("each limit refuses what is no positive integer", () => {
  for (const name of ["timeMS", "sendMS", "cascade"]) {
    refuses(name, "", (value) => start({}, { limits: { [name]: value } }));
  }
  const groups = {
    query: completeQueryLimits(),
    body: completeBodyLimits(),
    live: completeLiveLimits(),
  };
  for (const [group, names] of Object.entries(groups)) {
    refuses(group, "{}", (value) => start({}, { limits: { [group]: value } }));
    for (const name of Object.keys(names)) {
      refuses(name, "", (value) => start({}, { limits: { [group]: { [name]: value } } }));
    }
  }
});

/** The wrong values that each option of `@prop` and `@arrayProp` can have. */
const FIELDS: Record<string, Takes> = {
  ...{
    type: "",
    items: "",
    ref: "text",
    of: "",
    example: "empty text -1 null 2^53 true {} [null]",
  },
  ...{ onDelete: "", stamp: "", maxBytes: "", accept: "", inline: "" },
  ...{ hidden: "true function", readonly: "true function" },
  ...{ apart: "", exists: "", unguarded: "", embedded: "", deprecated: "true" },
  dateOnly: "true",
  ...{ summary: "empty text", description: "empty text", alias: "text" },
  ...{ get: "function", set: "function", transform: "function" },
  required: "text true function",
  unique: "true",
  index: "true {} -1",
  ...{ sparse: "true", text: "true", select: "true", immutable: "true function" },
  expires: "",
  enum: "",
  validate: "function",
  ...{ min: "-1 2^53", max: "-1 2^53", match: "" },
  ...{ minLength: "", maxLength: "", minlength: "", maxlength: "" },
  ...{ trim: "true", lowercase: "true", uppercase: "true" },
  ...{ default: undefined, cast: undefined, populate: undefined, discriminators: undefined },
  ...{ encrypt: undefined, refPath: "text function", subtype: "", auto: "true" },
  ...{ castNonArrays: "true", allowNull: "true", _id: "true" },
  ...{ excludeIndexes: "true", minimize: "true" },
};

/** The types of the fields that some options need. */
const TYPES: Readonly<Record<string, object>> = {
  ...{ min: { type: Number }, max: { type: Number }, expires: { type: Date } },
  dateOnly: { type: Date },
};

Deno.test("each option of fields refuses a value of another kind", () => {
  const known = [...SINGLE_OPTIONS, ...ARRAY_OPTIONS, ...MONGOOSE_OPTIONS];
  hasRows(FIELDS, known);
  assertEquals(known.filter((name) => !(name in OWN_KINDS) && !(name in MONGOOSE_KINDS)), []);
  for (const [name, takes] of Object.entries(FIELDS)) {
    const type = TYPES[name];
    if (name !== "embedded") {
      refuses(name, takes, (value) => start({ field: { ...type, [name]: value } }));
    }
  }
  for (const name of ARRAY_OPTIONS) {
    if (["get", "set", "alias", "embedded", "dateOnly"].includes(name)) continue;
    refuses(name, FIELDS[name], (value) => start({ list: { [name]: value } }));
  }
});

Deno.test("options of fields take all forms that Mongoose takes", () => {
  const enumOfTexts = { Red: "red", Green: "green" } as const;
  for (
    const field of [
      ...[[true, "Needed"], "Needed", () => true].map((required) => ({ required })),
      ...[[true, "Taken"], { global: true }].map((unique) => ({ unique })),
      ...["2dsphere", { sparse: true }].map((index) => ({ index })),
      ...[["a", null], enumOfTexts, { values: ["a"], message: "No" }].map((each) => ({
        enum: each,
      })),
      ...[/a/, [/a/, "No"]].map((match) => ({ match })),
      ...[0, [1, "Short"]].map((minLength) => ({ minLength })),
      ...[[() => true, "No"], [() => true, () => true], { validator: () => true }].map((
        validate,
      ) => ({ validate })),
      ...[[1, "Small"], -0.5].map((min) => ({ type: Number, min })),
      ...[new Date(0), "2020-01-01", Date.now].map((max) => ({ type: Date, max })),
      ...[0, 60, "1d"].map((expires) => ({ type: Date, expires })),
    ]
  ) start({ field });
});

Deno.test("an option of fields refuses what another type of field takes", () => {
  for (
    const [option, field] of [
      ["min", { type: Number, min: "2020-01-01" }],
      ["max", { type: Number, max: ["5", "Big"] }],
      ["max", { type: mongoose.Schema.Types.Number, max: new Date(0) }],
      ["expires", { expires: "1d" }],
      ["expires", { type: Number, expires: 60 }],
      ["index", { index: "upwards" }],
      ["index", { index: { type: "upwards" } }],
      ["index", { index: { unique: "true" } }],
      ["min", { type: Number, min: [3, "Small"], max: 2 }],
      ["min", { type: Date, min: "2021-01-01", max: new Date(0) }],
      ["minLength", { minLength: 3, maxLength: 2 }],
    ] as const
  ) {
    assertThrows(() => start({ field }), TypeError, `has "${option}"`);
  }
  const list = { items: Date, expires: "1d" };
  assertThrows(() => start({ list }), TypeError, "which only a Date can have");
});

Deno.test("a time is at most what an index of MongoDB counts", () => {
  for (const expires of [2 ** 31, "24856d", "10 mb", -1, Infinity]) {
    assertThrows(() => start({ field: { type: Date, expires } }), TypeError, "expires");
  }
  const late = (name: string, keep: string) =>
    assertThrows(() => start({ on: { [name]: { keep } } }), TypeError, `"${name}.keep"`);
  for (const keep of ["24856d", "999999999d", "596524h"]) {
    late("history", keep);
    assertThrows(
      () => start({ methods: [one(), create({ idempotency: { keep } } as never)] }),
      TypeError,
      `"idempotency.keep"`,
    );
    late("trash", keep);
  }
  start({ on: { history: { keep: "24855d" }, trash: { keep: "24855d" } } });
});

Deno.test("each option of @rest refuses a value of another kind", () => {
  const table: Record<string, Takes> = {
    ...{ route: "", methods: "", schemaOptions: "{}", getConnection: "function" },
    ...{ scope: "function", ifMatch: "true", main: "true", tenant: "" },
    ...{ trash: "true {}", history: "true {}", open: "true" },
  };
  hasRows(table, [...Object.keys(REST), ...Object.keys(features.classOptions)]);
  for (const [name, takes] of Object.entries(table)) {
    refuses(name, takes, (value) => start({ on: { [name]: value } }));
  }
  for (
    const [option, takes] of [["history.keep", ""], ["trash.keep", ""], ["trash.see", "function"]]
  ) {
    const [group = "", name = ""] = String(option).split(".");
    refuses(String(option), takes, (value) => start({ on: { [group]: { [name]: value } } }));
  }
});

const ON_ALL: Record<string, Takes> = {
  ...{ page: "", sort: "", select: "", search: "", populate: "{}", count: "true {}", formats: "" },
  ...{ live: "true {}", groups: "", distinct: "", lean: "true", parameters: "", filter: "" },
  ...{ summary: "empty text", description: "empty text", tags: "", deprecated: "true" },
  ...{ "page.max": "", "count.upTo": "Infinity", "count.always": "true", "live.max": "" },
};

const ON_WRITES: readonly [string, (hooks: never) => unknown, object, Takes][] = [
  ["many", create, {}, ""],
  ["atomic", create, { many: 5 }, "true"],
  ["idempotency", create, {}, ""],
  ["idempotency.keep", create, {}, ""],
  ["max", updateAll, { fields: ["name"] }, ""],
  ["atomic", updateAll, { fields: ["name"] }, "true"],
  ["fields", updateAll, {}, ""],
  ["max", removeAll, {}, ""],
  ["q", removeAll, {}, ""],
  ["by", replace, {}, ""],
];

Deno.test("each option of operations refuses a value of another kind", () => {
  const tested = new Set([...Object.keys(ON_ALL), ...ON_WRITES.map(([name]) => name)]);
  assertEquals(features.all.map(({ name }) => name).filter((name) => !tested.has(name)), ["lines"]);
  const given = (option: string, value: unknown) => {
    const [name = "", part] = option.split(".");
    return { [name]: part === undefined ? value : { [part]: value } };
  };
  for (const [option, takes] of Object.entries(ON_ALL)) {
    refuses(option, takes, (value) => start({ methods: [all(given(option, value) as never)] }));
  }
  for (const [option, operation, others, takes] of ON_WRITES) {
    const hooks = (value: unknown) => ({ ...others, ...given(option, value) }) as never;
    refuses(option, takes, (value) => start({ methods: [operation(hooks(value))] }));
  }
});

Deno.test("each option of openapi() and admin() refuses a value of another kind", () => {
  const router = start({});
  const described: Record<string, Takes> = {
    ...{ info: "", servers: "", security: "", securitySchemes: "{}", docs: "true", version: "" },
    ...{ see: "function", q: "" },
  };
  hasRows(described, Object.keys(CHECKS));
  const info = { title: "Things", version: "1" };
  for (const [name, takes] of Object.entries(described)) {
    refuses(name, takes, (value) => openapi(router, { info, [name]: value } as never));
  }
  const shown: Record<string, Takes> = {
    ...{
      title: "text",
      apiPath: undefined,
      see: "function",
      login: "",
      session: "",
      models: "{}",
      links: "{}",
    },
  };
  hasRows(shown, Object.keys(ADMIN));
  for (const [name, takes] of Object.entries(shown)) {
    refuses(name, takes, (value) => admin(router, { title: "Things", [name]: value } as never));
  }
});

Deno.test("an index of configure() expires after a time that MongoDB counts", () => {
  @rest({ route: "/expiring", methods: [all()] })
  class Expiring extends FrameworkModel {
    @prop({ type: Date })
    at?: Date;
    static override configure(schema: Schema): void {
      schema.index({ at: 1 }, { expireAfterSeconds: 2 ** 31 });
    }
  }
  assertThrows(
    () => Framework.initialize({ models: [Expiring] }),
    TypeError,
    `Cannot build the schema of "Expiring": the index of "at" expires after 2147483648 seconds`,
  );
});
