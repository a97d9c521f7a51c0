import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  type Entity,
  type FrameworkRequest,
  getModel,
  type HooksOf,
  RestError,
} from "../../mod.ts";
import type { HookName } from "../../src/declare/hooks/hooks.ts";
import type { OperationName } from "../../src/declare/operations/operation.ts";
import { test } from "../harness/testing.ts";
import { callsFor, everywhere, hooked, type Item, namesIn, store } from "../support/hooked.ts";
import { mount } from "../support/support.ts";

type ItemRequest = FrameworkRequest<Item>;
type ItemEntity = Entity<Item>;

/** Notes each call of a hook as its name and the names of the entities that it got. */
function recording(calls: string[]): HooksOf<Item> {
  const nameOf = (entity?: ItemEntity) => entity?.name ?? "new";
  const note = (hook: HookName) => (_req: ItemRequest, ...entities: (ItemEntity | undefined)[]) => {
    calls.push([hook, ...entities.map(nameOf)].join(" "));
    return entities[0] as ItemEntity;
  };
  return {
    preFetch: (req) => note("preFetch")(req) === undefined,
    fetch: async (req) => {
      note("fetch")(req);
      const model = await req.framework.model();
      if (req.framework.operation === "create") return new model();
      return req.params.id ? model.findById(req.params.id) : model.find();
    },
    postFetch: note("postFetch"),
    preSave: note("preSave"),
    persist: async (req, entity, ...previous) => {
      note("persist")(req, entity, ...previous);
      if (/create|update/.test(req.framework.operation)) await entity.save();
      else await entity.deleteOne();
      return entity;
    },
    preSend: note("preSend"),
  };
}

const ORDER: Partial<Record<OperationName, string[]>> = {
  all: ["preFetch", "fetch", "postFetch a", "preSend a"],
  one: ["preFetch", "fetch", "postFetch a", "preSend a"],
  create: ["preFetch", "fetch", "postFetch new", "preSave b", "persist b", "preSend b"],
  update: ["preFetch", "fetch", "postFetch a", "preSave b a", "persist b a", "preSend b a"],
  remove: ["preFetch", "fetch", "postFetch a", "preSave a a", "persist a a"],
  removeAll: ["preFetch", "fetch", "postFetch a", "preSave a a", "persist a a"],
};

test("hooks run in their order, with the entity and the one before, when an operation runs", async (t) => {
  for (const [operation, method, path] of callsFor(":id")) {
    await t.step(operation, async () => {
      const calls: string[] = [];
      const model = hooked(everywhere(recording(calls)));
      await using app = await mount([model]);
      const [id] = await store(model, "a");
      const body = /POST|PATCH/.test(method) ? { name: "b" } : undefined;

      const { status } = await app.send(method, path.replace(":id", String(id)), { body });

      assert(status < 300, String(status));
      assertEquals(calls, ORDER[operation]);
    });
  }
});

test("preSave and persist get one document as entity and as previous when it is removed", async (t) => {
  for (const [operation, method, path] of callsFor(":id").slice(4)) {
    await t.step(operation, async () => {
      const pairs: unknown[][] = [];
      const keep = (_req: ItemRequest, entity: ItemEntity, previous?: ItemEntity) => {
        pairs.push([entity, previous]);
        return entity;
      };
      const model = hooked({ [operation]: { preSave: keep, persist: keep } });
      await using app = await mount([model]);
      const [id] = await store(model, "a");

      await app.send(method, path.replace(":id", String(id)));

      assertEquals(pairs.length, 2);
      for (const [entity, previous] of pairs) assertStrictEquals(entity, previous);
    });
  }
});

