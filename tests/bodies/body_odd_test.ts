import { Buffer } from "node:buffer";
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  type ModelClass,
  one,
  prop,
  rest,
  update,
} from "../../mod.ts";
import { pass, writesTo } from "../support/both_paths.ts";
import { casesOf } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import { type EntityBody, type ErrorBody, mount } from "../support/support.ts";

class Leaf extends FrameworkModel {
  @prop()
  a?: string;
  @prop({ hidden: true })
  secret?: string;
  @prop({ type: Object })
  free?: object;
  @prop({ type: Map, of: Number })
  counts?: Map<string, unknown>;
  @arrayProp({ items: String })
  tags?: string[];
}

class Stem extends FrameworkModel {
  @prop({ type: Leaf })
  leaf?: Leaf;
  @arrayProp({ items: Leaf, embedded: true })
  list?: Leaf[];
}

@rest({ route: "/plain", methods: [all(), one(), create(), update()] })
@rest({
  route: "/hooked",
  methods: [one({ preSend: pass }), create({ preSend: pass }), update({ preSend: pass })],
})
class Odd extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ type: Date })
  date?: Date;
  @prop({ type: Object })
  free?: object;
  @prop({ type: Leaf })
  leaf?: Leaf;
  @prop({ type: Stem })
  stem?: Stem;
  @prop({ type: Map, of: Leaf })
  leaves?: Map<string, unknown>;
  @prop({ type: Map, of: Number })
  counts?: Map<string, unknown>;
  @rest({ route: "/list", methods: [one(), update()] })
  @arrayProp({ items: Leaf, embedded: true })
  list?: Leaf[];
  @arrayProp({ items: String })
  tags?: string[];
}

const ROUTES = ["/plain", "/hooked"];

/** Stores an entity past Mongoose, and gives its identifier. */
async function store(target: ModelClass, values: Record<string, unknown>): Promise<string> {
  const { insertedId } = await getModel(target).collection.insertOne(
    { __v: 0, ...values } as never,
  );
  return String(insertedId);
}

/** Names that every object, every document or the driver's values have. */
const NAMES = [
  ...["toString", "valueOf", "hasOwnProperty", "toJSON", "toBSON", "toObject", "then", "length"],
  ...["get", "set", "save", "isNew", "errors", "inspect", "size", "_doc", "__index"],
];

test("create() and update() store free-form keys and keys of Maps, whatever they are called", async () => {
  await using app = await mount([Odd]);
  for (const route of ROUTES) {
    for (const name of NAMES) {
      const made = await app.post(route, {
        free: { [name]: { [name]: 1 } },
        counts: { [name]: 1 },
      });
      const path = `${route}/${made.body._id}`;
      const changed = await app.patch(path, {
        free: { [name]: { [name]: 2, b: 1 }, x: { [name]: [{ [name]: 1 }] } },
        leaf: { free: { [name]: 1 }, counts: { [name]: 3 } },
        counts: { [name]: 2 },
        list: [{ free: { [name]: 1 }, counts: { [name]: 1 } }],
      });
      const cleared = await app.patch(path, { free: { [name]: null }, counts: { [name]: null } });
      const statuses = [made, changed, cleared].map(({ status }) => status);
      assertEquals([name, ...statuses], [name, 201, 200, 200]);
      assertEquals(changed.body.free, {
        [name]: { [name]: 2, b: 1 },
        x: { [name]: [{ [name]: 1 }] },
      });
      assertEquals([cleared.body.free, cleared.body.counts], [
        { x: { [name]: [{ [name]: 1 }] } },
        {},
      ]);
      assertEquals((await app.get<EntityBody>(path)).body, cleared.body);
    }
  }
});

test("create() and update() refuse keys of Maps and free-form keys that cannot be stored, with null too", async () => {
  await using app = await mount([Odd]);
  for (const key of ["a.b", "$a", "", "a\0b", "_bsontype"]) {
    for (const value of [1, null]) {
      const inner = { [key]: value };
      const bodies = [
        { counts: inner },
        { free: { x: inner } },
        { leaf: { counts: inner } },
        { list: [{ counts: inner, free: inner }] },
        { leaves: { k: { counts: inner } } },
      ];
      const id = await store(Odd, { leaf: {}, counts: {}, leaves: { k: {} } });
      for (const [verb, path] of writesTo(id)) {
        for (const body of bodies) {
          const reply = await app[verb]<ErrorBody>(path, body);
          assertEquals([body, reply.status, reply.body.code], [body, 400, "BAD_DATA"]);
        }
      }
    }
  }
});

