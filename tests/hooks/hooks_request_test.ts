import { assert, assertEquals } from "@std/assert";
import { type Entity, type FrameworkRequest, getModel, RestError } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { callsFor, everywhere, hooked, type Item, namesIn } from "../support/hooked.ts";
import { asQuery, mount } from "../support/support.ts";

type ItemRequest = FrameworkRequest<Item>;
type ItemEntity = Entity<Item>;

test("req.framework holds filter, options, projection, operation and model", async (t) => {
  for (const [operation, method, path] of callsFor("507f1f77bcf86cd799439011")) {
    await t.step(operation, async () => {
      const seen: unknown[] = [];
      const preFetch = async (req: ItemRequest) => {
        const { filter, options, projection, operation, model } = req.framework;
        const found = await model();
        seen.push(structuredClone(filter), options, projection, operation);
        seen.push(found === getModel(hookedModel));
        return true;
      };
      const hookedModel = hooked(everywhere({ preFetch }));
      await using app = await mount([hookedModel]);

      const body = /P/.test(method) ? {} : undefined;
      await app.send(method, path, { body });
      await app.send(method, path + asQuery({ rank: "5" }), { body });

      const filter = operation === "create" ? {} : { rank: { $eq: 5 } };
      assertEquals(seen, [{}, {}, {}, operation, true, filter, {}, {}, operation, true]);
    });
  }
});

/** The ways in which a hook may narrow the filter. */
const NARROW: [string, (req: ItemRequest) => void][] = [
  ["sets a key", (req) => req.framework.filter.owner = "me"],
  ["replaces the filter", (req) => {
    req.framework.filter = { $and: [req.framework.filter, { owner: "me" }] };
  }],
  ["spreads the filter", (req) => {
    req.framework.filter = { ...req.framework.filter, owner: "me" };
  }],
  ["replaces the state", (req) => {
    req.framework = { ...req.framework, filter: { owner: "me" } };
  }],
];

test("preFetch binds what is fetched when it narrows the filter", async (t) => {
  for (const [name, narrow] of NARROW) {
    await t.step(name, async () => {
      const preFetch = (req: ItemRequest) => {
        narrow(req);
        return true;
      };
      const model = hooked(everywhere({ preFetch }));
      await using app = await mount([model]);
      const docs = [{ name: "mine", owner: "me" }, { name: "theirs", owner: "them" }];
      const [, theirs] = await getModel(model).create(docs);
      const query = asQuery({ owner: "them" });

      for (const suffix of ["", query, asQuery({ $or: [{ owner: "them" }, { owner: "me" }] })]) {
        const list = await app.get<{ name: string }[]>(`/items${suffix}`);
        assertEquals(list.body.filter((item) => item.name === "theirs"), []);
        for (const method of ["GET", "PATCH", "DELETE"]) {
          const body = method === "PATCH" ? { name: "x" } : undefined;
          const path = `/items/${theirs?._id}${suffix}`;
          assertEquals((await app.send(method, path, { body })).status, 404);
        }
      }
      await app.delete("/items");
      assertEquals(await namesIn(model), ["theirs"]);
    });
  }
});

test("preFetch sets the filter, and Mongoose casts what it sets", async () => {
  const preFetch = (req: ItemRequest) => {
    req.framework.filter.rank = "5";
    req.framework.filter._id = { $in: [String(req.query.id)] };
    return true;
  };
  const model = hooked({ all: { preFetch } });
  await using app = await mount([model]);
  const doc = await getModel(model).create({ name: "a", rank: 5 });

  const { body } = await app.get<unknown[]>(`/items?id=${doc._id}`);

  assertEquals(body.length, 1);
});

test("preFetch reduces what is read when it sets a projection", async () => {
  const preFetch = (req: ItemRequest) => {
    req.framework.projection = { name: 1 };
    return true;
  };
  const model = hooked({ all: { preFetch }, update: { preFetch } });
  await using app = await mount([model]);
  const doc = await getModel(model).create({ name: "a", owner: "o", rank: 3 });

  const list = await app.get<object[]>("/items");
  const patch = await app.patch<object>(`/items/${doc._id}`, { name: "b" });

  assertEquals(Object.keys(list.body[0] as object).includes("owner"), false);
  assertEquals(Object.keys(patch.body).includes("owner"), false);
  assertEquals((await getModel(model).findById(doc._id))?.owner, "o");
});

test("hooks reach the response as req.res", async () => {
  const preFetch = (req: ItemRequest) => {
    req.res?.setHeader("X-Hook", "here");
    return true;
  };
  const model = hooked({ all: { preFetch } });
  await using app = await mount([model]);

  const { headers } = await app.get("/items");

  assertEquals(headers.get("x-hook"), "here");
});

test("hooks of a list run concurrently, and the order is kept", async (t) => {
  for (const hook of ["postFetch", "preSend"] as const) {
    await t.step(hook, async () => {
      let running = 0;
      let most = 0;
      const wait = async (_req: ItemRequest, entity: ItemEntity) => {
        most = Math.max(most, ++running);
        // 7 and 20 have no common divisor: neighbours take different times
        await new Promise((resolve) => setTimeout(resolve, (entity.rank ?? 0) * 7 % 20));
        running--;
        return entity.rank === 70 ? null : entity;
      };
      const model = hooked({ all: { [hook]: wait } });
      await using app = await mount([model]);
      const ranks = Array.from({ length: 100 }, (_, rank) => ({ rank }));
      await getModel(model).create(ranks);

      const { body } = await app.get<{ rank: number }[]>("/items");

      const expected = ranks.map(({ rank }) => rank).filter((rank) => rank !== 70);
      assertEquals(body.map(({ rank }) => rank).sort((a, b) => a - b), expected);
      const stored = await getModel(model).find().lean();
      const order = stored.map(({ rank }) => rank as number).filter((rank) => rank !== 70);
      assertEquals(body.map(({ rank }) => rank), order);
      assert(most > 1, "one at a time");
    });
  }
});

test("all() answers with a hook's error when it comes at the end of a long list", async () => {
  const preSend = (_req: ItemRequest, entity: ItemEntity) => {
    if (entity.rank === 399) throw new RestError(403, "Not this one");
    return entity;
  };
  const model = hooked({ all: { preSend } });
  await using app = await mount([model]);
  const name = "n".repeat(1000);
  await getModel(model).insertMany(Array.from({ length: 400 }, (_, rank) => ({ name, rank })));

  const reply = await app.get("/items");

  assertEquals(reply.status, 403);
  assertEquals(reply.body, { code: "FORBIDDEN", message: "Not this one" });
});
