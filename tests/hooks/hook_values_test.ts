import { assert, assertEquals } from "@std/assert";
import {
  action,
  all,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  replace,
  rest,
  type RestOptions,
  update,
  updateAll,
} from "../../mod.ts";
import type { HookName } from "../../src/declare/hooks/hooks.ts";
import { test } from "../harness/testing.ts";
import { asQuery, type ErrorBody, mount, type Mounted } from "../support/support.ts";
import { openReplicaSet } from "../support/shared_replica_set.ts";

class Part extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ type: Number })
  number?: number;
  @prop({ type: Object })
  extra?: unknown;
}

/** What hooks set, by the name of the hook. */
const set: { [K in HookName | "run"]?: (entity: Record<string, unknown>) => unknown } = {};

/** A hook that sets what a test says. */
const hook = (name: HookName | "run") => (_req: unknown, entity: Entity<never>) => {
  set[name]?.(entity as never);
  return entity;
};

const hooks = {
  postFetch: hook("postFetch"),
  preSave: hook("preSave"),
  preSend: hook("preSend"),
} as never;
const reads = { postFetch: hook("postFetch"), preSend: hook("preSend") } as never;
const run = action("run", {
  on: "one",
  async run(_req, entity: Entity<FrameworkModel>) {
    set.run?.(entity as never);
    return await entity.save();
  },
});

const runAll = action("runAll", {
  on: "all",
  async run(_req, { model }) {
    const item = await model.findOne().orFail();
    set.fetch?.(item as never);
    return await item.save() as Entity<FrameworkModel>;
  },
});

const methods = (many: boolean): RestOptions["methods"] => [
  all(reads),
  one(reads),
  create({ ...hooks as object, ...many && { many: 5 } }),
  update(hooks),
  updateAll({ ...hooks as object, preSend: undefined, max: 9, fields: ["text"] } as never),
  run,
];

@rest({ route: "/others", methods: [all()] })
class Other extends Part {}

@rest({
  route: "/items",
  methods: [
    ...methods(true) as never[],
    replace({ ...hooks as object, by: "key" } as never),
    runAll,
  ],
})
class Item extends Part {
  @prop({ type: Number, unique: true })
  key?: number;
  @prop({ hidden: true, type: Number })
  secret?: number;
  @prop({ type: Date })
  date?: Date;
  @prop({ type: Part })
  part?: Part;
  @prop({ type: Map, of: Part })
  map?: Map<string, Part>;
  @prop({ type: Object })
  free?: unknown;
  @arrayProp({ items: Number })
  numbers?: number[];
  @rest({ methods: methods(false) as never })
  @arrayProp({ items: Part, embedded: true, apart: false })
  parts?: Part[];
  @rest({ methods: methods(false) as never })
  @arrayProp({ items: Other })
  others?: Ref<Other>[];
}

@rest({
  route: "/lean",
  methods: [
    all({ ...reads as object, lean: true }),
    one({ ...reads as object, fetch: () => ({ _id: "a", text: "a" }) as never }),
    update({
      ...hooks as object,
      fetch: () => ({ _id: "a", text: "a" }) as never,
      persist: (_req: unknown, entity: object) => entity as never,
    }),
  ],
})
class Lean extends Part {
  static override schemaOptions = { collection: "items" };
}

interface Opened {
  readonly app: Mounted;
  readonly told: string[];
  readonly at: string;
}

function hookTest(name: string, runTest: (opened: Opened) => Promise<void>): void {
  test(`a value of a hook ${name}`, async () => {
    for (const key of Object.keys(set)) delete set[key as HookName];
    await using mongo = await openReplicaSet();
    const told: string[] = [];
    await using app = await mount([Item, Other, Lean], {
      mongo: mongo.uri,
      onError: (_req, error, { class: of }) => void told.push(`${of} ${error}`),
    });
    const other = await getModel(Other).create({ text: "a" });
    const item = await getModel(Item).create({
      ...{ text: "a", key: 1, part: { text: "a" }, parts: [{ text: "a" }], others: [other._id] },
    });
    await runTest({ app, told, at: `/items/${item._id}` });
  });
}

const later = (value: unknown) => Promise.resolve(value);

/** What a hook may set wrongly, and what its message says. */
const WRONG: Readonly<Record<string, readonly [path: string, value: () => unknown]>> = {
  "an object in a number field": [`the value of "number" cannot be cast`, () => ({ a: "SENT" })],
  "a text in a number field": [`the value of "number" cannot be cast`, () => "SENT"],
  "a promise in a number field": [
    `"number" is a promise, so an "await" is missing`,
    () => later(1),
  ],
  "a promise in a text": [`"text" is a promise, so an "await" is missing`, () => later("SENT")],
  "a promise in a date": [`"date" is a promise, so an "await" is missing`, () => later("SENT")],
  "a promise in an object": [`"part" is a promise, so`, () => later({ text: "SENT" })],
  "a promise inside of an object": [`"part.text" is a promise`, () => ({ text: later("SENT") })],
  "a promise in a Map": [`"map" is a promise, so`, () => later({ a: { text: "SENT" } })],
  "a promise in free-form data": [`"free" is a promise, so`, () => later({ a: "SENT" })],
  "a promise inside of free-form data": [`"free" holds a promise, so`, () => ({ a: [later(1)] })],
  "a promise in a list": [`"numbers`, () => [1, later(1)]],
  "a promise in the place of a list": [`"numbers`, () => later([1])],
  "promises in a list of objects": [`"parts`, () => [later({ text: "SENT" })]],
  "a query in a number field": [`"number" is a promise`, () => getModel(Item).countDocuments()],
};

const FIELDS = /"(\w+)/;

