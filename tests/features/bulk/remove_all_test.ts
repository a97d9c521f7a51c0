import { assertEquals } from "@std/assert";
import { FrameworkModel, getModel, prop, removeAll, rest, RestError } from "../../../mod.ts";
import type { HooksOf, ModelClass, QueryObject } from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { hooked, type Item } from "../../support/hooked.ts";
import { asQuery, type ErrorBody, mount } from "../../support/support.ts";

/** Makes a model on `/items` whose removeAll() has hooks. */
function removing(hooks: HooksOf<Item> = {}): ModelClass<Item> {
  return hooked({ removeAll: hooks });
}

/** Stores entities with the ranks 0 to `count` - 1. */
async function seed(target: ModelClass, count: number): Promise<void> {
  await getModel(target).insertMany(Array.from({ length: count }, (_, rank) => ({ rank })));
}

async function ranksOf(target: ModelClass): Promise<unknown[]> {
  const entities = await getModel(target).find().sort({ rank: 1 });
  return entities.map((entity) => entity.get("rank"));
}

test("removeAll() answers 204 with nothing, and removes all", async () => {
  const model = removing();
  await using app = await mount([model]);
  await seed(model, 3);
  const reply = await app.delete("/items");
  assertEquals([reply.status, reply.text], [204, ""]);
  assertEquals(await ranksOf(model), []);
  assertEquals((await app.delete("/items")).status, 204);
});

test("removeAll() removes only what q selects", async () => {
  const model = removing();
  await using app = await mount([model]);
  await seed(model, 5);
  assertEquals((await app.delete(`/items${asQuery({ rank: { $gte: 2 } })}`)).status, 204);
  assertEquals(await ranksOf(model), [0, 1]);
});

test("removeAll() refuses with 400 a q that is there but bad, and removes nothing", async () => {
  const model = removing();
  await using app = await mount([model]);
  await seed(model, 2);
  const bad = ["?q=", "?q", "?q=x", "?q=null", "?q=[]", "?q=1", "?q={}&q={}", "?q[rank]=1"]
    .concat("?q%5Brank%5D=1", "?q[]={}", asQuery({ $where: "1" }), asQuery({ secret: "s" }))
    .concat(asQuery({ unknown: 1 }), asQuery({ rank: "x" }), "?a=1&q={", "?q=%7B%22rank");
  for (const query of bad) {
    const reply = await app.delete<ErrorBody>(`/items${query}`);
    assertEquals([query, reply.status, reply.body?.code], [query, 400, "BAD_FORMAT"]);
  }
  assertEquals(await ranksOf(model), [0, 1]);
});

test("removeAll() removes only what the filter of preFetch matches, together with q", async () => {
  const model = removing({
    preFetch: (req) => {
      req.framework.filter = { $and: [req.framework.filter, { owner: "me" }] };
      return true;
    },
  });
  await using app = await mount([model]);
  await getModel(model).insertMany([
    { rank: 0, owner: "me" },
    { rank: 1, owner: "me" },
    { rank: 2, owner: "you" },
  ]);
  await app.delete(`/items${asQuery({ rank: { $gt: 0 } })}`);
  assertEquals(await ranksOf(model), [0, 2]);
  await app.delete("/items");
  assertEquals(await ranksOf(model), [2]);
});

test("removeAll() removes nothing when preFetch says no, or its filter holds undefined", async () => {
  const answers: [unknown, QueryObject][] = [
    [false, {}],
    [undefined, {}],
    [true, { rank: undefined }],
  ];
  for (const [answer, filter] of answers) {
    const model = removing({
      preFetch: (req) => {
        req.framework.filter = filter;
        return answer as boolean;
      },
    });
    await using app = await mount([model], { onError: () => new RestError(500, "Seen") });
    await seed(model, 2);
    assertEquals((await app.delete("/items")).status, answer === true ? 500 : 403);
    assertEquals(await ranksOf(model), [0, 1]);
  }
});

test("removeAll() obeys skip, limit and sort of a hook", async () => {
  const model = removing({
    preFetch: (req) => {
      req.framework.options = { skip: 1, limit: 2, sort: { rank: -1 } };
      return true;
    },
  });
  await using app = await mount([model]);
  await seed(model, 5);
  assertEquals((await app.delete("/items")).status, 204);
  assertEquals(await ranksOf(model), [0, 1, 4]);
});

test("removeAll() keeps what postFetch rejects, and removes the others, a thousand and more", async () => {
  const model = removing({ postFetch: (_req, item) => Number(item.rank) < 2 ? null : item });
  await using app = await mount([model]);
  await seed(model, 2503);
  assertEquals((await app.delete("/items")).status, 204);
  assertEquals(await ranksOf(model), [0, 1]);
});

test("removeAll() shows preSave whole documents, whatever projection and lean a hook sets", async () => {
  const seen: unknown[] = [];
  @rest({
    route: "/whole",
    methods: [removeAll<Whole>({
      preFetch: (req) => {
        req.framework.projection = { _id: 1 };
        req.framework.options = { lean: true };
        return true;
      },
      preSave: (_req, whole) => {
        seen.push(whole.rank, whole.lazy, typeof whole.save);
        return whole;
      },
    })],
  })
  class Whole extends FrameworkModel {
    @prop({ type: Number })
    rank?: number;
    @prop({ type: Number, select: false })
    lazy?: number;
  }
  await using app = await mount([Whole]);
  await getModel(Whole).create({ rank: 1, lazy: 2 });
  assertEquals((await app.delete("/whole")).status, 204);
  assertEquals([seen, await ranksOf(Whole)], [[1, 2, "function"], []]);
});

test("removeAll() removes what a fetch hook gives", async () => {
  const model: ModelClass<Item> = removing({
    fetch: () => getModel(model).find({ rank: { $lt: 2 } }),
  });
  await using app = await mount([model]);
  await seed(model, 4);
  assertEquals((await app.delete("/items")).status, 204);
  assertEquals(await ranksOf(model), [2, 3]);
});

test("removeAll() leaves every write to a persist hook, after all hooks have said yes", async () => {
  const calls: string[] = [];
  const model: ModelClass<Item> = removing({
    preSave: (_req, binned) => {
      calls.push("preSave");
      return binned;
    },
    persist: async (_req, binned) => {
      calls.push("persist");
      await getModel(model).updateOne({ _id: binned._id }, { rank: -1 });
      return binned;
    },
  });
  await using app = await mount([model]);
  await seed(model, 3);
  assertEquals((await app.delete("/items")).status, 204);
  assertEquals(await ranksOf(model), [-1, -1, -1]);
  assertEquals(calls.join(), "preSave,preSave,preSave,persist,persist,persist");
});

test("removeAll() gives concurrent persist hooks the time of one, not of all together", async () => {
  const model: ModelClass<Item> = removing({
    persist: async (_req, slow) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      await getModel(model).deleteOne({ _id: slow._id });
      return slow;
    },
  });
  await using app = await mount([model], { limits: { timeMS: 8000 } });
  await seed(model, 40);
  assertEquals((await app.delete("/items")).status, 204);
  assertEquals(await ranksOf(model), []);
});