/** Values that do not fit their field, and patches of that field. */
const MISFITS: [stored: Record<string, unknown>, body: object, status: number][] = [
  [{ leaf: 5 }, { leaf: { tags: ["x"] } }, 200],
  [{ leaf: { tags: 5 } }, { leaf: { tags: ["x"] } }, 200],
  [{ leaf: [] }, { leaf: { a: "x" } }, 200],
  [{ leaf: new Date(0) }, { leaf: { a: "x" } }, 409],
  [{ leaf: Buffer.from("x") }, { leaf: { a: "x" } }, 409],
  [{ stem: { leaf: 5 } }, { stem: { leaf: { tags: ["x"] } } }, 200],
  [{ stem: { leaf: 5 } }, { stem: { list: [{}] } }, 200],
  [{ stem: { list: 5 } }, { stem: { list: [{}] } }, 200],
  [{ stem: 5 }, { stem: { list: [{}] } }, 200],
  [{ list: 5 }, { list: [{}] }, 200],
  [{ list: { leaf: [], tags: { a: 1 } } }, { list: [{}] }, 200],
  [{ list: [5, null] }, { list: [{}] }, 200],
  [{ counts: 5 }, { counts: { k: 1 } }, 409],
  [{ counts: [7] }, { counts: { k: 1 } }, 409],
  [{ counts: new Date(0) }, { counts: { k: 1 } }, 409],
  [{ leaves: 5 }, { leaves: { k: { tags: ["x"] } } }, 409],
  [{ leaves: [{ a: "1" }] }, { leaves: { k: { a: "x" } } }, 409],
  [{ leaves: { k: 5 } }, { leaves: { k: { a: "x" } } }, 400],
  [{ free: 5 }, { free: { k: 1 } }, 200],
  [{ free: new Date(0) }, { free: { k: 1 } }, 200],
];

test("update() works or is refused where what is stored does not fit its field", async () => {
  await using app = await mount([Odd]);
  for (const route of ROUTES) {
    for (const [stored, body, status] of MISFITS) {
      const id = await store(Odd, stored);
      const reply = await app.patch(`${route}/${id}`, body);
      assertEquals([route, stored, body, reply.status], [route, stored, body, status]);
      if (status !== 200) continue;
      const again = await app.get<EntityBody>(`${route}/${id}`);
      const [field] = Object.keys(body) as [string];
      assertEquals(withoutIds(again.body[field]), withoutIds(reply.body[field]));
    }
  }
});

const key = fc.constantFrom(
  ...["text", "date", "free", "leaf", "leaves", "counts", "list", "tags", "a", "secret", "_id"],
  ...[
    "toString",
    "valueOf",
    "__proto__",
    "constructor",
    "a.b",
    "$set",
    "$",
    "",
    "0",
    "k",
    "\ud800",
  ],
);
const scalar = fc.constantFrom<unknown>(
  ...[null, true, 0, -1.5, 1e308, "", "x", "1", "2020-01-01", "0123456789abcdef01234567", "\0"],
  ...[{}, [], [[]], [null], [{}], { $numberDecimal: "1" }, { $oid: "x" }, { length: -1 }],
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.array(fc.tuple(key, tie("value")), { maxLength: 4 }).map((pairs) =>
      Object.fromEntries(pairs.filter(([name]) => name !== "__proto__"))
    ),
  ),
}));
const leaf = fc.record({
  a: value,
  secret: value,
  free: fc.dictionary(key, value),
  counts: fc.dictionary(key, fc.oneof(fc.integer(), value)),
  tags: value,
}, { requiredKeys: [] });
const body = fc.record({
  text: value,
  date: value,
  free: fc.dictionary(key, value),
  leaf: fc.oneof(leaf, value),
  stem: fc.record({ leaf, list: fc.array(fc.oneof(leaf, value), { maxLength: 3 }) }, {
    requiredKeys: [],
  }),
  leaves: fc.dictionary(key, fc.oneof(leaf, value)),
  counts: fc.dictionary(key, fc.oneof(fc.integer(), value)),
  list: fc.array(fc.oneof(leaf, value), { maxLength: 3 }),
}, { requiredKeys: [] });

test("create() and update() answer no body with 500, and show what is stored", async () => {
  await using app = await mount([Odd]);
  const samples = fc.sample(fc.tuple(body, body), { numRuns: casesOf(60), seed: 20261121 });
  for (const [first, second] of samples) {
    for (const route of ROUTES) {
      const made = await app.post(route, first);
      assert(made.status < 500, `${made.status} ${JSON.stringify(first)}`);
      const id = made.status === 201 ? made.body._id : await store(Odd, { leaf: {}, leaves: {} });
      const changed = await app.patch(`${route}/${id}`, second);
      assert(changed.status < 500, `${changed.status} ${JSON.stringify([first, second])}`);
      if (changed.status !== 200) continue;
      const read = await app.get(`${route}/${id}`);
      assertEquals(withoutIds(read.body), withoutIds(changed.body));
    }
  }
});

/** An entity without identifiers of objects that were stored without one. */
function withoutIds(entity: unknown): unknown {
  return JSON.parse(JSON.stringify(entity, (name, each) => name === "_id" ? undefined : each));
}