test("preSave gets the entity before the merge, whole and unchanged, when it is updated", async () => {
  const seen: unknown[] = [];
  const preSave = (_req: ItemRequest, entity: ItemEntity, previous?: ItemEntity) => {
    seen.push([entity.name, entity.part?.label, entity.secret]);
    seen.push([previous?.name, previous?.part?.label, previous?.secret]);
    return entity;
  };
  const model = hooked({ update: { preSave } });
  await using app = await mount([model]);
  const doc = await getModel(model).create({ name: "a", secret: "s", part: { label: "x" } });

  await app.patch(`/items/${doc._id}`, { name: "b", part: { label: "y" } });

  assertEquals(seen, [["b", "y", "s"], ["a", "x", "s"]]);
});

/** Runs work, and gives the calls that the default connection has sent to the database meanwhile. */
async function spied(work: () => Promise<unknown>): Promise<string[]> {
  const sent: string[] = [];
  mongoose.set("debug", (collection, method) => void sent.push(`${collection}.${method}`));
  try {
    await work();
  } finally {
    mongoose.set("debug", false);
  }
  return sent.filter((call) => !/createIndex|createCollection/.test(call));
}

test("preFetch runs before getConnection and any call of the database", async (t) => {
  for (const [operation, method, path] of callsFor("507f1f77bcf86cd799439011")) {
    await t.step(operation, async () => {
      const calls: string[] = [];
      const preFetch = async () => {
        calls.push("preFetch");
        await new Promise((resolve) => setTimeout(resolve, 20));
        calls.push("passed");
        return true;
      };
      const getConnection = () => {
        calls.push("getConnection");
        return mongoose.connection;
      };
      const model = hooked(everywhere({ preFetch }), { getConnection });
      await using app = await mount([model]);

      await app.send(method, path, { body: /P/.test(method) ? {} : undefined });

      assertEquals(calls, ["preFetch", "passed", "getConnection"]);
    });
  }
});

test("preFetch keeps the request from getConnection, scope and database when it refuses", async (t) => {
  const refusals: [string, () => boolean, number][] = [
    ["false", () => false, 403],
    ["throws", () => {
      throw new RestError(401, { code: "UNAUTHENTICATED" });
    }, 401],
  ];
  for (const [name, preFetch, expected] of refusals) {
    for (const [operation, method, path] of callsFor("507f1f77bcf86cd799439011")) {
      await t.step(`${operation} ${name}`, async () => {
        let asked = 0;
        const model = hooked(everywhere({ preFetch }), {
          getConnection: () => (asked++, mongoose.connection),
          scope: () => (asked++, {}),
        });
        await using app = await mount([model]);
        await store(model, "a");

        const sent = await spied(async () => {
          const body = /P/.test(method) ? {} : undefined;
          assertEquals((await app.send(method, path, { body })).status, expected);
        });

        assertEquals([asked, sent], [0, []]);
        assertEquals(await namesIn(model), ["a"]);
      });
    }
  }
});

test("preFetch fails closed when it gives anything but true", async (t) => {
  const values = [undefined, null, false, 0, 1, "true", "", {}, [], [true], new Boolean(true), NaN];
  for (const value of [...values, () => true, Promise.resolve(1), Promise.resolve()]) {
    await t.step(String(value), async () => {
      const preFetch = (() => value) as unknown as () => boolean;
      const model = hooked(everywhere({ preFetch }));
      await using app = await mount([model]);
      const [id] = await store(model, "a");
      for (const [_operation, method, path] of callsFor(String(id))) {
        const reply = await app.send<{ code: string }>(method, path, {
          body: /P/.test(method) ? { name: "b" } : undefined,
        });
        assertEquals([reply.status, reply.body.code], [403, "FORBIDDEN"]);
      }
      assertEquals(await namesIn(model), ["a"]);
    });
  }
});

test("preFetch has the say before what is wrong with q or the body", async () => {
  const preFetch = () => {
    throw new RestError(401, "Who are you?");
  };
  const model = hooked(everywhere({ preFetch }));
  await using app = await mount([model]);

  for (const [_operation, method, path] of callsFor("nobody")) {
    const { status } = await app.send(method, `${path}?q=x`);
    assertEquals(status, 401);
  }
});
