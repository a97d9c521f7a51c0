import { assert, assertEquals, assertRejects } from "@std/assert";
import { ApiError, connect, type HistoryRecord, type Resource } from "@mongrove/mongrove/client";
import {
  all,
  create,
  FrameworkModel,
  getModel,
  type Hidden,
  one,
  prop,
  remove,
  removeAll,
  rest,
  update,
} from "../../mod.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";
import { expect, type Same } from "../support/same_type.ts";
import { heldFetch } from "./held/held_fetch.ts";

@rest({
  route: "/leaves",
  methods: [
    all({ sort: ["name"], page: { size: 2, max: 5 } }),
    one(),
    create(),
    update(),
    remove(),
    removeAll(),
  ],
  trash: { keep: "30d", see: (req) => req.headers["x-user"] !== "guest" },
  history: true,
})
class Leaf extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ type: Number })
  size?: number;
  @prop({ type: Date })
  found?: Date;
  @prop({ hidden: true })
  pin?: Hidden<string>;
  get label(): string {
    return this.name;
  }
}

const actorNames = () => Promise.resolve(new Map([["ann", "Ann Lee"]]));

/** Serves leaves on a replica set. What the client sends and gets is held against the OpenAPI document. */
async function openLeaves() {
  const mongo = await sharedReplicaSet();
  const sent: string[] = [];
  const held = await heldFetch([Leaf], async (url, init) => {
    sent.push(`${init.method} ${new URL(url).pathname}${new URL(url).search}`);
    return await fetch(url, init);
  });
  const app = await mount([Leaf], { mongo, at: "/api", actor: () => "ann", actorNames });
  await getModel(Leaf).init();
  const api = connect(`${app.url}/api`, { fetch: held.fetch });
  const leaves = api.resource<Leaf>("/leaves");
  return {
    leaves,
    sent,
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      held.check();
    },
  };
}

async function statusOf(call: Promise<unknown>): Promise<number> {
  return (await assertRejects(() => call, ApiError)).status;
}

test("history() gives the records of an entity, in pages", async () => {
  await using app = await openLeaves();
  const { leaves } = app;
  const { _id } = await leaves.create({ name: "a", size: 1 });
  await leaves.update(_id, { name: "b" });
  await leaves.update(_id, { size: null, name: "c" });
  const records = await leaves.history(_id);
  assertEquals(records.map(({ version, operation, actor }) => [version, operation, actor]), [
    [2, "update", "ann"],
    [1, "update", "ann"],
    [0, "create", "ann"],
  ]);
  assertEquals(records.map(({ before }) => before), [{ name: "b", size: 1 }, { name: "a" }, {}]);
  assertEquals(records[0]?.changed.toSorted(), ["name", "size"]);
  assert(Date.parse(records[0]?.at ?? "") > 0);
  const first = await leaves.history(_id, { limit: 2 });
  assertEquals(first, records.slice(0, 2));
  assertEquals(await leaves.history(_id, { limit: 2, after: 1 }), records.slice(2));
  assertEquals(await leaves.history(_id, { after: 0 }), []);
  assertEquals(await statusOf(leaves.history(_id, { limit: 101 })), 400);
  const named = await leaves.history(_id, { names: true });
  assertEquals(named.map(({ actorName }) => actorName), ["Ann Lee", "Ann Lee", "Ann Lee"]);
  assertEquals(app.sent.at(-4), `GET /api/leaves/${_id}/history?limit=2&after=1`);
});

test("revert() answers like update(), and takes ifMatch and revive", async () => {
  await using app = await openLeaves();
  const { leaves } = app;
  const made = await leaves.create({ name: "a", found: new Date(0) });
  const { _id } = made;
  const changed = await leaves.update(_id, { name: "b", found: null });
  assertEquals(await statusOf(leaves.revert(_id, 0, { ifMatch: made })), 412);
  const reverted = await leaves.revert(_id, 0, { ifMatch: changed, revive: ["found"] });
  assertEquals([reverted.name, reverted.found, reverted.__v], ["a", new Date(0), 2]);
  // The answer has an `ETag`, so it names a version for the next write.
  assertEquals((await leaves.update(_id, { name: "c" }, { ifMatch: reverted })).name, "c");
  assertEquals(await statusOf(leaves.revert(_id, 9)), 404);
});

