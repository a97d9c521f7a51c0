import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Connection, Schema } from "mongoose";
import {
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  remove,
  removeAll,
  rest,
} from "../../mod.ts";
import type { Ref } from "../../mod.ts";
import { client } from "../support/client.ts";
import { startMongo } from "../harness/mongo/start_mongo.ts";
import { longTest, test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

/** Makes a model that refers to players, on a connection, and the list of the middleware that removals run. */
function buildTeam(connection: Connection) {
  const removals: string[] = [];
  class Player extends FrameworkModel {
    @prop()
    name?: string;
    /** How often middleware has seen it. */
    @prop({ type: Number, default: 0 })
    saves!: number;

    static override configure(schema: Schema<Player>): void {
      schema.pre("save", function () {
        this.saves++;
      });
      const ofDocuments = { document: true, query: false } as const;
      schema.pre("deleteOne", ofDocuments, () => void removals.push("deleteOne"));
    }
  }
  @rest({ route: "/teams", methods: [one()], getConnection: () => connection })
  class Team extends FrameworkModel {
    @rest({ methods: [one(), create(), remove(), removeAll()] })
    @arrayProp({ items: Player })
    players!: Ref<Player>[];
  }
  return { Team, Player, removals };
}

/** Serves one team whose transactions can be watched, and made to fail. */
async function openTeam(connection: Connection, maxTimeMS = 10_000) {
  const { Team, Player, removals } = buildTeam(connection);
  const teams = getModel(Team, connection);
  // A collection that does not exist yet is no matter of these tests.
  await getModel(Player, connection).createCollection();
  const { _id } = await teams.create({});
  const app = await mount([Team], { limits: { timeMS: maxTimeMS } });
  const sent: string[] = [];
  connection.getClient().on("commandStarted", ({ commandName }) => sent.push(commandName));
  const players = client(`${app.url}/teams/${_id}/players`);
  return {
    _id,
    teams,
    players,
    removals,
    add: () => players.post("", { name: "new" }),
    count: (name: string) => sent.filter((each) => each === name).length,
    held: async () => (await teams.findById(_id).lean())?.players.length,
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

/** Starts a replica set, and connects to it. */
async function openReplicaSet() {
  const args = ["--setParameter", "enableTestCommands=1"];
  const mongo = await startMongo({ replicaSet: 1, args });
  const connection = await mongoose.createConnection(mongo.uri, { monitorCommands: true })
    .asPromise();
  return {
    uri: mongo.uri,
    connection,
    async [Symbol.asyncDispose]() {
      await connection.close();
      await mongo.stop();
    },
  };
}

longTest(
  "create() below one parent takes turns, so that no transaction meets another",
  async () => {
    await using set = await openReplicaSet();
    await using team = await openTeam(set.connection);
    const replies = await Promise.all(Array.from({ length: 60 }, team.add));
    assertEquals([...new Set(replies.map(({ status }) => status))], [201]);
    assertEquals([await team.held(), team.count("abortTransaction")], [60, 0]);
    assertEquals(team.count("commitTransaction"), 60);
  },
);

longTest(
  "create() below a parent that another process writes answers 503, and tries no more",
  async () => {
    await using set = await openReplicaSet();
    await using team = await openTeam(set.connection, 300);
    const other = await set.connection.startSession();
    other.startTransaction();
    await team.teams.updateOne({ _id: team._id }, { $inc: { __v: 1 } }, { session: other });
    assertEquals((await team.add()).status, 503);
    await other.abortTransaction();
    await other.endSession();
    assertEquals((await team.add()).status, 201);
    // Longer than any pause between two tries.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    assertEquals([await team.held(), team.count("commitTransaction")], [1, 1]);
  },
);

test("create() and remove() on a reference survive a commit that fails", async () => {
  await using set = await openReplicaSet();
  await using team = await openTeam(set.connection);
  const failCommit = () =>
    set.connection.getClient().db("admin").command({
      configureFailPoint: "failCommand",
      mode: { times: 2 },
      data: {
        failCommands: ["commitTransaction"],
        errorCode: 112,
        errorLabels: ["TransientTransactionError"],
      },
    });
  await failCommit();
  const made = await team.add();
  assertEquals([made.status, await team.held(), made.body.__v, made.body.saves], [201, 1, 0, 1]);
  for (const [path, run] of [[`/${made.body._id}`, ["deleteOne"]], ["", []]] as const) {
    await failCommit();
    const removed = await team.players.delete(path);
    assertEquals([removed.status, await team.held(), team.removals.splice(0)], [204, 0, run]);
    assertEquals((await team.add()).status, 201);
  }
});

test("create() on a reference is a transaction after its connection was opened elsewhere", async () => {
  await using set = await openReplicaSet();
  const connection = mongoose.createConnection(Deno.env.get("MONGODB_URI") ?? "", {
    dbName: "mongrove_reopened",
  });
  await connection.asPromise();
  await using before = await openTeam(connection);
  assertEquals((await before.add()).status, 201);
  await connection.dropDatabase();
  await connection.close();
  await connection.openUri(set.uri, { dbName: "reopened", monitorCommands: true });
  await before.teams.create({ _id: before._id });
  let commits = 0;
  connection.getClient().on("commandStarted", ({ commandName }) => {
    if (commandName === "commitTransaction") commits++;
  });
  assertEquals((await before.add()).status, 201);
  // A busy server may have a transaction commit again.
  assert(commits > 0);
  await connection.close();
});
