import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  action,
  all,
  and,
  arrayProp,
  asFilter,
  create,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  onlyIf,
  or,
  prop,
  type Ref,
  remove,
  removeAll,
  replace,
  rest,
  RestError,
  type RestOptions,
  update,
  updateAll,
} from "../../mod.ts";
import type { HookName } from "../../src/declare/hooks/hooks.ts";
import { rows, sendBatch } from "../features/batch/shop.ts";
import { openLive } from "../features/live/live.ts";
import { test } from "../harness/testing.ts";
import { asQuery, type ErrorBody, mount, type Mounted } from "../support/support.ts";
import { openReplicaSet } from "../support/shared_replica_set.ts";

type Forgetful = "postFetch" | "preSave" | "preSend" | "persist";

/** The hook that returns nothing. */
let forgotten: Forgetful | undefined;

const hook = (name: HookName) => (_req: unknown, entity: object) =>
  forgotten === name ? undefined : entity;

const reads = { postFetch: hook("postFetch"), preSend: hook("preSend") } as never;
const writes = { ...reads as object, preSave: hook("preSave"), persist: undefined } as never;
const silent = { ...writes as object, preSend: undefined } as never;

const methods = (many: boolean): RestOptions["methods"] => [
  all(reads),
  one(reads),
  create({ ...writes as object, ...many && { many: 5 } }),
  update(writes),
  updateAll({ ...silent as object, max: 9, fields: ["text"] } as never),
  remove(silent),
  removeAll(silent),
  action("run", {
    on: "one",
    postFetch: hook("postFetch") as never,
    run: (_req, entity: Entity<FrameworkModel>) => entity,
  }),
];

class Part extends FrameworkModel {
  @prop()
  text?: string;
}

@rest({ route: "/others", methods: methods(true) as never })
@rest({ route: "/kept", methods: [update({ persist: hook("persist") as never })] })
class Other extends Part {}

@rest({
  route: "/items",
  history: true,
  methods: [
    all({ ...reads as object, live: true, page: { max: 5 } }),
    ...methods(true).slice(1) as never[],
    replace({ ...writes as object, by: "key" } as never),
  ],
})
class Item extends Part {
  static override schemaOptions = { collection: "forgotten_items" };
  @prop({ type: Number, unique: true })
  key?: number;
  @rest({ methods: methods(false) as never })
  @arrayProp({ items: Part, embedded: true, apart: false })
  parts?: Part[];
  @rest({ methods: methods(false) as never })
  @arrayProp({ items: Other })
  others?: Ref<Other>[];
}

interface Opened {
  readonly app: Mounted;
  readonly told: string[];
  readonly at: string;
  readonly paths: readonly [string, string, string];
}

function forgottenTest(name: string, run: (opened: Opened) => Promise<void>): void {
  test(name, async () => {
    forgotten = undefined;
    await using mongo = await openReplicaSet();
    const told: string[] = [];
    await using app = await mount([Item, Other], {
      mongo: mongo.uri,
      batch: { path: "/batch", max: 20 },
      onError: (_req, error, { class: name, operation }) => {
        told.push(`${name} ${operation} ${error}`);
      },
    });
    const other = await getModel(Other).create({ text: "a" });
    const { body } = await app.post<{ _id: string }>("/items", { text: "a", key: 1 });
    const at = `/items/${body._id}`;
    const part = await app.post<{ _id: string }>(`${at}/parts`, { text: "a" });
    await getModel(Item).updateOne({ _id: body._id }, { others: [other._id] });
    const paths = [at, `${at}/parts/${part.body._id}`, `${at}/others/${other._id}`] as const;
    await run({ app, told, at, paths });
  });
}

function assertTold(told: string[], expected: { hook: string; operation: string; of: string }) {
  const [line = "", ...others] = told.splice(0);
  const { hook, operation, of } = expected;
  assertEquals(others, []);
  assertStringIncludes(line, `hook "${hook}" of ${operation}() of "${of}"`);
  assertStringIncludes(line, "return the entity, or null");
}

const classAt = (path: string) =>
  path.includes("/parts") ? "Part" : path.includes("/others") ? "Other" : "Item";

forgottenTest("a hook of a read that returns nothing is a 500", async (opened) => {
  const { app, told, at, paths } = opened;
  const lists = ["/items", `${at}/parts`, `${at}/others`, "/others"];
  for (const hook of ["postFetch", "preSend"] as const) {
    forgotten = hook;
    for (const path of [...lists, ...paths]) {
      const reply = await app.get<ErrorBody>(path);
      assertEquals([reply.status, reply.body.code], [500, "INTERNAL"], `${hook} ${path}`);
      const isPart = path.startsWith(at) && path !== at;
      const isParent = isPart && hook === "postFetch";
      const operation = lists.includes(path) && !isParent ? "all" : "one";
      assertTold(told, { hook, operation, of: isParent ? "Item" : classAt(path) });
    }
    const history = await app.get(`${at}/history`);
    assertEquals(history.status, 500, hook);
    assertEquals(told.splice(0).length, 1);
  }
});

