import { setTimeout as wait } from "node:timers/promises";
import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
// @ts-types="express-types"
import express from "express";
import {
  all,
  and,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  one,
  prop,
  type Ref,
  removeAll,
  rest,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { asQuery, mount, start } from "../support/support.ts";

/** What other code sees of a request while a foreign scope waits. */
const noted: unknown[] = [];

/** Sees its own level before and after it waits, and leaves a note on the request. */
async function waitingScope(req: FrameworkRequest) {
  const { operation } = req.framework;
  const { user } = req as unknown as { user?: string };
  await wait(20);
  noted.push([
    "scope",
    operation,
    req.framework.operation,
    user ?? null,
    req.get("x-user") ?? null,
  ]);
  Object.assign(req, { isScoped: true });
  return {};
}

/** What hooks that nobody waits for have seen. */
const pending: Promise<string[]>[] = [];

/** Notes what `req.framework` is while others may wait, without being waited for. */
function watch(req: FrameworkRequest): true {
  Object.assign(req, { user: "ada" });
  const seen = (async () => {
    const operations = new Set<string>();
    for (let time = 0; time < 10; time++) {
      operations.add(req.framework.operation);
      await wait(4);
    }
    return [...operations];
  })();
  pending.push(seen);
  return true;
}

/** What hooks have seen since the last look. */
async function seenBy() {
  const operations = await Promise.all(pending.splice(0));
  return { operations, noted: noted.splice(0) };
}

@rest({
  route: "/rules",
  methods: [one()],
  scope: waitingScope,
  getConnection: async (req) => {
    await wait(5);
    noted.push(["connection", req.framework.operation]);
    return mongoose.connection;
  },
})
class Rule extends FrameworkModel {
  @prop()
  name?: string;
}

async function callsSelect(req: FrameworkRequest, entry: Entry): Promise<Entry> {
  // Each entity comes at a time of its own.
  await wait(entry.rank % 7);
  await Framework.queryFor(req, Rule);
  return entry;
}

/** Protects entries from `removeAll()`. */
async function guard(req: FrameworkRequest, entry: Entry): Promise<Entry | null> {
  await wait(1);
  return req.framework.operation === "removeAll" && entry.isProtected ? null : entry;
}

@rest({
  route: "/entries",
  methods: [all(), removeAll({ postFetch: and(callsSelect, guard) })],
})
class Entry extends FrameworkModel {
  @prop({ type: Number, required: true })
  rank!: number;
  @prop({ type: Boolean, default: false })
  isProtected!: boolean;
}

@rest({
  route: "/tasks",
  methods: [
    all({ populate: { rule: { always: true } }, preFetch: watch }),
    create({ preFetch: watch }),
  ],
})
class Task extends FrameworkModel {
  @prop({ ref: Rule, exists: true })
  rule?: Ref<Rule>;
}

class Item extends FrameworkModel {
  @prop({ required: true })
  owner!: string;
}

@rest({
  route: "/boxes",
  methods: [one({ postFetch: (_req, box) => wait(5).then(() => box) })],
  scope: () => wait(5).then(() => ({})),
})
class Box extends FrameworkModel {
  @rest({
    methods: [all({
      preFetch: async (req) => {
        const counting = req.framework.count();
        for (let time = 0; time < 10; time++) {
          // The hook works on its own level all the time.
          req.framework.filter.owner = "ada";
          await wait(2);
        }
        await counting;
        return true;
      },
    })],
  })
  @arrayProp({ items: Item, embedded: true })
  items?: Item[];
}

test("Framework.queryFor() in the hook of one entity leaves the hooks of others their req.framework", async () => {
  await using api = await mount([Rule, Entry]);
  await api.database.connection.collection("entries").insertMany(
    Array.from({ length: 120 }, (_, rank) => ({ rank, isProtected: rank % 2 === 0 })),
  );
  assertEquals((await api.delete("/entries")).status, 204);
  const left = await api.read<Entry[]>("/entries");
  assertEquals(left.map(({ rank }) => rank), Array.from({ length: 60 }, (_, half) => half * 2));
});

test("Framework.queryFor() gives foreign functions a request of their own, which sets what all see", async () => {
  await using _api = await mount([Rule]);
  const app = express();
  const own: unknown[] = [];
  app.post("/", async (req, res) => {
    Object.assign(req, { user: "ada", framework: { operation: "mine" } });
    const selecting = Framework.queryFor(req, Rule);
    own.push(Reflect.get(req, "framework"));
    const { filter } = await selecting;
    own.push(Reflect.get(req, "framework"), Reflect.get(req, "isScoped"));
    res.json(filter);
  });
  await using served = await start(app);
  noted.length = 0;
  await served.post(`/${asQuery({ name: "x" })}`, {}, { headers: { "x-user": "bob" } });
  const mine = { operation: "mine" };
  assertEquals(own, [mine, mine, true]);
  assertEquals((await seenBy()).noted, [
    ["scope", "all", "all", "ada", "bob"],
    ["connection", "all"],
  ]);
});

test("a foreign scope may read the body of a request", async () => {
  const read: string[] = [];
  @rest({
    route: "/read",
    methods: [all()],
    scope: async (req) => {
      for await (const chunk of req) read.push(String(chunk));
      return {};
    },
  })
  class Read extends FrameworkModel {}
  await using _api = await mount([Read]);
  const app = express();
  app.post("/", async (req, res) => res.json((await Framework.queryFor(req, Read)).filter));
  await using served = await start(app);
  const { status, body } = await served.post("/", { a: 1 });
  assertEquals([status, body, read.join("")], [200, {}, '{"a":1}']);
});

test("the scope of a referenced class leaves hooks that still run their req.framework", async () => {
  await using api = await mount([Rule, Task]);
  const _id = new mongoose.Types.ObjectId();
  await api.database.connection.collection("rules").insertOne({ _id, name: "a" });
  await seenBy();
  await api.created("/tasks", { rule: String(_id) });
  const scope = ["scope", "one", "one", "ada", null];
  assertEquals(await seenBy(), { operations: [["create"]], noted: [scope] });
  const [task] = await api.read<{ rule: { name: string } }[]>("/tasks");
  assertEquals(task?.rule.name, "a");
  assertEquals(await seenBy(), { operations: [["all"]], noted: [scope] });
});

test("req.framework.count() leaves the hook that calls it its own req.framework", async () => {
  await using api = await mount([Box]);
  const _id = new mongoose.Types.ObjectId();
  const items = ["ada", "bob"].map((owner) => ({ _id: new mongoose.Types.ObjectId(), owner }));
  await api.database.connection.collection("boxes").insertOne({ _id, items });
  const shown = await api.read<Item[]>(`/boxes/${_id}/items`);
  assertEquals(shown.map(({ owner }) => owner), ["ada"]);
});
