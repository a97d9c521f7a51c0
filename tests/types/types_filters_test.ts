import { assertEquals } from "@std/assert";
import {
  all,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  type Hidden,
  type HooksOf,
  prop,
  type QueryObject,
  type Ref,
  remove,
  removeAll,
  replace,
  rest,
  update,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";

class Inner extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ hidden: true })
  secret?: Hidden<string>;
  @prop({ ref: () => Fields })
  other?: Ref<Fields>;
}

class Fields extends FrameworkModel {
  @prop()
  state?: string;
  @prop({ hidden: true })
  secret?: Hidden<string>;
  @prop({ type: () => Inner })
  inner?: Inner;
  @arrayProp({ items: Inner, embedded: true })
  inners?: Inner[];
  @prop({ type: Object })
  free?: Record<string, unknown>;
  @prop({ type: Map, of: Number })
  counts?: Map<string, number>;
  @prop({ ref: () => Fields })
  other?: Ref<Fields>;
  @arrayProp({ items: () => Fields })
  others?: Ref<Fields>[];
}

const reads: HooksOf<Fields> = { filter: ["state"], preFetch: () => true };
const clauses: QueryObject[] = [];
const anything = (): QueryObject => ({ whatever: 1 });

@rest({
  route: "/a",
  methods: [
    all({ filter: ["state", "inner.text", "inners", "inners.text", "free.x", "counts.x", "_id"] }),
    update({ filter: ["state"] }),
    remove({ filter: ["state"] }),
    removeAll({ filter: ["state"] }),
  ],
  scope: () => ({
    ...{ state: null, secret: 1, "inner.text": 1, "free.a": 1, "inners.0.text": 1, "counts.b": 1 },
    $or: [{ state: 1 }, { $and: [{ "inner.text": 1 }, { $nor: [{ free: 1, _id: 2 }] }] }],
    inners: { $elemMatch: { text: 1, $or: [{ secret: 2 }] } },
  }),
})
@rest({
  route: "/referred",
  methods: [
    all({ filter: ["other.state", "other._id", "others.inner.text", "inner.other.state"] }),
    removeAll({ filter: ["other.state"] }),
  ],
})
@rest({ route: "/b", methods: [all()], scope: anything })
@rest({ route: "/c", methods: [all()], scope: (req) => req.ip === "" ? {} : { state: 1 } })
@rest({ route: "/d", methods: [all()], scope: (req) => Promise.resolve({ state: req.ip }) })
@rest({ route: "/e", methods: [all()], scope: () => ({ $or: clauses, $and: [anything()] }) })
@rest({
  route: "/f",
  methods: [all()],
  scope: (req) => ({ $or: req.ip ? [{ state: 1 }] : clauses }),
})
class Right extends Fields {}

test("what the compiler takes for a filter is one", () => {
  assertEquals(Framework.describe({ models: [Right] }).length, 11);
});

/** Never runs: what is declared here does not compile. */
export function _wrong(): unknown {
  // @ts-expect-error -- the class has no such field
  @rest({ route: "/a", methods: [all()], scope: () => ({ stat: null }) })
  class A extends Fields {}
  // @ts-expect-error -- the class has no such field, beside one that it has
  @rest({ route: "/b", methods: [all()], scope: () => ({ state: 1, stat: null }) })
  class B extends Fields {}
  // @ts-expect-error -- the class has no such field, in one of two filters
  @rest({ route: "/c", methods: [all()], scope: (req) => req.ip === "" ? {} : { stat: null } })
  class C extends Fields {}
  // @ts-expect-error -- the embedded class has no such field
  @rest({ route: "/d", methods: [all()], scope: () => ({ "inner.txt": null }) })
  class D extends Fields {}
  // @ts-expect-error -- the class has no such field, in a promise
  @rest({ route: "/e", methods: [all()], scope: () => Promise.resolve({ "inners.0.txt": null }) })
  class E extends Fields {}
  // @ts-expect-error -- the class has no such field
  @rest({ route: "/f", methods: [all({ filter: ["stat"] })] })
  class F extends Fields {}
  // @ts-expect-error -- no client sees it
  @rest({ route: "/g", methods: [all({ filter: ["secret"] })] })
  class G extends Fields {}
  // @ts-expect-error -- no client sees it
  @rest({ route: "/h", methods: [update({ filter: ["inner.secret"] })] })
  class H extends Fields {}
  // @ts-expect-error -- it reads nothing
  @rest({ route: "/i", methods: [create({ filter: ["state"] })] })
  class I extends Fields {}
  // @ts-expect-error -- the class has no such field
  const named = removeAll<Fields>({ filter: ["state", "stat"] });
  return [A, B, C, D, E, F, G, H, I, named];
}

