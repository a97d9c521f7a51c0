import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  create,
  Framework,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  remove,
  rest,
  update,
  updateAll,
} from "../../mod.ts";
import { follow } from "../../src/changes/mod.ts";
import { openLive } from "../features/live/live.ts";
import { test } from "../harness/testing.ts";
import { watchCommands } from "../support/both_paths.ts";
import { openRouterProxy, type RouterProxy } from "../support/router_proxy.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { mount, type Mounted } from "../support/support.ts";
import { until } from "../support/until.ts";

@rest({ route: "/people", methods: [create(), update(), remove()] })
class Person extends FrameworkModel {
  @prop({ required: true })
  name!: string;
}

@rest({
  route: "/letters",
  methods: [
    all({ live: true }),
    one(),
    create({ many: 10, idempotency: { keep: "1h" } }),
    update(),
    updateAll({ fields: ["state"] }),
    remove(),
  ],
  history: true,
})
class Letter extends FrameworkModel {
  @prop({ required: true })
  title!: string;
  @prop()
  state?: string;
  @prop({ ref: () => Person, onDelete: "unset" })
  to?: Ref<Person>;
}

/** Serves the models through a proxy that looks like the router of a sharded cluster. */
async function serve(): Promise<Mounted & { readonly router: RouterProxy }> {
  const router = openRouterProxy(await sharedReplicaSet());
  const app = await mount([Letter, Person], { mongo: router.uri });
  await getModel(Letter).init();
  return {
    ...app,
    router,
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      router[Symbol.dispose]();
    },
  };
}

interface Topology {
  readonly topology?: { readonly description: { readonly type: string } };
}

/** Checks that the driver has sent the recovery token of the router with each commit, and forgets the commits. */
function assertCommitted({ commitTokens }: RouterProxy): void {
  const tokens = (commitTokens as unknown[]).splice(0);
  assertEquals(tokens.length > 0, true, "no transaction was committed");
  for (const token of tokens) assertEquals(token, { recoveredShard: "shard0" });
}

test("transactions and health work through the router of a sharded cluster", async () => {
  await using app = await serve();
  const { topology } = mongoose.connection.getClient() as Topology;
  assertEquals(topology?.description.type, "Sharded");
  assertEquals((await Framework.health()).ready, true);
  const person = await app.created("/people", { name: "Ann" });
  const headers = { "idempotency-key": "k" };
  const letter = await app.created("/letters", { title: "a", to: person._id }, { headers });
  assertCommitted(app.router);
  const again = await app.created("/letters", { title: "a", to: person._id }, { headers });
  assertEquals(again._id, letter._id);
  assertEquals((await app.post("/letters", [{ title: "b" }, { title: "c" }])).status, 201);
  assertEquals((await app.updated(`/letters/${letter._id}`, { title: "d" })).title, "d");
  assertEquals((await app.patch("/letters?q={}", { state: "sent" })).status, 200);
  assertCommitted(app.router);
  assertEquals((await app.delete(`/people/${person._id}`)).status, 204);
  assertCommitted(app.router);
  const history = await app.read<{ operation: string }[]>(`/letters/${letter._id}/history`);
  assertEquals(history.map(({ operation }) => operation), [
    "unset",
    "updateAll",
    "update",
    "create",
  ]);
});

test("live lists and followers read the change streams of a router", async () => {
  await using app = await serve();
  await using list = await openLive(`${app.url}/letters`);
  await list.ready();
  const titles: unknown[] = [];
  const follower = follow(Letter, {
    name: "router",
    handle: async (change) => void titles.push((await change.values())?.title),
    leaseMS: 2000,
  });
  await until(async () => await follower.lag() !== undefined, { seconds: 20 });
  await app.created("/letters", { title: "live" });
  await until(() => list.items.length === 1 && titles.length === 1, { seconds: 20 });
  assertEquals([list.items[0]?.title, titles], ["live", ["live"]]);
  await follower.stop();
});

test("a write through a router has the time for the copies of its shard", async () => {
  await using app = await serve();
  const { _id } = await app.created("/people", { name: "Ann" });
  const sent = await watchCommands(app.database.uri);
  await app.updated(`/people/${_id}`, { name: "Bob" });
  const limits = sent.filter(({ name }) => name === "findAndModify")
    .map(({ command: { maxTimeMS } }) => Number(maxTimeMS));
  assertEquals(limits.length > 0 && limits.every((limit) => limit > 1000), true, `${limits}`);
});