test("the trash is read, restored and emptied", async () => {
  await using app = await openLeaves();
  const { leaves } = app;
  const [a, b, c] = [
    await leaves.create({ name: "a" }),
    await leaves.create({ name: "b" }),
    await leaves.create({ name: "c" }),
  ];
  await leaves.removeAll({ q: {} });
  assertEquals((await leaves.all()).items, []);
  const only = { trash: "only" } as const;
  const names = Array.fromAsync(leaves.each({ ...only, sort: ["-name"] }), ({ name }) => name);
  assertEquals(await names, ["c", "b", "a"]);
  assertEquals((await leaves.all({ ...only, limit: 1 })).items.length, 1);
  assertEquals((await leaves.one(a._id, only)).name, "a");
  const [latest] = await leaves.history(a._id, only);
  assertEquals([latest?.operation, latest?.version], ["removeAll", 1]);
  assertEquals(await statusOf(leaves.history(a._id)), 404);
  const restored = await leaves.restore(a._id);
  assertEquals([restored.name, restored.__v], ["a", 2]);
  assertEquals(await leaves.one(a._id), restored);
  assertEquals(await statusOf(leaves.restore(a._id)), 404);
  assertEquals(await leaves.remove(b._id, only), undefined);
  assertEquals(await statusOf(leaves.one(b._id, only)), 404);
  await leaves.removeAll({ q: { name: "c" }, ...only });
  assertEquals(await statusOf(leaves.one(c._id, only)), 404);
  assertEquals((await leaves.one(a._id)).name, "a");
  assertEquals(app.sent.at(-3), `DELETE /api/leaves?q=%7B%22name%22%3A%22c%22%7D&trash=only`);
});

test("restore() takes ifMatch, and nobody else restores", async () => {
  await using app = await openLeaves();
  const { leaves } = app;
  const made = await leaves.create({ name: "a" });
  await leaves.remove(made._id);
  assertEquals(await statusOf(leaves.restore(made._id, { ifMatch: made })), 412);
  const headers = { "x-user": "guest" };
  assertEquals(await statusOf(leaves.restore(made._id, { headers })), 404);
  assertEquals(await statusOf(leaves.all({ trash: "only", headers })), 400);
  const trashed = await leaves.one(made._id, { trash: "only" });
  assertEquals((await leaves.restore(made._id, { ifMatch: trashed })).name, "a");
});

test("a wrong identifier is refused before anything is sent", async () => {
  await using app = await openLeaves();
  const { leaves } = app;
  for (const id of ["", ".", undefined as never]) {
    const calls = [
      () => leaves.history(id),
      () => leaves.revert(id, 0),
      () => leaves.restore(id),
    ];
    for (const call of calls) await assertRejects(call, TypeError, "is no identifier");
  }
  assertEquals(app.sent, []);
});

/** What the compiler must accept and refuse. The function is never called. */
export async function types(leaves: Resource<Leaf>): Promise<void> {
  const [record] = await leaves.history("id", { limit: 1, after: 2, trash: "only" });
  expect<Same<typeof record, HistoryRecord<Leaf> | undefined>>();
  const name: string | undefined = record?.before.name;
  const found: string | undefined = record?.before.found;
  const dated = await leaves.revert("id", 1, { revive: ["found"], ifMatch: "*" });
  expect<Same<typeof dated.found, Date | undefined>>();
  const restored = await leaves.restore("id");
  expect<Same<typeof restored.found, string | undefined>>();
  // @ts-expect-error a hidden field is in no record
  record?.before.pin;
  // @ts-expect-error a getter is in no record
  record?.before.label;
  // @ts-expect-error a version is a number
  await leaves.revert("id", "1");
  // @ts-expect-error the version is missing
  await leaves.revert("id");
  // @ts-expect-error `after` is a version
  await leaves.history("id", { after: "a" });
  // @ts-expect-error records are in one order
  await leaves.history("id", { sort: ["-version"] });
  // @ts-expect-error "only" is the only word
  await leaves.all({ trash: "all" });
  // @ts-expect-error an update does not reach the trash
  await leaves.update("id", { name: "a" }, { trash: "only" });
  // @ts-expect-error changes of many do not reach the trash
  await leaves.updateAll({ name: "a" }, { q: {}, trash: "only" });
  // @ts-expect-error a restore names no filter
  await leaves.restore("id", { q: {} });
  // @ts-expect-error the filter is missing
  await leaves.removeAll({ trash: "only" });
  console.assert(name !== found);
}
