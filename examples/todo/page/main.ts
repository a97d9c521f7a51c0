import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import mongoose from "mongoose";
import { Framework } from "@mongrove/mongrove";
import { buildApp } from "./app.ts";
import { buildPage } from "./build.ts";

// Live lists need a replica set; one member is enough
const uri = process.env.MONGODB_URI ?? "mongodb://127.0.0.1:27017/?replicaSet=rs0";
const dbName = process.env.DEMO_DATABASE ?? "mongrove_todos";
const script = await buildPage();
while (!await mongoose.connect(uri, { dbName }).catch(console.error)) await wait(1000);

const server = createServer(buildApp(script));
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo;
console.log(
  `Open http://127.0.0.1:${port} in two tabs (Ctrl-C stops)`,
);

const stop = () => Framework.close(server).then(() => mongoose.disconnect());
process.once("SIGINT", stop).once("SIGTERM", stop);
