import { assertEquals, assertNotMatch } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  rest,
  RestError,
  type Restricted,
  update,
} from "../../../mod.ts";
import type { FrameworkRequest } from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { mountLive, openLive } from "./live.ts";
import { until } from "../../support/until.ts";

/** What a test changes while streams are open. */
const now = {
  tenants: {} as Record<string, string>,
  admins: new Set<string>(),
  allows: true,
  horizon: 0,
};

const userOf = (req: FrameworkRequest) => String(req.headers["x-user"]);

@rest({
  route: "/files",
  scope: (req) => ({ tenant: now.tenants[userOf(req)] ?? "none" }),
  methods: [
    all<File>({
      live: true,
      preFetch: () => {
        if (!now.allows) throw new RestError(402, "Paid readers only");
        return true;
      },
    }),
    one(),
    create(),
    update(),
  ],
})
@rest({
  route: "/planned",
  scope: () => ({ $expr: { $lte: ["$at", { $subtract: [{ $toLong: "$$NOW" }, 1000] }] } }),
  methods: [all<File>({ live: true })],
})
class File extends FrameworkModel {
  @prop()
  tenant?: string;
  @prop()
  name?: string;
  @prop({ type: Number })
  at?: number;
  @prop({ hidden: (req) => !now.admins.has(userOf(req)) })
  price?: Restricted<string>;
}

const limits = { live: { renewMS: 200 } };

const as = (user: string) => ({ "x-user": user });

test("a stream never shows what a scope keeps from its reader", async () => {
  now.tenants = { ann: "A", bob: "B" };
  await using app = await mountLive([File], { limits });
  await using ann = await openLive(`${app.url}/files`, as("ann"));
  await using bob = await openLive(`${app.url}/files`, as("bob"));
  await Promise.all([ann.ready(), bob.ready()]);
  const { collection } = getModel(File);
  const { insertedId: a } = await collection.insertOne({ tenant: "A" });
  const { insertedId: b } = await collection.insertOne({ tenant: "B" });
  await until(() => ann.items.length + bob.items.length === 2);
  await collection.updateOne({ _id: a }, { $set: { tenant: "B", name: "moved" } });
  await until(() => bob.items.length === 2);
  await collection.deleteMany({});
  await until(() => bob.items.length === 0);
  assertEquals(ann.taken(), "ready put drop");
  assertNotMatch(ann.wire, new RegExp(`moved|${b}`));
});

test("a reader whose scope changes gets what he may see now, and loses the rest", async () => {
  now.tenants = { ann: "A" };
  await using app = await mountLive([File], { limits });
  await getModel(File).collection.insertMany([{ tenant: "A" }, { tenant: "B" }, { tenant: "B" }]);
  await using ann = await openLive(`${app.url}/files`, as("ann"));
  await ann.ready();
  ann.taken();
  now.tenants = { ann: "B" };
  await ann.came(3);
  assertEquals(ann.taken(), "drop put put");
  assertEquals(ann.text, (await app.get("/files", { headers: as("ann") })).text);
});

test("a reader who gets a role sees its fields, and loses them with it", async () => {
  now.tenants = { ann: "A", bob: "A" };
  now.admins = new Set(["bob"]);
  await using app = await mountLive([File], { limits });
  await getModel(File).collection.insertOne({ tenant: "A", price: "secret" });
  await using ann = await openLive(`${app.url}/files`, as("ann"));
  await using bob = await openLive(`${app.url}/files`, as("bob"));
  await Promise.all([ann.ready(), bob.ready()]);
  assertEquals([ann, bob].map(({ items: [item] }) => item?.price), [undefined, "secret"]);
  await getModel(File).collection.updateMany({}, { $set: { price: "changed" } });
  await bob.came(3);
  await new Promise((resolve) => setTimeout(resolve, 500));
  assertEquals([ann.taken(), bob.taken()], ["put ready", "put ready put"]);
  assertNotMatch(ann.wire, /secret|changed/);
  now.admins = new Set(["ann"]);
  await Promise.all([ann.came(1), bob.came(1)]);
  assertEquals([ann, bob].map(({ items: [item] }) => item?.price), ["changed", undefined]);
});

test("a reader who may no longer is ended without a word, and told by his next request", async () => {
  now.tenants = { ann: "A" };
  now.allows = true;
  await using app = await mountLive([File], { limits });
  await using ann = await openLive(`${app.url}/files`, as("ann"));
  await ann.ready();
  now.allows = false;
  await until(() => ann.hasEnded);
  assertEquals(ann.taken(), "ready");
  await using next = await openLive(`${app.url}/files`, as("ann"));
  assertEquals(next.answer.status, 402);
  await next.answer.body?.cancel();
  now.allows = true;
});

test("what only time brings into a list comes", async () => {
  await using app = await mountLive([File], { limits });
  await using list = await openLive(`${app.url}/planned`);
  await list.ready();
  await getModel(File).collection.insertOne({ at: mongoose.mongo.Long.fromNumber(Date.now()) });
  await until(() => list.items.length === 1);
});

/** Whether the hooks of a class fail. */
let fails = false;

@rest({
  route: "/shown",
  methods: [all<Shown>({
    live: true,
    preSend: (_req, shown) => {
      if (fails) throw new Error("It broke");
      return shown;
    },
  })],
})
class Shown extends FrameworkModel {}

let readings = 0;

@rest({
  route: "/noted",
  methods: [all<Noted>({
    live: true,
    preFetch: (req) => {
      req.res?.set("X-Reader", userOf(req));
      readings++;
      return true;
    },
    preSend: (req, noted) => {
      req.res?.append("X-Seen", noted.name ?? "").removeHeader("X-Reader");
      return noted;
    },
  })],
})
class Noted extends FrameworkModel {
  @prop()
  name?: string;
}

test("hooks may set headers of a stream that has begun, without effect", async () => {
  const told: unknown[] = [];
  readings = 0;
  await using app = await mountLive([Noted], {
    limits,
    onError: (_req, error) => void told.push(String(error)),
  });
  await using list = await openLive(`${app.url}/noted`, as("ann"));
  await list.ready();
  await getModel(Noted).collection.insertOne({ name: "a" });
  await until(() => list.hasEnded || list.items.length === 1 && readings > 2);
  assertEquals([list.hasEnded, told, list.answer.headers.get("x-reader")], [false, [], "ann"]);
});

test("a hook that fails ends its stream, and is told to onError", async () => {
  const told: unknown[] = [];
  await using app = await mountLive([Shown], {
    onError: (_req, error) => {
      told.push((error as Error).message);
      return new RestError(500, "told");
    },
  });
  await using list = await openLive(`${app.url}/shown`);
  await list.ready();
  fails = true;
  await getModel(Shown).collection.insertOne({ name: "a" });
  await until(() => list.hasEnded);
  assertEquals(told, ["It broke"]);
});
