import { assert, assertEquals } from "@std/assert";
import { FrameworkModel, getModel, prop, removeAll, rest, RestError } from "../mod.ts";
import type { ModelClass } from "../mod.ts";
import { request } from "./harness/request.ts";
import { test } from "./harness/testing.ts";
import { asQuery, type ErrorBody, mount } from "./support.ts";

@rest({ route: "/tasks", methods: [removeAll()] })
class Task extends FrameworkModel {
  @prop({ type: Number, required: true })
  rank!: number;
  @prop({ hidden: true })
  secret?: string;
}

function erase(url: string) {
  return request<ErrorBody>(url, { method: "DELETE" });
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
  await using app = await mount([Task]);
  await seed(Task, 3);
  const reply = await erase(`${app.url}/tasks`);
  assertEquals([reply.status, reply.text], [204, ""]);
  assertEquals(await ranksOf(Task), []);
  assertEquals((await erase(`${app.url}/tasks`)).status, 204);
});

test("removeAll() removes only what q selects", async () => {
  await using app = await mount([Task]);
  await seed(Task, 5);
  const reply = await erase(`${app.url}/tasks${asQuery({ rank: { $gte: 2 } })}`);
  assertEquals(reply.status, 204);
  assertEquals(await ranksOf(Task), [0, 1]);
});

test("removeAll() refuses with 400 a q that is there but bad, and removes nothing", async () => {
  await using app = await mount([Task]);
  await seed(Task, 2);
  const bad = ["?q=", "?q", "?q=x", "?q=null", "?q=[]", "?q=1", "?q={}&q={}", "?q[rank]=1"]
    .concat("?q%5Brank%5D=1", "?q[]={}", asQuery({ $where: "1" }), asQuery({ secret: "s" }))
    .concat(asQuery({ unknown: 1 }), asQuery({ rank: "x" }), "?a=1&q={", "?q=%7B%22rank");
  for (const query of bad) {
    const reply = await erase(`${app.url}/tasks${query}`);
    assertEquals([query, reply.status, reply.body?.code], [query, 400, "BAD_FORMAT"]);
  }
  assertEquals(await ranksOf(Task), [0, 1]);
});

test("removeAll() removes only what the filter of preFetch matches, together with q", async () => {
  @rest({
    route: "/own",
    methods: [removeAll({
      preFetch: (req) => {
        req.framework.filter = { $and: [req.framework.filter, { owner: "me" }] };
        return true;
      },
    })],
  })
  class Own extends FrameworkModel {
    @prop({ type: Number })
    rank?: number;
    @prop()
    owner?: string;
  }
  await using app = await mount([Own]);
  await getModel(Own).insertMany([
    { rank: 0, owner: "me" },
    { rank: 1, owner: "me" },
    { rank: 2, owner: "you" },
  ]);
  await erase(`${app.url}/own${asQuery({ rank: { $gt: 0 } })}`);
  assertEquals(await ranksOf(Own), [0, 2]);
  await erase(`${app.url}/own`);
  assertEquals(await ranksOf(Own), [2]);
});

test("removeAll() removes nothing when preFetch says no, or its filter holds undefined", async () => {
  const answers: [unknown, object][] = [[false, {}], [undefined, {}], [true, { rank: undefined }]];
  for (const [answer, filter] of answers) {
    @rest({
      route: "/guarded",
      methods: [removeAll({
        preFetch: (req) => {
          req.framework.filter = filter as Record<string, unknown>;
          return answer as boolean;
        },
      })],
    })
    class Guarded extends FrameworkModel {
      @prop({ type: Number })
      rank?: number;
    }
    await using app = await mount([Guarded], { onError: () => new RestError(500, "Seen") });
    await seed(Guarded, 2);
    assertEquals((await erase(`${app.url}/guarded`)).status, answer === true ? 500 : 403);
    assertEquals(await ranksOf(Guarded), [0, 1]);
  }
});

