import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type Ref,
  rest,
} from "../mod.ts";
import { pass } from "./both_paths.ts";
import { test } from "./harness/testing.ts";
import { type EntityBody, mount } from "./support.ts";

class Agency extends FrameworkModel {
  @prop()
  name?: string;
}

class Spy extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ select: false, default: "SECRET-default" })
  notes?: string;
  @prop({ hidden: true })
  phone?: string;
  @prop({ ref: Agency })
  agency?: Ref<Agency>;
}

const EVERY = ["spy", "spies"];

/** Makes a hook that populates. */
function populating(paths: unknown, options: object = {}) {
  return ({ framework }: FrameworkRequest) => {
    Object.assign(framework.options, options, { populate: paths });
    return true;
  };
}

/** Makes the reads of a route whose hooks populate. */
function reads(preFetch: ReturnType<typeof populating>, options: object = {}) {
  const given = { preFetch, ...options } as never;
  return [all(given), one(given)];
}

const raw = { lean: true };
const spies = ["spies"];

@rest({ route: "/plain", methods: reads(populating(EVERY)) })
@rest({ route: "/hooked", methods: reads(populating(EVERY), { postFetch: pass }) })
@rest({ route: "/lean", methods: reads(populating(EVERY), { postFetch: pass, lean: true }) })
@rest({ route: "/raw", methods: reads(populating(EVERY, raw), { postFetch: pass }) })
@rest({ route: "/spies", methods: reads(populating(spies)) })
@rest({ route: "/spies-lean", methods: reads(populating(spies), { postFetch: pass, lean: true }) })
@rest({ route: "/spies-raw", methods: reads(populating(spies, raw), { postFetch: pass }) })
@rest({
  route: "/deep",
  methods: reads(populating([{ path: "spies", populate: { path: "agency", options: raw } }])),
})
@rest({
  route: "/declared",
  methods: [all({ populate: { spy: { always: true }, spies: { always: true } } })],
})
class Plot extends FrameworkModel {
  @prop({ ref: Spy })
  spy?: Ref<Spy>;
  @arrayProp({ items: Spy })
  spies?: Ref<Spy>[];
  @rest({ route: "/parts", methods: [all({ preFetch: populating(EVERY) })] })
  @rest({ route: "/hooked", methods: [all({ preFetch: populating(EVERY), postFetch: pass })] })
  @rest({
    route: "/lean",
    methods: [all({ preFetch: populating(EVERY), postFetch: pass, lean: true })],
  })
  @rest({ route: "/raw", methods: [all({ preFetch: populating(EVERY, raw), postFetch: pass })] })
  @arrayProp({ items: () => Part, embedded: true })
  parts?: Part[];
}

class Part extends FrameworkModel {
  @prop({ ref: Spy })
  spy?: Ref<Spy>;
  @arrayProp({ items: Spy })
  spies?: Ref<Spy>[];
}

const _id = new mongoose.Types.ObjectId();
const own = { name: "stray", notes: "SECRET", phone: "SECRET" };

/** What other programs may have stored in the place of an identifier. */
const STRAYS: object[] = [
  ...["$__", "isNew", "_doc", "toObject", "toJSON", "get", "populated", "schema", "constructor"]
    .flatMap((key) => [{ [key]: {} }, { [key]: 1 }, { [key]: { _id }, ...own, _id }]),
  { $__: {}, _doc: { _id } },
  { $isMongooseArray: true, $isSingleNested: true },
  own,
  {},
  { ...own, _id: null },
  { ...own, _id: { a: 1 } },
  { ...own, _id },
  [own],
  [{ $__: {} }],
];

const SPY = { _id: String(_id), name: "Ann" };

async function putSpy(): Promise<void> {
  const stored = {
    _id,
    name: "Ann",
    notes: "SECRET",
    phone: "SECRET",
    agency: { $__: {}, name: "stray" },
  };
  await getModel(Spy).collection.insertOne(stored as never);
}

/** What is shown of a stray: the entity that it names, or its identifier, if it has one. */
function shownOf<T>(stray: object, named: T): T | null {
  return (stray as { _id?: unknown })._id === _id ? named : null;
}

/** Stores a plot with a stray at each place, and gives its path. */
async function putPlot(stray: object): Promise<string> {
  const part = { spy: stray, spies: [stray, _id] };
  const { insertedId } = await getModel(Plot).collection.insertOne({
    ...part,
    parts: [{ _id, ...part }],
  } as never);
  return String(insertedId);
}

test("what a hook populates shows a stray object as what it names, or as nothing", async () => {
  await using app = await mount([Plot]);
  await putSpy();
  for (const stray of STRAYS) {
    await getModel(Plot).collection.deleteMany({});
    const id = await putPlot(stray);
    const bodies = [];
    for (const route of ["plain", "hooked", "lean", "raw", "declared"]) {
      const [listed] = await app.read<EntityBody[]>(`/${route}`);
      bodies.push(listed, ...route === "declared" ? [] : [await app.read(`/${route}/${id}`)]);
    }
    for (const route of ["parts", "hooked", "lean", "raw"]) {
      bodies.push(...await app.read<EntityBody[]>(`/plain/${id}/${route}`));
    }
    const named = [shownOf(stray, SPY), SPY].filter((each) => each !== null);
    for (const body of bodies) {
      const { spy, spies } = JSON.parse(JSON.stringify(body).replaceAll(/,?"agency":null/g, ""));
      assertEquals(
        { spy, spies },
        { spy: shownOf(stray, SPY), spies: named },
        JSON.stringify([stray, body]),
      );
    }
  }
});

test("a stray object in a reference that is not populated is its identifier, or null", async () => {
  await using app = await mount([Plot]);
  await putSpy();
  for (const stray of STRAYS) {
    await getModel(Plot).collection.deleteMany({});
    const id = await putPlot(stray);
    for (const route of ["spies", "spies-lean", "spies-raw", "deep"]) {
      const [listed] = await app.read<EntityBody[]>(`/${route}`);
      for (const body of [listed, await app.read(`/${route}/${id}`)]) {
        const text = JSON.stringify(body);
        assertEquals(body?.spy, shownOf(stray, String(_id)), `${route} ${text}`);
        assert(!/SECRET|stray/.test(text), `${route} ${text}`);
      }
    }
  }
});
