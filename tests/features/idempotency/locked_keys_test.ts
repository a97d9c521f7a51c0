import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Connection } from "mongoose";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  rest,
} from "../../../mod.ts";
import { startMongo } from "../../harness/mongo/start_mongo.ts";
import { longTest, test } from "../../harness/testing.ts";
import { Board as KeyedBoard, keyed, Note, textsAt } from "./keyed.ts";
import { type ErrorBody, mount, type Mounted } from "../../support/support.ts";
import { openTunnel } from "../../support/tunnel.ts";
import { until } from "../../support/until.ts";
import { sharedReplicaSet } from "../../support/shared_replica_set.ts";

/** The connection of a process that dies. */
let dying: Connection;

const getConnection = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) =>
  headers["x-dies"] === undefined ? mongoose.connection : dying;

const methods = [
  create({ many: 3, idempotency: { keep: "24h", caller: () => "me" } }),
  one(),
  all(),
];

@rest({ route: "/people", methods, getConnection })
class Person extends FrameworkModel {
  @prop()
  text?: string;
}

@rest({ route: "/boards", methods: [create(), one()], getConnection })
class Board extends FrameworkModel {
  @rest({ methods })
  @arrayProp({ items: Person })
  people?: Ref<Person>[];
}

/** Opens the connection of a process that dies when it sends a commit. */
async function openDying(uri: string, dbName: string): Promise<AsyncDisposable> {
  const tunnel = openTunnel(uri);
  dying = await mongoose.createConnection(tunnel.uri, { dbName, monitorCommands: true })
    .asPromise();
  dying.on("error", () => {});
  dying.getClient().on("commandStarted", ({ commandName }) => {
    if (commandName === "commitTransaction") tunnel.block();
  });
  return {
    async [Symbol.asyncDispose]() {
      tunnel[Symbol.dispose]();
      await dying.close(true).catch(() => {});
    },
  };
}

type Reply = ErrorBody & { readonly reason?: string };

/** Creates with a key by a process that dies before its commit, and repeats that until it is done; gives the refusals. */
async function repeat({ post }: Mounted, path: string, body: object): Promise<Set<string>> {
  const refusals = new Set<string>();
  await post(path, body, keyed("k", { "x-dies": "1" }));
  await until(async () => {
    const { status, body: told } = await post<Reply>(path, body, keyed("k"));
    if (status === 201) return true;
    refusals.add(`${status} ${told.reason}`);
    return false;
  }, { everyMs: 500 });
  return refusals;
}

longTest("a key whose process died in a transaction is done when the lock is gone", async (t) => {
  const args = ["--setParameter", "transactionLifetimeLimitSeconds=6"];
  await using mongo = await startMongo({ replicaSet: 1, args });
  await using app = await mount([Board, Person], {
    mongo: mongo.uri,
    limits: { timeMS: 5000 },
    onError: () => {},
  });
  for (const model of [Board, Person]) await getModel(model as typeof Board).createCollection();
  const { _id } = await app.created("/boards", {});
  const bodies = [[`/boards/${_id}/people`, { text: "a" }], ["/people", [{}, {}]]] as const;
  for (const [path, body] of bodies) {
    await t.step(path, async () => {
      await using _process = await openDying(mongo.uri, app.database.name);
      const at = performance.now();
      const refusals = await repeat(app, path, body);
      assert(performance.now() - at < 30_000);
      for (const refusal of refusals) assert(/^(409|503) locked$/.test(refusal), refusal);
      assertEquals((await app.post(path, body, keyed("k"))).status, 201);
    });
  }
  assertEquals(await textsAt(app, `/boards/${_id}/people`), ["a"]);
  assertEquals(await getModel(Person).countDocuments(), 3);
});

test("a creation that met a lock is repeated with its key as soon as the lock is gone", async () => {
  const mongo = await sharedReplicaSet();
  await using app = await mount([Note, KeyedBoard], {
    mongo,
    limits: { timeMS: 1000 },
    onError: () => {},
  });
  await getModel(KeyedBoard).init();
  const { _id } = await app.created("/boards", { text: "board" });
  const paths = ["cards", "people", "card", "person"].map((part) => `/boards/${_id}/${part}`);
  const create = (path: string) => app.post<Reply>(path, { text: "a" }, keyed("k"));
  const session = await mongoose.connection.startSession();
  session.startTransaction();
  const id = new mongoose.Types.ObjectId(_id);
  await mongoose.connection.collection("boards")
    .updateOne({ _id: id }, { $inc: { __v: 1 } }, { session });
  const refused = await Promise.all(paths.map(create));
  assertEquals(
    refused.map(({ status, body }) => [status, body.reason]),
    paths.map(() => [503, "locked"]),
  );
  await session.abortTransaction();
  await session.endSession();
  for (const path of paths) assertEquals((await create(path)).status, 201, path);
  assertEquals(await textsAt(app, `/boards/${_id}/people`), ["a"]);
});
