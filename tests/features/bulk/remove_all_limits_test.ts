import { assertEquals } from "@std/assert";
import { FrameworkModel, getModel, type HooksOf, prop, removeAll, rest } from "../../../mod.ts";
import type { ModelClass, QueryObject } from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";
import { test } from "../../harness/testing.ts";
import { asQuery, type ErrorBody, mount, type Mounted } from "../../support/support.ts";

class Item extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Number })
  rank?: number;
  @prop()
  owner?: string;
}

/** Makes a model whose entities are removed with documents below `/hooked`, and without below `/items`. */
function itemModel(hooks: HooksOf<Item> = {}, rests: { scope?: () => QueryObject } = {}) {
  @rest({ route: "/items", methods: [removeAll<Item>(hooks)], ...rests })
  @rest({ route: "/hooked", methods: [removeAll<Item>({ preSave: pass, ...hooks })], ...rests })
  class Removed extends Item {
    static override schemaOptions = { collection: "items" };
  }
  return Removed;
}

const BOTH = ["/items", "/hooked"] as const;

async function seed(model: ModelClass<Item>, count: number, more: object = {}): Promise<void> {
  await getModel(model).collection.deleteMany({});
  const items = Array.from({ length: count }, (_, rank) => ({ rank, owner: "me", ...more }));
  await getModel(model).collection.insertMany(items);
}

async function ranksOf(model: ModelClass<Item>): Promise<unknown[]> {
  return (await getModel(model).find().sort({ rank: 1 })).map((each) => each.get("rank"));
}

/** Removes what a query selects, and gives the status, the limit that is told, and the preference that was heeded. */
async function remove(app: Mounted, path: string, prefer?: string) {
  const headers: Record<string, string> = prefer === undefined ? {} : { prefer };
  const reply = await app.delete<ErrorBody & { limit?: number }>(path, { headers });
  const applied = reply.headers.get("preference-applied");
  return [reply.status, reply.body?.limit, applied ?? undefined];
}

const OK = [204, undefined, undefined];

test("removeAll() removes nothing where more than max are selected", async (t) => {
  const model = itemModel({ max: 3 });
  await using app = await mount([model]);
  for (const route of BOTH) {
    await t.step(route, async () => {
      await seed(model, 5);
      assertEquals(await remove(app, route), [409, 3, undefined]);
      const most = asQuery({ rank: { $gt: 0 } });
      assertEquals(await remove(app, `${route}${most}`), [409, 3, undefined]);
      assertEquals(await ranksOf(model), [0, 1, 2, 3, 4]);
      assertEquals(await remove(app, `${route}${asQuery({ rank: { $gt: 1 } })}`), OK);
      assertEquals(await ranksOf(model), [0, 1]);
      assertEquals(await remove(app, route), OK);
      assertEquals(await remove(app, route), OK);
    });
  }
});

test("removeAll() removes nothing where more than max-affected are selected", async (t) => {
  for (const hooks of [{}, { max: 4 }]) {
    const model = itemModel(hooks);
    await using app = await mount([model]);
    for (const route of BOTH) {
      await t.step(`${route} ${JSON.stringify(hooks)}`, async () => {
        await seed(model, 3);
        assertEquals(await remove(app, route, "max-affected=2"), [409, 2, undefined]);
        assertEquals(await remove(app, route, "max-affected=0"), [409, 0, undefined]);
        for (const wrong of ["max-affected", "max-affected=all", "max-affected=1e3"]) {
          assertEquals(await remove(app, route, wrong), [400, undefined, undefined]);
        }
        assertEquals(await ranksOf(model), [0, 1, 2]);
        const applied = "max-affected=3";
        assertEquals(await remove(app, route, applied), [204, undefined, applied]);
        assertEquals(await ranksOf(model), []);
        await seed(model, 5);
        const status = "max" in hooks ? 409 : 204;
        assertEquals((await remove(app, route, "max-affected=9"))[0], status);
      });
    }
  }
});

