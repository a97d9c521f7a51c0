import { assertThrows } from "@std/assert";
import type { Schema } from "mongoose";
import { all, arrayProp, Framework, FrameworkModel, one, prop, type Ref, rest } from "../../mod.ts";
import { removeAll, update } from "../../mod.ts";
import { test } from "../harness/testing.ts";

class Part extends FrameworkModel {
  static override schemaOptions = { _id: false };
  @prop()
  name?: string;
}

/** Mounts a class whose list, whose entity and whose parts have options. */
function mountWith(methods: unknown[], ofParts: unknown[] = [all()]) {
  @rest({ route: "/things", methods: [...methods, one()] as never })
  class Thing extends FrameworkModel {
    @prop()
    name?: string;
    @prop({ type: Number })
    rank?: number;
    @prop({ hidden: true })
    secret?: string;
    @prop({ select: false })
    quiet?: string;
    @prop({ type: Object })
    free?: object;
    @prop({ type: Map, of: String })
    map?: Map<string, string>;
    @prop({ type: Part })
    single?: Part;
    @arrayProp({ items: String })
    tags?: string[];
    @arrayProp({ items: () => Thing })
    others?: Ref<Thing>[];
    @rest({ methods: ofParts as never })
    @arrayProp({ items: Part, embedded: true, apart: false })
    parts?: Part[];
  }
  return Framework.initialize({ models: [Thing] });
}

const list = all as (options: unknown) => unknown;
const entity = one as (options: unknown) => unknown;

const NO_LIST: [string, unknown, string][] = [
  ["page", {}, 'needs a whole number of at least 1 as "page.max"'],
  ["page", true, 'needs a whole number of at least 1 as "page.max"'],
  ["page", { size: 5 }, 'needs a whole number of at least 1 as "page.max"'],
  ["page", { max: 0 }, 'needs a whole number of at least 1 as "page.max"'],
  ["page", { max: Infinity }, 'needs a whole number of at least 1 as "page.max"'],
  ["page", { max: "9" }, 'needs a whole number of at least 1 as "page.max"'],
  ["page", { size: 11, max: 10 }, 'needs a "page.size" from 1 to 10'],
  ["page", { size: 0, max: 10 }, 'needs a "page.size" from 1 to 10'],
  ["page", { size: 1.5, max: 10 }, 'needs a "page.size" from 1 to 10'],
  ["page", { max: 10, sise: 5 }, 'has an unknown option "page.sise"'],
  ["live", "yes", 'needs true or an object as "live"'],
  ["live", { max: 0 }, 'needs a whole number of at least 1 as "live.max"'],
  ["live", { most: 5 }, 'has an unknown option "live.most"'],
  ["sort", "name", 'needs a list of fields as "sort"'],
  ["sort", [], 'needs a list of fields as "sort"'],
  ["sort", ["nme"], 'has "nme" in "sort", which is no field'],
  ["sort", ["-name"], 'has "-name" in "sort", which is no field'],
  ["sort", ["constructor"], 'has "constructor" in "sort", which is no field'],
  ["sort", ["__proto__"], 'has "__proto__" in "sort", which is no field'],
  ["sort", ["secret"], 'has "secret" in "sort", which is hidden'],
  ["sort", ["quiet"], 'has "quiet" in "sort", which is not selected'],
  ["sort", ["tags"], 'has "tags" in "sort", which cannot be used: it holds an array'],
  ["sort", ["others"], 'has "others" in "sort", which cannot be used: it holds an array'],
  ["sort", ["parts"], 'has "parts" in "sort", which cannot be used: it holds an array'],
  ["sort", ["single"], 'has "single" in "sort", which cannot be used: it holds an object'],
  ["sort", ["map"], 'has "map" in "sort", which cannot be used: it holds a map'],
  ["sort", ["free"], 'has "free" in "sort", which cannot be used: it holds anything'],
  ["sort", ["single.name"], 'has "single.name" in "sort", which is no field'],
  ["select", ["nme"], 'has "nme" in "select", which is no field'],
  ["select", ["secret"], 'has "secret" in "select", which is hidden'],
  ["select", ["quiet"], 'has "quiet" in "select", which is not selected'],
  ["select", [], 'needs a list of fields as "select"'],
  ["search", ["nme"], 'has "nme" in "search", which is no field'],
  ["search", ["secret"], 'has "secret" in "search", which is hidden'],
  ["search", ["quiet"], 'has "quiet" in "search", which is not selected'],
  ["search", ["rank"], 'has "rank" in "search", which cannot be used: it holds no text'],
  ["search", ["tags"], 'has "tags" in "search", which cannot be used: it holds an array'],
  ["search", [], 'needs a list of fields as "search"'],
  ["search", {}, 'needs a list of fields or { index: true } as "search"'],
  ["search", { index: false }, 'needs a list of fields or { index: true } as "search"'],
  ["search", { index: true, of: 1 }, 'has an unknown option "search.of"'],
  ["count", { upTo: 0 }, 'needs a whole number of at least 1 as "count.upTo"'],
  ["count", { upTo: NaN }, 'needs a whole number of at least 1 as "count.upTo"'],
  ["count", { always: 1 }, 'needs a boolean as "count.always"'],
  ["count", { most: 1 }, 'has an unknown option "count.most"'],
];

