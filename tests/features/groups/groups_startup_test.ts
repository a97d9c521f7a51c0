import { assertEquals, assertThrows } from "@std/assert";
import type { Schema } from "mongoose";
import {
  all,
  arrayProp,
  Framework,
  FrameworkModel,
  one,
  prop,
  rest,
  update,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";

class Part extends FrameworkModel {
  @prop()
  name?: string;
}

/** Mounts a class whose list and whose parts have groups. */
function mountWith(
  methods: unknown[],
  { ofParts = [all()], configure = () => {} }: {
    readonly ofParts?: unknown[];
    readonly configure?: (schema: Schema) => void;
  } = {},
) {
  @rest({ route: "/things", methods: [...methods, one()] as never })
  class Thing extends FrameworkModel {
    static override configure(schema: Schema) {
      configure(schema);
    }
    @prop()
    name?: string;
    @prop({ type: Number })
    rank?: number;
    @prop({ type: Number })
    count?: number;
    @prop({ type: Date })
    at?: Date;
    @prop({ type: Number, hidden: true })
    secret?: number;
    @prop({ type: Number, select: false })
    quiet?: number;
    @prop({ type: Object })
    free?: object;
    @prop({ type: Part })
    single?: Part;
    @arrayProp({ items: String })
    tags?: string[];
    @rest({ methods: ofParts as never })
    @arrayProp({ items: Part, embedded: true, apart: false })
    parts?: Part[];
  }
  return Framework.initialize({ models: [Thing] });
}

const list = all as (options: unknown) => unknown;

const NO_GROUPS: [unknown, string][] = [
  [true, 'needs a list of fields as "groups.by"'],
  [{}, 'needs a list of fields as "groups.by"'],
  [{ by: [] }, 'needs a list of fields as "groups.by"'],
  [{ by: "name" }, 'needs a list of fields as "groups.by"'],
  [{ by: ["nme"] }, 'has "nme" in "groups.by", which is no field'],
  [{ by: ["$name"] }, 'has "$name" in "groups.by", which is no field'],
  [{ by: ["single.name"] }, 'has "single.name" in "groups.by", which is no field'],
  [{ by: ["__proto__"] }, 'has "__proto__" in "groups.by", which is no field'],
  [{ by: [5] }, 'has "5" in "groups.by", which is no field'],
  [{ by: ["secret"] }, 'has "secret" in "groups.by", which is hidden'],
  [{ by: ["quiet"] }, 'has "quiet" in "groups.by", which is not selected'],
  [{ by: ["tags"] }, 'has "tags" in "groups.by", which cannot be used: it holds an array'],
  [{ by: ["parts"] }, 'has "parts" in "groups.by", which cannot be used: it holds an array'],
  [{ by: ["single"] }, 'has "single" in "groups.by", which cannot be used: it holds an object'],
  [{ by: ["free"] }, 'has "free" in "groups.by", which cannot be used: it holds anything'],
  [{ by: ["count"] }, 'has "count" in "groups.by", which is another key of a group'],
  [{ by: ["name", "name"] }, 'has "name" in "groups.by" twice'],
  [{ by: ["at", { at: "day" }] }, 'has "at" in "groups.by" twice'],
  [{ by: [{ at: "week" }] }, 'has "at" in "groups.by" with no unit out of year, month, day'],
  [{ by: [{ at: "toString" }] }, 'has "at" in "groups.by" with no unit out of year, month, day'],
  [{ by: [{ name: "day" }] }, 'has "name" in "groups.by", which is no Date'],
  [{ by: [{ secret: "day" }] }, 'has "secret" in "groups.by", which is hidden'],
  [{ by: ["name"], sum: ["name"] }, 'has "name" in "groups.sum", which is no Number'],
  [{ by: ["name"], sum: ["secret"] }, 'has "secret" in "groups.sum", which is hidden'],
  [{ by: ["name"], sum: [] }, 'needs a list of fields as "groups.sum"'],
  [{ by: ["name"], avg: ["quiet"] }, 'has "quiet" in "groups.avg", which is not selected'],
  [{ by: ["name"], avg: ["at"] }, 'has "at" in "groups.avg", which is no Number'],
  [{ by: ["name"], avg: "rank" }, 'needs a list of fields as "groups.avg"'],
  [{ by: ["name"], max: 0 }, 'needs a whole number of at least 1 as "groups.max"'],
  [{ by: ["name"], max: Infinity }, 'needs a whole number of at least 1 as "groups.max"'],
  [{ by: ["name"], minCount: 1.5 }, 'needs a whole number of at least 1 as "groups.minCount"'],
  [{ by: ["name"], count: 1 }, 'needs a boolean as "groups.count"'],
  [{ by: ["name"], min: ["rank"] }, 'has an unknown option "groups.min"'],
  [
    { by: ["name"], least: 3 },
    'has an unknown option "groups.least", which is now "minCount"',
  ],
];

for (const [groups, problem] of NO_GROUPS) {
  test(`initialize() refuses all({ groups: ${Deno.inspect(groups)} })`, () => {
    assertThrows(
      () => mountWith([list({ groups })]),
      TypeError,
      `Cannot mount "Thing": all() ${problem}`,
    );
  });
}

const GROUPS = { groups: { by: ["name"] } };

test("initialize() refuses groups beside hooks on entities, and where there is no list", () => {
  const pass = (_req: unknown, each: unknown) => each;
  for (const hook of ["postFetch", "preSend"]) {
    assertThrows(
      () => mountWith([list({ ...GROUPS, [hook]: pass })]),
      TypeError,
      `all() cannot have "groups": they would tell of what "${hook}" leaves out`,
    );
  }
  assertThrows(
    () => mountWith([list({ ...GROUPS, fetch: () => [] })]),
    TypeError,
    `all() has its own "fetch", which does not know of "groups"`,
  );
  assertThrows(() => mountWith([update(GROUPS as never)]), TypeError, '"groups"');
  mountWith([list({ ...GROUPS, preFetch: () => true, lean: true })]);
});

test("initialize() refuses groups of what a parent embeds", () => {
  assertThrows(
    () => mountWith([], { ofParts: [list(GROUPS)] }),
    TypeError,
    `all() cannot have "groups": it lists what others embed`,
  );
});

test("initialize() refuses groups where functions of the model show something else", () => {
  const shown = 'has "name" in "groups.by", of which the model shows another value than is stored';
  const refused: [(schema: Schema) => void, string][] = [
    [(schema) => schema.set("toJSON", { transform: () => ({}) }), shown],
    [(schema) => schema.set("toJSON", { getters: true }), shown],
    [(schema) => schema.method("toJSON", () => ({})), shown],
    [(schema) => schema.path("name").options.transform = () => "x", shown],
    [(schema) => schema.pre("find", () => {}), 'cannot have "groups": the model has middleware'],
    [(schema) => schema.post("find", () => {}), 'cannot have "groups": the model has middleware'],
    [(schema) => schema.pre(/^find/, () => {}), 'cannot have "groups": the model has middleware'],
  ];
  for (const [configure, problem] of refused) {
    assertThrows(() => mountWith([list(GROUPS)], { configure }), TypeError, problem);
  }
  const accepted: ((schema: Schema) => void)[] = [
    (schema) => schema.set("toJSON", { virtuals: true }),
    (schema) => schema.path("rank").options.transform = () => 5,
    (schema) => {
      schema.pre("find", () => {});
      schema.pre("aggregate", () => {});
    },
  ];
  for (const configure of accepted) mountWith([list(GROUPS)], { configure });
});

test("describe() tells of groups and of their parameters", () => {
  const groups = { by: ["name", { at: "month" }], sum: ["rank"], avg: ["rank", "count"] };
  const [route] = mountWith([list({ groups: { ...groups, count: true }, sort: ["rank"] })])
    .describe();
  const defaults = { count: true, max: 1000, minCount: 1, timeZone: "UTC" };
  assertEquals(route?.groups, { ...groups as object, ...defaults } as never);
  const fields = Object.fromEntries(
    (route?.parameters ?? []).map(({ name, fields }) => [name, fields]),
  );
  assertEquals(fields, {
    q: undefined,
    sort: ["_id", "rank", "name", "at", "count", "sum.rank", "avg.rank", "avg.count"],
    group: ["name", "at"],
    sum: ["rank"],
    avg: ["rank", "count"],
  });
  assertEquals(route?.errors.some(({ codes }) => codes.includes("CONFLICT")), true);
});