for (const [name, [message, value]] of Object.entries(WRONG)) {
  hookTest(`that is ${name} is the application's error`, async ({ app, told, at }) => {
    const [, field = ""] = FIELDS.exec(message) ?? [];
    const name = field === "part" && message.includes("part.text") ? "part" : field;
    for (const hook of ["postFetch", "preSave", "preSend"] as const) {
      set[hook] = (entity) => entity[name] = value();
      const reply = await app.patch<ErrorBody>(at, { text: hook });
      const [sent = ""] = told.splice(0);
      assertEquals([reply.status, reply.body.code], [500, "INTERNAL"], `${hook} ${reply.text}`);
      assert(!/SENT|promise/i.test(reply.text), reply.text);
      assert(sent.includes(`hook "${hook}" of update() of "Item"`), sent);
      assert(sent.includes(message), sent);
      delete set[hook];
    }
    set.run = (entity) => entity[name] = value();
    assertEquals((await app.post(`${at}/run`)).status, 500);
    assert(told.join().includes(message) && told.join().includes("Item"), told.join());
  });
}

hookTest("that cannot be cast stops every operation", async ({ app, told, at }) => {
  const { body: { parts, others } } = await app.get<{ parts: { _id: string }[]; others: string[] }>(
    at,
  );
  const [part, other] = [`${at}/parts/${parts[0]?._id}`, `${at}/others/${others[0]}`];
  const body = { text: "b" };
  const ask = [
    () => app.post("/items", { ...body, key: 2 }),
    () => app.post("/items", [{ ...body, key: 2 }, { ...body, key: 3 }]),
    () => app.patch(`/items${asQuery({})}`, body),
    () => app.put("/items/1", body),
    () => app.put("/items/9", body),
    () => app.post(`${at}/parts`, body),
    () => app.patch(part, body),
    () => app.patch(`${at}/parts${asQuery({})}`, body),
    () => app.post(`${at}/others`, body),
    () => app.patch(other, body),
    () => app.post(`${part}/run`),
    () => app.post(`${other}/run`),
  ];
  set.preSave = set.run = (entity) => entity.number = { a: 1 };
  for (const [index, each] of ask.entries()) {
    const reply = await each();
    assertEquals([reply.status, told.length], [500, index + 1], `${index} ${reply.text}`);
  }
  assertEquals(await getModel(Item).countDocuments({ text: "b" }), 0);
  assertEquals(await getModel(Other).countDocuments({ text: "b" }), 0);
});

hookTest("that is a promise in free-form data stops the write of a part", async ({ app, at }) => {
  set.preSave = (entity) => entity.extra = { a: later(1) };
  for (const path of [`${at}/parts`, `${at}/others`]) {
    const reply = await app.post(path, { text: "b" });
    assertEquals(reply.status, 500, `${path} ${reply.text}`);
  }
});

hookTest(
  "that is a promise stops reads, of instances and objects too",
  async ({ app, told, at }) => {
    for (const hook of ["postFetch", "preSend"] as const) {
      set[hook] = (entity) => entity.text = later("x");
      for (const path of ["/items", at, `${at}/parts`, `${at}/others`, "/lean", "/lean/a"]) {
        const reply = await app.get(path);
        assertEquals(reply.status, 500, `${hook} ${path} ${reply.text}`);
        const [sent = ""] = told.splice(0);
        assert(sent.includes(`hook "${hook}"`) && sent.includes(`"text" is a promise`), sent);
      }
      delete set[hook];
    }
    set.preSend = (entity) => entity.inner = [{ deep: later("x") }];
    assertEquals((await app.get("/lean")).status, 500);
    assert(told[0]?.includes(`"inner.0.deep" is a promise`), told[0]);
  },
);

hookTest(
  "in free-form data that is changed in place is the application's error",
  async (opened) => {
    const { app, told, at } = opened;
    await app.patch(at, { free: { a: 1 } });
    set.preSave = (entity) => {
      (entity.free as Record<string, unknown>).a = later("SENT");
      (entity as unknown as Entity<Item>).markModified("free");
    };
    assertEquals((await app.patch(at, { text: "b" })).status, 500);
    assert(told[0]?.includes(`"free" holds a promise`), told[0]);
  },
);

hookTest("in a document that an action reads is the application's error", async ({ app, told }) => {
  for (const [value] of [[() => later("SENT")], [() => ({ a: "SENT" })]] as const) {
    set.fetch = (entity) => entity.number = value();
    const reply = await app.post("/items/runAll");
    assertEquals([reply.status, reply.text.includes("SENT")], [500, false], reply.text);
  }
  assert(told[0]?.includes(`"number" is or holds a promise, so an "await" is missing`), told[0]);
  assert(told[1]?.includes("number: Cast to Number failed"), told[1]);
});

hookTest("in an object of another database is the application's error", async ({ app, told }) => {
  set.preSave = (entity) => entity.number = { a: 1 };
  assertEquals((await app.patch("/lean/a", { text: "b" })).status, 500);
  assert(told[0]?.includes(`Cannot save "Lean"`) && told[0].includes(`"number"`), told[0]);
});

hookTest(
  "that a validator refuses is the client's, and so is its own",
  async ({ app, told, at }) => {
    set.preSave = (entity) => (entity as unknown as Entity<Item>).invalidate("text", "No");
    const refused = await app.patch<ErrorBody>(at, { text: "b" });
    assertEquals([refused.status, Object.keys(refused.body.errors ?? {})], [400, ["text"]]);
    delete set.preSave;
    const cast = await app.patch<ErrorBody>(at, { number: { a: 1 } });
    assertEquals([cast.status, Object.keys(cast.body.errors ?? {}), told], [400, ["number"], []]);
  },
);
