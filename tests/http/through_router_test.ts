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

/** Serves the models through proxies that look like the routers of a sharded cluster. */
async function serve(count = 1): Promise<Mounted & { readonly routers: readonly RouterProxy[] }> {
  const to = await sharedReplicaSet();
  const routers = Array.from({ length: count }, () => openRouterProxy(to));
  const hosts = routers.map(({ uri }) => new URL(uri).host);
  // The driver would leave out a router that is slower than another one.
  const mongo = `mongodb://${hosts.join()}/?localThresholdMS=60000`;
  const app = await mount([Letter, Person], { mongo });
  await getModel(Letter).init();
  return {
    ...app,
    routers,
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      for (const router of routers) router[Symbol.dispose]();
    },
  };
}

interface Topology {
  readonly topology?: { readonly description: { readonly type: string } };
}

/**
 * Checks that the driver has sent the recovery token of the router with each commit, and all statements of a transaction
 * to one router. Returns the number of transactions of each router, and forgets them.
 */
function assertCommitted(routers: readonly RouterProxy[]): number[] {
  const ofRouters = routers.map(({ transactions }) => transactions.splice(0));
  const commits = ofRouters.flat().filter(({ name }) => name === "commitTransaction");
  assertEquals(commits.length > 0, true, "no transaction was committed");
  for (const { recoveryToken } of commits) {
    assertEquals(recoveryToken, { recoveredShard: "shard0" });
  }
  const known = ofRouters.map((each) => new Set(each.map(({ transaction }) => transaction)));
  assertEquals(
    new Set(known.flatMap((each) => [...each])).size,
    sum(known.map(({ size }) => size)),
  );
  return known.map(({ size }) => size);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}

test("transactions and health work through the router of a sharded cluster", async () => {
  await using app = await serve();
  const { topology } = mongoose.connection.getClient() as Topology;
  assertEquals(topology?.description.type, "Sharded");
  assertEquals((await Framework.health()).reasons, []);
  const person = await app.created("/people", { name: "Ann" });
  const headers = { "idempotency-key": "k" };
  const letter = await app.created("/letters", { title: "a", to: person._id }, { headers });
  assertCommitted(app.routers);
  const again = await app.created("/letters", { title: "a", to: person._id }, { headers });
  assertEquals(again._id, letter._id);
  assertEquals((await app.post("/letters", [{ title: "b" }, { title: "c" }])).status, 201);
  assertEquals((await app.updated(`/letters/${letter._id}`, { title: "d" })).title, "d");
  assertEquals((await app.patch("/letters?q={}", { state: "sent" })).status, 200);
  assertCommitted(app.routers);
  assertEquals((await app.delete(`/people/${person._id}`)).status, 204);
  assertCommitted(app.routers);
  const history = await app.read<{ operation: string }[]>(`/letters/${letter._id}/history`);
  assertEquals(history.map(({ operation }) => operation), [
    "unset",
    "updateAll",
    "update",
    "create",
  ]);
});

const BATCH_OF = (title: string) => [{ title }, { title }];

test("all statements of a transaction go to one of several routers", async () => {
  await using app = await serve(2);
  for (let each = 0; each < 12; each++) {
    assertEquals((await app.post("/letters", BATCH_OF(`${each}`))).status, 201);
  }
  const counts = assertCommitted(app.routers);
  assertEquals(counts.length === 2 && counts.every((count) => count > 0), true, `${counts}`);
});

test("a commit that is cut is repeated with the recovery token, also by another router", async () => {
  await using app = await serve(2);
  await app.created("/letters", { title: "a" });
  assertCommitted(app.routers);
  for (const each of app.routers) each.cutNextCommit();
  assertEquals((await app.post("/letters", BATCH_OF("b"))).status, 201);
  const commits = app.routers.flatMap(({ transactions }) => transactions)
    .filter(({ name }) => name === "commitTransaction");
  assertEquals(commits.map(({ recoveryToken }) => recoveryToken), [{ recoveredShard: "shard0" }]);
  const letters = await app.read<{ title: string }[]>("/letters");
  assertEquals(letters.map(({ title }) => title), ["a", "b", "b"]);
});

test("live lists and followers read the change streams of a router", async () => {
  await using app = await serve();
  await using list = await openLive(`${app.url}/letters`);
  await list.ready();
  const titles: unknown[] = [];
  const follower = follow(Letter, {
    name: "router",
    handle: async (change) => void titles.push((await change.values())?.title),
  });
  await until(async () => await follower.lag() !== undefined);
  await app.created("/letters", { title: "live" });
  await until(() => list.items.length === 1 && titles.length === 1);
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
