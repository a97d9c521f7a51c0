import { assertEquals, assertThrows } from "@std/assert";
import mongoose from "mongoose";
import {
  create,
  Framework,
  FrameworkModel,
  getModel,
  type ModelClass,
  one,
  prop,
  rest,
  update,
} from "../../../mod.ts";
import { openDatabase } from "../../harness/database.ts";
import { sharedReplicaSet } from "../../support/shared_replica_set.ts";
import { test } from "../../harness/testing.ts";
import { documentOf } from "../../support/documented.ts";
import { mount } from "../../support/support.ts";
import { until } from "../../support/until.ts";
import { Plan, Remark } from "./plans.ts";

abstract class Named extends FrameworkModel {
  @prop()
  name?: string;
}

@rest({ route: "/unread", methods: [create()], history: true })
class Unread extends Named {}

@rest({
  route: "/unversioned",
  methods: [one()],
  history: true,
  schemaOptions: { versionKey: false },
})
class Unversioned extends Named {}

@rest({
  route: "/persisted",
  methods: [one(), update<Named>({ persist: (_req, entity) => entity })],
  history: true,
})
class Persisted extends Named {}

@rest({ route: "/a", methods: [one()], history: { keep: "90d" } })
@rest({ route: "/b", methods: [one()], history: true })
class Split extends Named {}

@rest({ route: "/timed", methods: [one()], history: { keep: "long" as "1d" } })
class Timed extends Named {}

@rest({ route: "/kept", methods: [one(), create()], history: { keep: "90d" } })
class Kept extends Named {}

const PROBLEMS: [ModelClass, string][] = [
  [Unread, 'Cannot mount "Unread": "history" needs one(), which guards the history'],
  [Unversioned, 'Cannot mount "Unversioned": "history" needs versions, and "versionKey" is off'],
  [
    Persisted,
    'Cannot mount "Persisted": "history" cannot record what the hook "persist" of update() writes',
  ],
  [
    Split,
    `its @rest decorators have different values of "history": { keep: '90d' } for "/a", and true for "/b"`,
  ],
  [Timed, 'Cannot mount "Timed": needs a time such as "90d" as "history.keep"'],
];

test("a history that cannot work fails the start", async (t) => {
  for (const [model, problem] of PROBLEMS) {
    await t.step(model.name, () => {
      assertThrows(() => Framework.initialize({ models: [model] }), TypeError, problem);
    });
  }
});

test("a history fails the start on a standalone server", async () => {
  await using _database = await openDatabase();
  assertThrows(
    () => Framework.initialize({ models: [Kept] }),
    TypeError,
    'Cannot mount "Kept": "history" adds statements to each write, but the database is a standalone',
  );
});

test("`keep` is the time after which the database removes records, also if it changes", async () => {
  const mongo = await sharedReplicaSet();
  await using app = await mount([Kept], { mongo });
  const history = mongoose.connection.collection("kepts_history");
  const times = async () =>
    (await history.indexes().catch(() => [])).flatMap(({ expireAfterSeconds }) =>
      expireAfterSeconds ?? []
    );
  await until(async () => (await times()).length === 1);
  assertEquals(await times(), [90 * 86_400]);
  await app.created("/kept", { name: "a" });
  const { collection } = getModel(Kept);
  assertEquals(await collection.countDocuments(), 1);
});

test("the routes of a history are described", async () => {
  const routes = Framework.describe({ models: [Plan, Remark], actor: () => undefined });
  const own = routes.filter(({ path }) => path.startsWith("/plans/:id/"))
    .filter(({ operation }) => ["history", "revert"].includes(operation));
  assertEquals(
    own.map(({ method, path, status, parameters }) => [
      method,
      path,
      status,
      parameters.map(({ name }) => name).join(),
    ]),
    [
      ["GET", "/plans/:id/history", 200, "id,q,limit,after,names"],
      ["POST", "/plans/:id/revert", 200, "id,q"],
    ],
  );
  const document = await documentOf([Plan, Remark]);
  const get = document.operation("GET", "/plans/{id}/history");
  const post = document.operation("POST", "/plans/{id}/revert");
  assertEquals([get.operationId, post.operationId], ["historyPlans", "revertPlans"]);
  assertEquals([get.summary, post.summary], [
    "Read the versions of an entity",
    "Set an entity back to an earlier version",
  ]);
});
