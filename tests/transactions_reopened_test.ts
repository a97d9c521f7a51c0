import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Connection, ConnectOptions, Schema } from "mongoose";
import { arrayProp, create, FrameworkModel, getModel, one, prop, type Ref, rest } from "../mod.ts";
import type { ModelClass } from "../mod.ts";
import { startMongo } from "./harness/mongo/start_mongo.ts";
import { test } from "./harness/testing.ts";
import { mount } from "./support.ts";

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

/** Opens one address for a database that can be replaced by another one, at another port. */
async function openAddress() {
  let port = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    for (const each of [client, upstream]) sockets.add(each.on("error", () => {}));
    client.pipe(upstream).pipe(client);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const leadTo = (uri: string) => {
    port = Number(new URL(uri).port);
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    uri: `mongodb://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    leadTo,
    [Symbol.dispose]() {
      server.close();
      leadTo("tcp://none:0");
    },
  };
}

/** Opens a connection of its own, closed with its test. */
async function open(uri: string, options: ConnectOptions): Promise<Connection & AsyncDisposable> {
  const connection = await mongoose.createConnection(uri, options).asPromise();
  return Object.assign(connection, { [Symbol.asyncDispose]: () => connection.close() });
}

/** Waits until the driver has noticed that another server answers. */
async function untilAnswered(connection: Connection): Promise<void> {
  for (;;) {
    const answer = connection.getClient().db("admin").command({ ping: 1 });
    if (await answer.then(() => true, () => false)) return;
  }
}

test("a connection that is reopened has transactions where its new deployment has them", async () => {
  await using single = await startMongo({ args: ["--quiet"] });
  await using replicaSet = await startMongo({ replicaSet: 1 });
  await using connection = await open(single.uri, { dbName: "reopened" });
  await using served = await serveTeams(connection);
  for (const [uri, left] of [[single.uri, 1], [replicaSet.uri, 0], [single.uri, 1]] as const) {
    await connection.close();
    await connection.openUri(uri, { dbName: "reopened" });
    assertEquals([await served.playersLeft(), await served.playersLeft()], [left, left]);
  }
});

test("a connection has transactions while the server at its address is a replica set", async () => {
  await using single = await startMongo({ args: ["--quiet"] });
  await using replicaSet = await startMongo({ replicaSet: 1 });
  using address = await openAddress();
  address.leadTo(single.uri);
  const options = { dbName: "restarted", heartbeatFrequencyMS: 500 };
  await using connection = await open(address.uri, options);
  await using served = await serveTeams(connection);
  for (const [uri, left] of [[single.uri, 1], [replicaSet.uri, 0], [single.uri, 1]] as const) {
    address.leadTo(uri);
    await untilAnswered(connection);
    assertEquals([await served.playersLeft(), await served.playersLeft()], [left, left]);
  }
});