test("removeAll() obeys skip, limit and sort of a hook", async () => {
  @rest({
    route: "/oldest",
    methods: [removeAll({
      preFetch: (req) => {
        req.framework.options = { skip: 1, limit: 2, sort: { rank: -1 } };
        return true;
      },
    })],
  })
  class Oldest extends FrameworkModel {
    @prop({ type: Number })
    rank?: number;
  }
  await using app = await mount([Oldest]);
  await seed(Oldest, 5);
  assertEquals((await erase(`${app.url}/oldest`)).status, 204);
  assertEquals(await ranksOf(Oldest), [0, 1, 4]);
});

test("removeAll() keeps what postFetch rejects, and removes the others, a thousand and more", async () => {
  @rest({
    route: "/some",
    methods: [removeAll<Some>({ postFetch: (_req, some) => Number(some.rank) < 2 ? null : some })],
  })
  class Some extends FrameworkModel {
    @prop({ type: Number })
    rank?: number;
  }
  await using app = await mount([Some]);
  await seed(Some, 2503);
  assertEquals((await erase(`${app.url}/some`)).status, 204);
  assertEquals(await ranksOf(Some), [0, 1]);
});

test("removeAll() removes nothing when preSave refuses one of many", async () => {
  const seen: boolean[] = [];
  @rest({
    route: "/held",
    methods: [removeAll<Held>({
      preSave: (_req, held, previous) => {
        seen.push(held === previous);
        return held.rank === 99 ? null : held;
      },
    })],
  })
  class Held extends FrameworkModel {
    @prop({ type: Number })
    rank?: number;
  }
  await using app = await mount([Held]);
  await seed(Held, 100);
  const reply = await erase(`${app.url}/held`);
  assertEquals([reply.status, reply.body.code], [403, "FORBIDDEN"]);
  assertEquals((await ranksOf(Held)).length, 100);
  assertEquals([seen.length, seen.every(Boolean)], [100, true]);
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
  assertEquals((await erase(`${app.url}/whole`)).status, 204);
  assertEquals([seen, await ranksOf(Whole)], [[1, 2, "function"], []]);
});

test("removeAll() removes what a fetch hook gives", async () => {
  @rest({
    route: "/fetched",
    methods: [removeAll({ fetch: () => getModel(Fetched).find({ rank: { $lt: 2 } }) })],
  })
  class Fetched extends FrameworkModel {
    @prop({ type: Number })
    rank?: number;
  }
  await using app = await mount([Fetched]);
  await seed(Fetched, 4);
  assertEquals((await erase(`${app.url}/fetched`)).status, 204);
  assertEquals(await ranksOf(Fetched), [2, 3]);
});

test("removeAll() leaves every write to a persist hook, after all hooks have said yes", async () => {
  const calls: string[] = [];
  @rest({
    route: "/binned",
    methods: [removeAll<Binned>({
      preSave: (_req, binned) => {
        calls.push("preSave");
        return binned;
      },
      persist: async (_req, binned) => {
        calls.push("persist");
        await getModel(Binned).updateOne({ _id: binned._id }, { rank: -1 });
        return binned;
      },
    })],
  })
  class Binned extends FrameworkModel {
    @prop({ type: Number })
    rank?: number;
  }
  await using app = await mount([Binned]);
  await seed(Binned, 3);
  assertEquals((await erase(`${app.url}/binned`)).status, 204);
  assertEquals(await ranksOf(Binned), [-1, -1, -1]);
  assertEquals(calls.join(), "preSave,preSave,preSave,persist,persist,persist");
});

test("removeAll() gives concurrent persist hooks the time of one, not of all together", async () => {
  @rest({
    route: "/slow",
    methods: [removeAll<Slow>({
      persist: async (_req, slow) => {
        await new Promise((resolve) => setTimeout(resolve, 300));
        await getModel(Slow).deleteOne({ _id: slow._id });
        return slow;
      },
    })],
  })
  class Slow extends FrameworkModel {
    @prop({ type: Number })
    rank?: number;
  }
  await using app = await mount([Slow], { maxTimeMS: 2000 });
  await seed(Slow, 40);
  const reply = await erase(`${app.url}/slow`);
  assertEquals(reply.status, 204);
  assert((await ranksOf(Slow)).length === 0);
});
