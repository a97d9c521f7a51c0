import { assertEquals, assertThrows } from "@std/assert";
import {
  and,
  asFilter,
  type Entity,
  type FrameworkRequest,
  getModel,
  type HooksOf,
  type ModelClass,
  or,
  RestError,
} from "../../mod.ts";
import { type Client, client } from "../support/client.ts";
import { test } from "../harness/testing.ts";
import { callsFor, everywhere, hooked, type Item } from "../support/hooked.ts";
import { mount } from "../support/support.ts";

type ItemRequest = FrameworkRequest<Item>;
type ItemEntity = Entity<Item>;

function isUser(req: ItemRequest): boolean {
  if (req.headers["x-user"] === undefined) throw new RestError(401, { code: "UNAUTHENTICATED" });
  return true;
}

function isAdmin(req: ItemRequest): boolean {
  return req.headers["x-role"] === "admin";
}

function isOwner(req: ItemRequest, entity: ItemEntity): ItemEntity {
  if (entity.owner !== req.headers["x-user"]) throw new RestError(403, { code: "NOT_YOURS" });
  return entity;
}

/** Stores what is mine, what is theirs, and what is public. */
async function seed(model: ModelClass<Item>): Promise<string[]> {
  const docs = await getModel(model).create([
    { name: "mine", owner: "me", rank: 1 },
    { name: "theirs", owner: "them", rank: 1 },
    { name: "public", owner: "them", rank: 0 },
  ]);
  return docs.map(({ _id }) => String(_id));
}

async function listed(api: Client): Promise<string[]> {
  const { body } = await api.get<{ name: string }[]>("/items");
  return body.map(({ name }) => name).sort();
}

test("asFilter() drops from a list what the hook rejects, and one() answers with its error", async (t) => {
  for (const hook of ["postFetch", "preSend"] as const) {
    await t.step(hook, async () => {
      const model = hooked({
        all: { [hook]: asFilter(isOwner) },
        one: { [hook]: isOwner },
      });
      await using app = await mount([model]);
      const api = client(app, { "x-user": "me" });
      const [mine, theirs] = await seed(model);

      assertEquals(await listed(api), ["mine"]);
      assertEquals((await api.get(`/items/${mine}`)).status, 200);
      const refused = await api.get(`/items/${theirs}`);
      assertEquals([refused.status, refused.body], [403, { code: "NOT_YOURS" }]);
    });
  }
});

test("all() answers with the error of the hook when it is not made a filter", async () => {
  const model = hooked({ all: { postFetch: isOwner } });
  await using app = await mount([model]);
  const api = client(app, { "x-user": "me" });
  await seed(model);

  const { status, body } = await api.get("/items");

  assertEquals([status, body], [403, { code: "NOT_YOURS" }]);
});

test("asFilter() answers 404 when it guards a single entity, and 403 before a write", async () => {
  const filter = asFilter(isOwner);
  const model = hooked({
    one: { postFetch: filter },
    update: { preSave: filter },
    remove: { preSave: filter },
    removeAll: { postFetch: filter },
  });
  await using app = await mount([model]);
  const api = client(app, { "x-user": "me" });
  const [, theirs] = await seed(model);
  const path = `/items/${theirs}`;

  assertEquals((await api.get(path)).status, 404);
  assertEquals((await api.patch(path, { name: "x" })).status, 403);
  assertEquals((await api.delete(path)).status, 403);
  assertEquals((await api.delete("/items")).status, 204);
  const left = await getModel(model).find().lean();
  assertEquals(left.map(({ name }) => name).sort(), ["public", "theirs"]);
});

test("and() and or() guard all six operations as preFetch", async (t) => {
  const guards: [string, HooksOf<Item>["preFetch"], object, number][] = [
    ["and, both pass", and(isUser, isAdmin), { "x-role": "admin" }, 0],
    ["and, the second refuses", and(isUser, isAdmin), {}, 403],
    ["and, the first throws", and(isUser, isAdmin), { "x-user": undefined }, 401],
    ["or, the second passes", or(isAdmin, isUser), {}, 0],
    ["or, the last throws", or(isAdmin, isUser), { "x-user": undefined }, 401],
    ["or, the last refuses", or(isUser, isAdmin), { "x-user": undefined }, 403],
    ["asFilter, it throws", asFilter(isUser), { "x-user": undefined }, 403],
    ["none", or<ItemRequest>() as HooksOf<Item>["preFetch"], {}, 403],
  ];
  for (const [name, preFetch, given, expected] of guards) {
    await t.step(name, async () => {
      const model = hooked(everywhere(preFetch === undefined ? {} : { preFetch }));
      await using app = await mount([model]);
      const [mine] = await seed(model);
      const headers = JSON.parse(JSON.stringify({ "x-user": "me", ...given }));

      for (const [_operation, method, path] of callsFor(String(mine))) {
        const body = /P/.test(method) ? { name: "x" } : undefined;
        const { status } = await app.send(method, path, { headers, body });
        assertEquals(expected === 0 ? status < 300 : status === expected, true, String(status));
      }
      if (expected !== 0) assertEquals(await getModel(model).countDocuments(), 3);
    });
  }
});

test("and(), or() and asFilter() refuse what is no function", () => {
  for (const wrong of [undefined, null, 5, "isUser", {}, [isUser]]) {
    for (const combine of [and, or, asFilter] as ((hook: unknown) => unknown)[]) {
      assertThrows(() => combine(wrong), TypeError, "no function");
    }
  }
});
