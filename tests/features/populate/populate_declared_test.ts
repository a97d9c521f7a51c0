import { assertEquals, assertThrows } from "@std/assert";
import {
  all,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  one,
  prop,
  type Ref,
  rest,
} from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";
import { put } from "../../fixtures/songs.ts";
import { test } from "../../harness/testing.ts";
import { type EntityBody, mount } from "../../support/support.ts";

class Free extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ hidden: true })
  secret?: string;
  @prop({ select: false })
  aside?: string;
}

@rest({
  route: "/guarded",
  methods: [create({ preFetch: () => true }), all({ preSend: pass }), one({ postFetch: pass })],
})
class Guarded extends FrameworkModel {
  @prop()
  name?: string;
}

@rest({ route: "/open", methods: [all({ preFetch: () => true, postFetch: pass }), one()] })
class Open extends Free {}

/** Declares an operation of a class with references. */
function declare(populate: unknown, method: "all" | "one" = "all") {
  const options = { populate } as never;
  @rest({ route: "/x", methods: [method === "all" ? all(options) : one(options)] })
  class Holder extends FrameworkModel {
    @prop()
    name?: string;
    @prop({ ref: Free })
    free?: Ref<Free>;
    @prop({ ref: Free, hidden: true })
    hidden?: Ref<Free>;
    @prop({ ref: Free, select: false })
    aside?: Ref<Free>;
    @arrayProp({ items: Guarded })
    guarded?: Ref<Guarded>[];
    @arrayProp({ items: Guarded, unguarded: true })
    shown?: Ref<Guarded>[];
    @arrayProp({ items: Open })
    open?: Ref<Open>[];
    @arrayProp({ items: Free, embedded: true })
    parts?: Free[];
    @prop({ type: Map, of: String })
    map?: Map<string, string>;
    @prop({ type: Object })
    any?: unknown;
    @prop({ ref: "Elsewhere" })
    elsewhere?: string;
  }
  return Holder;
}

const FIELD = {
  nobody: "which is no field",
  constructor: "which is no field",
  name: "which is no reference",
  parts: "which is no reference",
  map: "which is no reference",
  any: "which is no reference",
  _id: "which is no reference",
  hidden: "which is hidden",
  aside: "which is not selected",
  guarded:
    'but hook "postFetch" of one() of "Guarded" would not run: give both operations the same "preFetch", or set ' +
    "unguarded: true at the field if every client may see what its scope allows",
};

test("populate of what is no reference that clients see is an error at start-up", () => {
  for (const [name, problem] of Object.entries(FIELD)) {
    for (const method of ["all", "one"] as const) {
      const act = () => Framework.initialize({ models: [declare({ [name]: true }, method)] });
      const message = `Cannot mount "Holder": ${method}() has "${name}" in "populate", ${problem}`;
      assertEquals(assertThrows(act, TypeError).message, message);
    }
  }
});

const OPTIONS: [unknown, string][] = [
  [false, 'needs true or an object as "populate.free"'],
  [{ selects: [] }, 'has an unknown option "populate.free.selects"'],
  [{ select: "name" }, 'needs a list of names as "populate.free.select"'],
  [{ select: ["nme"] }, 'has "nme" of "Free" in "populate.free.select", which is no field'],
  [{ select: ["secret"] }, 'has "secret" of "Free" in "populate.free.select", which is hidden'],
  [{ select: ["aside"] }, 'has "aside" of "Free" in "populate.free.select", which is not selected'],
  [{ always: 1 }, 'needs a boolean as "populate.free.always"'],
];

test("a wrong option of populate is an error at start-up", () => {
  for (const [options, problem] of OPTIONS) {
    const act = () => Framework.initialize({ models: [declare({ free: options })] });
    const message = `Cannot mount "Holder": all() ${problem}`;
    assertEquals(assertThrows(act, TypeError).message, message);
  }
  assertThrows(() => Framework.initialize({ models: [declare(["free"])] }), TypeError, "populate");
});

test("populate shows what one() guards only where it is declared unguarded", async () => {
  const free = { select: ["name"], always: true };
  const Holder = declare({ free, shown: { always: true }, open: true, elsewhere: true });
  await using app = await mount([Holder]);
  const [one] = await put(Free, { name: "free", secret: "s", aside: "a" });
  const [two] = await put(Guarded, { name: "guarded" });
  const [three] = await put(Open, { name: "open", secret: "s", aside: "a" });
  await put(Holder, { free: one, shown: [two], open: [three] });
  const [found] = await app.read<EntityBody[]>("/x?populate=open");
  assertEquals(found?.free, { _id: one, name: "free" });
  assertEquals(found?.shown, [{ _id: two, name: "guarded", __v: 0 }]);
  assertEquals(found?.open, [{ _id: three, name: "open", __v: 0 }]);
  assertEquals((await app.get("/x?populate=shown,nobody")).status, 400);
});

@rest({ route: "/links", methods: [one({ populate: { next: true } })] })
class Link extends FrameworkModel {
  @prop({ ref: () => Link })
  next?: Ref<Link>;
}

test("populate is one level deep", async () => {
  await using app = await mount([Link]);
  const [last] = await put(Link, {});
  const [middle] = await put(Link, { next: last });
  const [first] = await put(Link, { next: middle });
  const { next } = await app.read<{ readonly next: object }>(`/links/${first}?populate=next`);
  assertEquals(next, { _id: middle, next: last, __v: 0 });
  for (const path of ["next.next", "next,next.next"]) {
    assertEquals((await app.get(`/links/${first}?populate=${path}`)).status, 400);
  }
});
