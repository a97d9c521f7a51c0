import { assertEquals } from "@std/assert";
import { all, arrayProp, FrameworkModel, getModel, one, prop, rest } from "../../../mod.ts";
import type { FrameworkRequest } from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";
import { pieceId } from "../../fixtures/pieces.ts";
import { longTest, test } from "../../harness/testing.ts";
import { mount } from "../../support/support.ts";

/** The subsets of some names. */
function subsetsOf(names: readonly string[]): string[][] {
  return names.reduce<string[][]>(
    (subsets, name) => [...subsets, ...subsets.map((each) => [...each, name])],
    [[]],
  ).filter((each) => each.length > 0);
}

/** What an answer shows of named fields, and `_id`. */
function cut(entity: object, names: readonly string[]): object {
  const kept = Object.entries(entity).filter(([name]) => name === "_id" || names.includes(name));
  return Object.fromEntries(kept);
}

const READS = ["a", "n", "made", "inner", "upper", "tags", "parts"] as const;
const options = { select: READS };

class Inner extends FrameworkModel {
  static override schemaOptions = { _id: false };
  @prop({ default: "i" })
  a?: string;
  @prop({ hidden: true, default: "SECRET" })
  secret?: string;
}

const reads = { methods: [all(options), one(options)] };
const hooks = { ...options, preSend: pass };

/** Defaults, getters, and JSON of its own that depends on other fields. */
class Base extends FrameworkModel {
  @prop({ default: "none" })
  a?: string;
  @prop({ type: Number })
  n?: number;
  @prop({ default: "made" })
  made?: string;
  @prop({ type: Inner })
  inner?: Inner;
  @prop()
  upper?: string;
  @arrayProp({ items: String })
  tags?: string[];
  @arrayProp({ items: Inner, embedded: true })
  parts?: Inner[];
  @prop({ hidden: true, default: "SECRET" })
  secret?: string;
}

@rest({ route: "/direct", ...reads })
@rest({ route: "/passed", methods: [all(hooks), one(hooks)] })
@rest({ route: "/leans", methods: [all({ ...hooks, lean: true })] })
class Direct extends Base {}

@rest({ route: "/virtual", ...reads })
class Virtual extends Base {
  static override schemaOptions = {
    toJSON: {
      getters: true,
      virtuals: true,
      transform: (_doc: unknown, json: object) => {
        const { a, upper } = json as Virtual;
        return { ...json, upper: `${a} ${upper}`.toUpperCase() };
      },
    },
  };
  get both(): string {
    return `${this.a} ${this.n}`;
  }
}

const STORED = [
  { a: "x", n: 1, inner: { a: "y", secret: "s" }, tags: ["t"], parts: [{}], upper: "u" },
  { n: null, inner: {}, parts: [{ a: "z", secret: "s" }], extra: 1 },
  {},
];

longTest("what select leaves of an entity is what the whole answer shows", async () => {
  await using app = await mount([Direct, Virtual]);
  const docs = STORED.map((each, place) => ({ ...each, _id: pieceId(place), __v: 0 }));
  for (const model of [Direct, Virtual]) await getModel(model).collection.insertMany(docs as never);
  const one = ["/direct", "/passed", "/virtual"].map((path) => `${path}/${pieceId(0)}`);
  for (const path of ["/direct", "/passed", "/leans", "/virtual", ...one]) {
    const whole = await app.read<object | object[]>(path);
    for (const names of subsetsOf(options.select)) {
      const { body } = await app.get(`${path}?select=${names}`);
      const expected = Array.isArray(whole)
        ? whole.map((each) => cut(each, names))
        : cut(whole, names);
      assertEquals([path, names, body], [path, names, expected]);
    }
  }
});

test("hooks see the whole entity, and select cuts what they give", async () => {
  @rest({
    route: "/given",
    methods: [all<Base>({
      select: ["a", "n"],
      preSend: (_req, { a, n, inner }) => ({ a: `${a} ${n}`, n, inner, extra: 1 }) as never,
    })],
  })
  class Given extends Base {}
  await using app = await mount([Given]);
  await getModel(Given).create([{ a: "x", n: 1, inner: { a: "y" } as Inner }]);
  assertEquals(await app.read<unknown>("/given?select=a"), [{ a: "x 1" }]);
  assertEquals(await app.read<unknown>("/given"), [{
    a: "x 1",
    n: 1,
    inner: { a: "y" },
    extra: 1,
  }]);
});

test("select shows nothing that the projection of a hook leaves out", async () => {
  const narrow = {
    select: ["a", "n"],
    preFetch: ({ framework }: FrameworkRequest) => {
      framework.projection = { n: 1 };
      return true;
    },
  } as const;
  @rest({ route: "/narrow", methods: [all(narrow)] })
  @rest({ route: "/narrow-hooked", methods: [all({ ...narrow, preSend: pass })] })
  class Narrow extends FrameworkModel {
    @prop()
    a?: string;
    @prop({ type: Number })
    n?: number;
  }
  await using app = await mount([Narrow]);
  const [{ _id } = {}] = await getModel(Narrow).create([{ a: "x", n: 1 }]);
  for (const path of ["/narrow", "/narrow-hooked"]) {
    const body = await app.read<unknown>(`${path}?select=a,n`);
    assertEquals(body, [{ _id: String(_id), n: 1 }]);
    assertEquals(await app.read<unknown>(`${path}?select=a`), [{ _id: String(_id) }]);
  }
});