/** An empty identifier in a path of remove() leads to the list, and a wrong `q` selects nothing. */
const WITHOUT = ["", "/", "?", "?q", "?q=", "?q=undefined", "?Q={}", "?id=", "?_id=undefined"];

test("removeAll() that needs q removes nothing without it", async (t) => {
  const model = itemModel({ q: "required" });
  await using app = await mount([model]);
  for (const route of BOTH) {
    await t.step(route, async () => {
      await seed(model, 2);
      for (const query of WITHOUT) {
        const reply = await app.delete<ErrorBody>(`${route}${query}`);
        assertEquals([query, reply.status, reply.body?.code], [query, 400, "BAD_FORMAT"]);
      }
      const { body } = await app.delete<ErrorBody & { parameter: string }>(route);
      assertEquals(body.parameter, "q");
      assertEquals(await ranksOf(model), [0, 1]);
      assertEquals(await remove(app, `${route}${asQuery({})}`), OK);
      assertEquals(await ranksOf(model), []);
    });
  }
});

test("removeAll() counts and tells of nothing that its reader may not see", async (t) => {
  const hiding: [string, HooksOf<Item>, { scope?: () => QueryObject }][] = [
    ["a scope", {}, { scope: () => ({ owner: "me" }) }],
    ["postFetch", { postFetch: (_req, item) => item.owner === "me" ? item : null }, {}],
  ];
  for (const [name, hooks, rests] of hiding) {
    const model = itemModel({ max: 2, ...hooks }, rests);
    await using app = await mount([model]);
    for (const route of BOTH) {
      await t.step(`${name} ${route}`, async () => {
        await seed(model, 9, { owner: "you" });
        assertEquals((await remove(app, route, "max-affected=0"))[0], 204);
        assertEquals((await ranksOf(model)).length, 9);
        await getModel(model).updateMany({ rank: { $in: [3, 7] } }, { $set: { owner: "me" } });
        assertEquals((await remove(app, route, "max-affected=1"))[0], 409);
        assertEquals(await remove(app, route), OK);
        assertEquals((await ranksOf(model)).length, 7);
      });
    }
  }
});

test("removeAll() with max removes only what it has counted, and what is still selected", async () => {
  let meanwhile: (() => Promise<unknown>) | undefined;
  const preSave = async (_req: unknown, item: object) => {
    const other = meanwhile;
    meanwhile = undefined;
    await other?.();
    return item;
  };
  const model = itemModel({ max: 3, preSave });
  await using app = await mount([model]);
  await seed(model, 3);
  meanwhile = async () => {
    await getModel(model).updateOne({ rank: 1 }, { $set: { owner: "you" } });
    await getModel(model).collection.insertOne({ rank: 3, owner: "me" });
  };
  assertEquals(await remove(app, `/items${asQuery({ owner: "me" })}`), OK);
  assertEquals(await ranksOf(model), [1, 3]);
});

test("removeAll() runs no preSave before it knows how many there are", async () => {
  const seen: unknown[] = [];
  const model = itemModel({
    max: 3,
    preSave(_req, item) {
      seen.push(item.rank);
      return item;
    },
  });
  await using app = await mount([model]);
  await seed(model, 4);
  assertEquals(await remove(app, "/items"), [409, 3, undefined]);
  assertEquals(seen, []);
});

test("removeAll() with max obeys the limit of a hook", async () => {
  const preFetch: HooksOf<Item>["preFetch"] = (req) => {
    req.framework.options = { limit: 2, skip: 1, sort: { rank: 1 } };
    return true;
  };
  const model = itemModel({ max: 3, preFetch });
  await using app = await mount([model]);
  for (const route of BOTH) {
    await seed(model, 9);
    assertEquals(await remove(app, route), OK);
    assertEquals(await ranksOf(model), [0, 3, 4, 5, 6, 7, 8]);
  }
});
