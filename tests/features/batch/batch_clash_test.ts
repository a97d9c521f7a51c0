import { assert, assertEquals } from "@std/assert";
import {
  action,
  create,
  type Entity,
  FrameworkModel,
  getModel,
  one,
  prop,
  rest,
  update,
} from "../../../mod.ts";
import { casesOf } from "../../harness/report.ts";
import { test } from "../../harness/testing.ts";
import { mountOnReplicaSet } from "../../support/mount_on_replica_set.ts";
import { rows, sendBatch } from "./shop.ts";

const batch = { path: "/batch", max: 20 };

/** The hook waits here, if a test says so. */
let gate: Promise<void> | undefined;
let reached = () => {};
let runs = 0;

@rest({
  route: "/counts",
  methods: [
    one(),
    create(),
    update({
      async postFetch(_req, count) {
        runs++;
        reached();
        await gate;
        return count;
      },
    }),
    action("add", {
      on: "one",
      run: async (_req, count: Entity<Count>) => {
        count.sum = (count.sum ?? 0) + 1;
        return await count.save();
      },
    }),
  ],
})
class Count extends FrameworkModel {
  @prop({ unique: true })
  name!: string;
  @prop({ type: Number })
  sum?: number;
}

@rest({ route: "/entries", methods: [create()] })
class Entry extends FrameworkModel {
  @prop({ type: Number })
  client!: number;
}

test("a batch that meets another write is a 409, and its hooks run once", async () => {
  await using app = await mountOnReplicaSet([Count, Entry], { batch });
  const { _id } = await app.created("/counts", { name: "a", sum: 1 });
  for (const other of ["batch", "request"]) {
    let open = () => {};
    gate = new Promise((resolve) => open = resolve);
    const waiting = new Promise<void>((resolve) => reached = resolve);
    runs = 0;
    const first = sendBatch(
      app,
      rows(["POST", "/entries", { client: 1 }], ["PATCH", `/counts/${_id}`, { sum: 2 }]),
    );
    await waiting;
    const add = `/counts/${_id}/add`;
    const second = other === "batch"
      ? await sendBatch(app, rows(["POST", add, {}]))
      : await app.post(add, {});
    assertEquals(second.status, 200);
    open();
    const { status, body } = await first;
    assertEquals([status, body.code, body.failed], [409, "CONFLICT", "r1"], other);
    assertEquals([runs, await getModel(Entry).countDocuments()], [1, 0]);
  }
  gate = undefined;
  assertEquals((await app.read(`/counts/${_id}`)).sum, 3);
});

test("a unique value that two requests of a batch set is a 409 with its field", async () => {
  await using app = await mountOnReplicaSet([Count], { batch });
  const { status, body } = await sendBatch(
    app,
    rows(["POST", "/counts", { name: "a" }], ["POST", "/counts", { name: "a" }]),
  );
  assertEquals(
    [status, body.failed, Object(body).fields, body.message],
    [409, "r1", ["name"], "Another entity has the same value"],
  );
  const two = await Promise.all(
    ["b", "b"].map((name) =>
      sendBatch(app, rows(["POST", "/counts", { name }], ["POST", "/counts", { name: `${name}2` }]))
    ),
  );
  assertEquals(two.map((each) => each.status).sort(), [200, 409]);
  assertEquals(await getModel(Count).distinct("name"), ["b", "b2"]);
});

@rest({ route: "/built", methods: [create()] })
class Built extends FrameworkModel {
  static override schemaOptions = { autoIndex: false };
  @prop({ unique: true })
  name!: string;
}

test("unique indexes are looked up outside of the transaction", async () => {
  await using app = await mountOnReplicaSet([Built], { batch });
  await getModel(Built).collection.createIndex({ name: 1 }, { unique: true });
  const two = rows(["POST", "/built", { name: "a" }], ["POST", "/built", { name: "b" }]);
  assertEquals((await sendBatch(app, two)).status, 200);
});

const [CLIENTS, ADDITIONS] = [casesOf(32, 12), 4];

test("clients whose batches clash lose no addition", async () => {
  await using app = await mountOnReplicaSet([Count, Entry], { batch });
  const { _id } = await app.created("/counts", { name: "a", sum: 0 });
  const add = `/counts/${_id}/add`;
  const statuses: Record<number, number> = {};
  const run = async (client: number) => {
    for (let added = 0; added < ADDITIONS;) {
      const isBatch = client % 4 > 0;
      const { status, text } = isBatch
        ? await sendBatch(app, rows(["POST", "/entries", { client }], ["POST", add, {}]))
        : await app.post(add, {});
      assert([200, 409].includes(status), text);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status === 200) added++;
      else await new Promise((resolve) => setTimeout(resolve, Math.random() * 50));
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => run(client)));
  assertEquals(statuses[200], CLIENTS * ADDITIONS);
  assert((statuses[409] ?? 0) > 0);
  const stored = await getModel(Count).findById(_id);
  assertEquals(stored?.sum, CLIENTS * ADDITIONS);
  assertEquals(await getModel(Entry).countDocuments(), CLIENTS * ADDITIONS * 3 / 4);
});