for (const [option, value, problem] of NO_LIST) {
  test(`initialize() refuses all({ ${option}: ${Deno.inspect(value)} })`, () => {
    assertThrows(
      () => mountWith([list({ [option]: value })]),
      TypeError,
      `Cannot mount "Thing": all() ${problem}`,
    );
  });
}

const pass = (_req: unknown, each: unknown) => each;

const PAGE = { page: { max: 3 } };

test("initialize() refuses options of lists beside a fetch hook, and takes select", () => {
  const options = { ...PAGE, sort: ["name"], search: ["name"], count: true, live: true };
  for (const [name, value] of Object.entries(options)) {
    assertThrows(
      () => mountWith([list({ [name]: value, fetch: () => [] })]),
      TypeError,
      `all() has its own "fetch", which does not know of "${name}"`,
    );
  }
  mountWith([list({ select: ["name"], fetch: () => [] })]);
});

test("initialize() refuses count beside hooks that can leave entities out", () => {
  for (const name of ["postFetch", "preSend"]) {
    for (const count of [true, { always: true }, { upTo: 3 }]) {
      assertThrows(
        () => mountWith([list({ count, [name]: pass })]),
        TypeError,
        `all() cannot have "count": the total would count what "${name}" leaves out`,
      );
    }
  }
  mountWith([list({ count: true, preFetch: () => true })]);
});

test("initialize() refuses options where the operation has no list", () => {
  const options = { ...PAGE, sort: ["name"], search: ["name"], count: true, live: true };
  for (const [name, value] of Object.entries(options)) {
    for (const [operation, make] of Object.entries({ one: entity, update, removeAll })) {
      assertThrows(
        () => mountWith([(make as (given: unknown) => unknown)({ [name]: value })]),
        TypeError,
        `${operation}() cannot have "${name}"`,
      );
    }
  }
  assertThrows(() => mountWith([update({ select: ["name"] } as never)]), TypeError, '"select"');
});

test("initialize() refuses the same of the parts of a class", () => {
  const refused = (options: object, problem: string) =>
    assertThrows(() => mountWith([], [list(options)]), TypeError, problem);
  refused({ sort: ["rank"] }, 'has "rank" in "sort", which is no field');
  refused({ count: true, preSend: pass }, 'cannot have "count"');
  refused({ search: { index: true } }, "cannot search in a text index: it lists what others embed");
  // Nothing completes the order of elements without identifiers.
  refused({ live: true }, 'cannot have "live": what it lists has no _id');
  refused(PAGE, 'cannot have "page": what it lists has no _id, which completes the order');
  mountWith([], [list({ sort: ["name"], select: ["name"], search: ["name"], count: true })]);
});

test("initialize() takes all options together", () => {
  mountWith([
    list({
      page: { size: 1, max: 1 },
      sort: ["name", "_id"],
      select: ["name", "tags", "others", "parts", "single", "map", "free", "_id"],
      search: ["name"],
      count: { upTo: 1, always: false },
    }),
  ]);
  mountWith([list({ page: undefined, sort: undefined, count: undefined, search: undefined })]);
  mountIndex({ name: "text" });
});

/** Mounts a search in a text index of some fields. */
function mountIndex(fields: Record<string, "text" | 1>) {
  @rest({ route: "/notes", methods: [all({ search: { index: true } })] })
  class Note extends FrameworkModel {
    static override schemaOptions = { autoIndex: false, autoCreate: false };
    @prop()
    name?: string;
    @prop({ hidden: true })
    secret?: string;
    @prop({ select: false })
    quiet?: string;
    static override configure(schema: Schema) {
      schema.index(fields);
    }
  }
  return Framework.initialize({ models: [Note] });
}

test("a search in a text index that the model does not declare is refused at start-up", () => {
  assertThrows(
    () => mountIndex({ name: 1 }),
    TypeError,
    `Cannot mount "Note": all() needs a text index for "search"`,
  );
});

test("a search in a text index that holds what clients do not see is refused at start-up", () => {
  for (const path of ["secret", "quiet", "$**"]) {
    const problem = `cannot search in a text index of "${path}"`;
    assertThrows(() => mountIndex({ name: "text", [path]: "text" }), TypeError, problem);
  }
  mountIndex({ name: "text", secret: 1, quiet: 1 });
});
