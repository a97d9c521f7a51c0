import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import mongoose from "mongoose";
import { Framework } from "@mongrove/mongrove";
import { buildApp } from "./app.ts";
import { printDemo } from "./print_demo.ts";
import { seed } from "./seed.ts";

const uri = process.env.MONGODB_URI ?? "mongodb://127.0.0.1:27017";
// A database of its own, whatever the connection string names
const dbName = process.env.DEMO_DATABASE ?? "mongrove_demo";
while (!await mongoose.connect(uri, { dbName }).catch(console.error)) await wait(1000);
await seed();

const server = createServer(buildApp());
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
await once(server, "listening");

const { port } = server.address() as AddressInfo;
await printDemo(`http://127.0.0.1:${port}`, {
  "/docs": "the API, described",
  "/admin": "movies and actors, to edit",
});

const stop = () => Framework.close(server).then(() => mongoose.disconnect());
process.once("SIGINT", stop).once("SIGTERM", stop);
