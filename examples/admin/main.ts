import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import mongoose from "mongoose";
import { Framework } from "@mongrove/mongrove";
import { SECRET_KEY } from "../movies/hooks/authenticated.ts";
import { seed } from "../movies/seed.ts";
import { buildApp } from "./app.ts";
import { buildPage } from "./build.ts";

const uri = process.env.MONGODB_URI ?? "mongodb://127.0.0.1:27017";
const dbName = process.env.DEMO_DATABASE ?? "mongrove_demo";
const script = await buildPage();
while (!await mongoose.connect(uri, { dbName }).catch(console.error)) await wait(1000);
await seed();

const server = createServer(buildApp(script));
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo;
console.log(`http://127.0.0.1:${port}/admin (the key is ${SECRET_KEY}; Ctrl-C stops)`);

const stop = () => Framework.close(server).then(() => mongoose.disconnect());
process.once("SIGINT", stop).once("SIGTERM", stop);
