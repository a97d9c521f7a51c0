import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Connection, ConnectOptions, Schema } from "mongoose";
import {
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  rest,
} from "../../mod.ts";
import type { ModelClass } from "../../mod.ts";
import { startMongo } from "../harness/mongo/start_mongo.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";

class Player extends FrameworkModel {
  @prop()
  name?: string;
}

/** Makes a model whose parents cannot be updated: without a transaction, a new player is stored all the same. */
function buildTeams(connection: Connection): ModelClass {
  @rest({ route: "/teams", methods: [one()], getConnection: () => connection })
  class Team extends FrameworkModel {
    @rest({ methods: [create()] })
    @arrayProp({ items: Player })
    players?: Ref<Player>[];

    static override configure(schema: Schema): void {
      schema.pre("updateOne", () => {
        throw new Error("Injected");
      });
    }
  }
  return Team;
}

/** Serves teams; `playersLeft()` tells how many players are stored by a create whose second write fails. */
async function serveTeams(connection: Connection) {
  const Team = buildTeams(connection);
  const app = await mount([Team], { onError: () => {} });
  return {
    async playersLeft(): Promise<number> {
      await getModel(Player, connection).deleteMany();
      const team = await getModel(Team, connection).create({});
      const url = `/teams/${team._id}/players`;
      assertEquals((await app.post(url, {})).status, 500);
      return await getModel(Player, connection).countDocuments();
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

/** Opens a connection of its own, closed with its test. */
async function open(uri: string, options: ConnectOptions): Promise<Connection & AsyncDisposable> {
  const connection = await mongoose.createConnection(uri, options).asPromise();
  return Object.assign(connection, { [Symbol.asyncDispose]: () => connection.close() });
}

test("a connection that is reopened has transactions where its new deployment has them", async () => {
  await using single = await startMongo({ args: ["--quiet"] });
  const replicaSet = await sharedReplicaSet();
  await using connection = await open(single.uri, { dbName: "reopened" });
  await using served = await serveTeams(connection);
  for (const [uri, left] of [[single.uri, 1], [replicaSet, 0], [single.uri, 1]] as const) {
    await connection.close();
    await connection.openUri(uri, { dbName: "reopened" });
    assertEquals([await served.playersLeft(), await served.playersLeft()], [left, left]);
  }
});
