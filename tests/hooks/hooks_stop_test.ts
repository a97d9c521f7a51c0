import { assertEquals } from "@std/assert";
import { type Entity, type FrameworkRequest, getModel, RestError } from "../../mod.ts";
import type { HookName } from "../../src/declare/hooks/hooks.ts";
import type { OperationName } from "../../src/declare/operations/operation.ts";
import { test } from "../harness/testing.ts";
import {
  callsFor,
  everywhere,
  hooked,
  type HooksByOperation,
  type Item,
  namesIn,
  store,
} from "../support/hooked.ts";
import { asQuery, mount } from "../support/support.ts";

type ItemRequest = FrameworkRequest<Item>;
type ItemEntity = Entity<Item>;

/** What each operation answers when a hook gives null, and the names that are stored afterwards. */
const ON_NULL: [HookName, OperationName, status: number, stored: string][] = [
  ["postFetch", "all", 200, "a"],
  ["postFetch", "one", 404, "a"],
  ["postFetch", "create", 404, "a"],
  ["postFetch", "update", 404, "a"],
  ["postFetch", "remove", 404, "a"],
  ["postFetch", "removeAll", 204, "a"],
  ["preSave", "create", 403, "a"],
  ["preSave", "update", 403, "a"],
  ["preSave", "remove", 403, "a"],
  ["preSave", "removeAll", 403, "a"],
  ["preSend", "all", 200, "a"],
  ["preSend", "one", 404, "a"],
  ["preSend", "create", 204, "ab"],
  ["preSend", "update", 204, "b"],
  ["fetch", "all", 200, "a"],
  ["fetch", "one", 404, "a"],
  ["fetch", "create", 404, "a"],
  ["fetch", "update", 404, "a"],
  ["fetch", "remove", 404, "a"],
  ["fetch", "removeAll", 204, "a"],
];

test("hooks reject, each in its way, when they give null or false", async (t) => {
  for (const [hook, operation, expected, stored] of ON_NULL) {
    let given: unknown;
    const model = hooked({ [operation]: { [hook]: () => given } } as HooksByOperation);
    await using app = await mount([model]);
    for (const value of [null, false, Promise.resolve(null)]) {
      await t.step(`${hook} of ${operation} gives ${value}`, async () => {
        given = value;
        await getModel(model).deleteMany();
        const [id] = await store(model, "a");
        const [, method = "", path = ""] = callsFor(String(id)).find(([name]) =>
          name === operation
        ) ?? [];

        const reply = await app.send(method, path, {
          body: /P/.test(method) ? { name: "b" } : undefined,
        });

        assertEquals(reply.status, expected);
        if (operation === "all") assertEquals(reply.body, []);
        if (expected === 403) assertEquals((reply.body as { code: string }).code, "FORBIDDEN");
        assertEquals((await namesIn(model)).join(""), stored);
      });
    }
  }
});

test("hooks stop the operation, and nothing is written, when they throw", async (t) => {
  const hooks: HookName[] = ["fetch", "postFetch", "preSave", "persist"];
  const error = () => Promise.reject(new RestError(418, { code: "TEAPOT" }));
  for (const hook of hooks) {
    await t.step(hook, async () => {
      const model = hooked(everywhere({ [hook]: error }));
      await using app = await mount([model]);
      const [id] = await store(model, "a", "c");
      const reads = hook === "fetch" || hook === "postFetch";
      for (const [_operation, method, path] of callsFor(String(id)).slice(reads ? 0 : 2)) {
        const body = /P/.test(method) ? { name: "b" } : undefined;
        const reply = await app.send(method, path, { body });
        assertEquals([reply.status, reply.body], [418, { code: "TEAPOT" }]);
      }
      assertEquals(await namesIn(model), ["a", "c"]);
    });
  }
});

test("removeAll() removes nothing when one entity of many is refused", async (t) => {
  const refusals: [string, () => null][] = [
    ["null", () => null],
    ["throws", () => {
      throw new RestError(403, "No");
    }],
  ];
  for (const [name, refuse] of refusals) {
    await t.step(name, async () => {
      const names = Array.from({ length: 60 }, (_, index) => `n${index}`);
      const preSave = (_req: ItemRequest, entity: ItemEntity) =>
        entity.name === "n55" ? refuse() : entity;
      const model = hooked({ removeAll: { preSave } });
      await using app = await mount([model]);
      await store(model, ...names);

      const { status } = await app.delete("/items");

      assertEquals(status, 403);
      assertEquals((await namesIn(model)).length, 60);
    });
  }
});

test("removeAll() leaves what postFetch drops, and removes the rest", async () => {
  const postFetch = (_req: ItemRequest, entity: ItemEntity) => entity.name === "a" ? null : entity;
  const model = hooked({ removeAll: { postFetch } });
  await using app = await mount([model]);
  await store(model, "a", "b", "c");

  const { status } = await app.delete(`/items${asQuery({ name: { $ne: "c" } })}`);

  assertEquals(status, 204);
  assertEquals(await namesIn(model), ["a", "c"]);
});