export function _wrongReferred(): unknown {
  // @ts-expect-error -- the class of the reference has no such field
  const unknown = all<Fields>({ filter: ["other.stat"] });
  // @ts-expect-error -- no client sees it
  const hidden = all<Fields>({ filter: ["others.secret"] });
  // @ts-expect-error -- it leads through two references
  const twice = all<Fields>({ filter: ["other.other.state"] });
  // @ts-expect-error -- it is a list
  const list = all<Fields>({ filter: ["other.inners.text"] });
  // @ts-expect-error -- it is an object
  const object = all<Fields>({ filter: ["other.inner"] });
  return [unknown, hidden, twice, list, object];
}

export function _wrongInside(): unknown {
  // @ts-expect-error -- the class has no such field, in a clause
  @rest({ route: "/e", methods: [all()], scope: () => ({ $or: [{ state: 1 }, { stat: null }] }) })
  class InOr extends Fields {}
  @rest({
    route: "/e",
    methods: [all()],
    // @ts-expect-error -- the class has no such field, in a clause of a clause, in a promise
    scope: (req) => Promise.resolve({ $and: [{ $nor: [{ stat: req.ip }] }] }),
  })
  class InNor extends Fields {}
  @rest({
    route: "/e",
    methods: [all()],
    // @ts-expect-error -- the embedded class has no such field
    scope: () => ({ inners: { $not: { $elemMatch: { txt: 1 } } } }),
  })
  class InElement extends Fields {}
  return [InOr, InNor, InElement];
}

export function _wrongOptions(): unknown {
  // @ts-expect-error -- it reads nothing
  const creates = create<Fields>({ filter: ["state"] });
  // @ts-expect-error -- it reads nothing
  const replaces = replace<Fields>({ filter: ["state"] });
  // @ts-expect-error -- an option that no operation has
  @rest({ route: "/j", methods: [all({ pge: { max: 1 }, page: { max: 1 } })] })
  class J extends Fields {}
  // @ts-expect-error -- an option that no @rest has
  @rest({ rout: "/k", methods: [all()] })
  class K extends Fields {}
  // @ts-expect-error -- hooks of another operation, in a literal
  const spread = create<Fields>({ ...reads, filter: ["state"] });
  return [creates, replaces, J, K, spread, create<Fields>(reads)];
}

export function _add(req: FrameworkRequest<Fields>, any: FrameworkRequest): void {
  Object.assign(req.framework.filter, { state: 1 });
  any.framework.filter.anything = 1;
  req.framework.filter.state = 1;
  req.framework.filter["inner.text"] = 1;
  req.framework.filter.$or = [{ state: 1 }];
  // @ts-expect-error -- the class has no such field
  req.framework.filter.stat = 1;
}

export async function _find(req: FrameworkRequest<Fields>): Promise<unknown[]> {
  const { filter, projection, options } = req.framework;
  const model = await req.framework.model();
  return [
    await getModel(Fields).find(filter, projection, options),
    await model.find({ $and: [filter, { state: "open" }] }),
    await model.findOne({ ...filter, state: "open" }),
    await model.countDocuments(filter),
    all<Fields>({ fetch: async ({ framework }) => await getModel(Fields).find(framework.filter) }),
  ];
}