forgottenTest("a hook that returns nothing before a write stops it with a 500", async (opened) => {
  const { app, told, at, paths } = opened;
  const body = { text: "b" };
  const calls: [method: string, path: string, operation: string, body?: unknown][] = [
    ["POST", "/items", "create", { ...body, key: 2 }],
    ["POST", "/items", "create", [{ ...body, key: 3 }, { ...body, key: 4 }]],
    ["PUT", "/items/1", "replace", body],
    ["PUT", "/items/9", "replace", body],
    ["PATCH", `/items${asQuery({})}`, "updateAll", body],
    ["DELETE", "/items", "removeAll"],
    ["POST", `${at}/parts`, "create", body],
    ["POST", `${at}/others`, "create", body],
    ["PATCH", `${at}/parts${asQuery({})}`, "updateAll", body],
    ["DELETE", `${at}/parts`, "removeAll"],
    ...paths.map((path): typeof calls[number] => ["PATCH", path, "update", body]),
    ...paths.map((path): typeof calls[number] => ["DELETE", path, "remove"]),
  ];
  for (const hook of ["postFetch", "preSave"] as const) {
    forgotten = hook;
    for (const [method, path, operation, body] of calls) {
      const reply = await app.send(method, path, { body });
      assertEquals(reply.status, 500, `${hook} ${method} ${path} ${reply.text}`);
      const isParent = hook === "postFetch" && path.startsWith(`${at}/`);
      const of = isParent ? "Item" : classAt(path);
      assertTold(told, { hook, operation: isParent ? "one" : operation, of });
    }
  }
  forgotten = "postFetch";
  assertEquals((await app.post(`${at}/run`)).status, 500);
  assertTold(told, { hook: "postFetch", operation: "run", of: "Item" });
  for (const model of [Item, Other]) {
    assertEquals((await getModel(model).find()).map(({ text }) => text), ["a"]);
  }
});

forgottenTest("a hook that returns nothing after a write answers as null does", async (opened) => {
  const { app, told, at, paths } = opened;
  forgotten = "preSend";
  const body = { text: "b" };
  const calls: [method: string, path: string, operation: string, body: unknown][] = [
    ["POST", "/items", "create", { ...body, key: 2 }],
    ["PUT", "/items/3", "replace", body],
    ["POST", `${at}/parts`, "create", body],
    ["POST", `${at}/others`, "create", body],
    ...paths.map((path): typeof calls[number] => ["PATCH", path, "update", body]),
  ];
  for (const [method, path, operation, body] of calls) {
    const reply = await app.send(method, path, { body });
    assertEquals([reply.status, reply.text], [204, ""], `${method} ${path}`);
    assertTold(told, { hook: "preSend", operation, of: classAt(path) });
  }
  const many = await app.post("/items", [{ ...body, key: 4 }, { ...body, key: 5 }]);
  assertEquals([many.status, many.body], [201, []]);
  assertTold(told, { hook: "preSend", operation: "create", of: "Item" });
  assertEquals(await getModel(Item).countDocuments(body), 5);

  forgotten = "persist";
  assertEquals(
    (await app.patch(paths[2].slice(at.length).replace("others", "kept"), { text: "c" })).status,
    204,
  );
  assertTold(told, { hook: "persist", operation: "update", of: "Other" });
});

forgottenTest("in a batch, a hook that returns nothing is a 500 of its request", async (opened) => {
  const { app, told, at } = opened;
  forgotten = "preSave";
  const patch = ["PATCH", at, { text: "b" }] as const;
  const reply = await sendBatch(app, rows(["GET", at], patch));
  assertEquals([reply.status, reply.text.includes("INTERNAL")], [500, true], reply.text);
  assertTold(told, { hook: "preSave", operation: "update", of: "Item" });
});

forgottenTest("a hook that returns nothing ends a live list", async ({ app, told }) => {
  await using list = await openLive(`${app.url}/items`);
  await list.ready();
  forgotten = "postFetch";
  await getModel(Item).create({ text: "b", key: 2 });
  await list.ended();
  assertTold(told, { hook: "postFetch", operation: "all", of: "Item" });
});

const nothing = () => undefined as never;
const named = onlyIf(
  ["name"],
  (_req: FrameworkRequest, _each: { readonly name: string }) => nothing(),
);
const entity = { name: "a" };
const request = {} as FrameworkRequest;
const keep = (_req: unknown, each: object) => each;
const refuse = () => {
  throw new RestError(403, "No");
};

/** Combined hooks, and their results for an entity. */
const COMBINED: [string, (req: FrameworkRequest, each: typeof entity) => unknown, unknown][] = [
  ["and", and(keep, nothing), null],
  ["and, first", and(nothing, keep), null],
  ["or", or(() => null, nothing), null],
  ["or, then another", or(nothing, keep), entity],
  ["asFilter", asFilter(nothing), null],
  ["asFilter of a promise", asFilter(() => Promise.resolve(undefined) as never), null],
  ["asFilter of and", asFilter(and(refuse, nothing)), null],
  ["nested", and(or(nothing, nothing)), null],
  ["named fields", named, null],
  ["named fields, combined", or(named, named), null],
  ["onlyIf", onlyIf(nothing), null],
];

test("a combined hook rejects by null where one of its hooks returns nothing", async (t) => {
  for (const [name, hook, expected] of COMBINED) {
    await t.step(name, async () => assertEquals(await hook(request, entity), expected));
  }
});
