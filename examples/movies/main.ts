import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import mongoose from "mongoose";
import { Framework, getModel } from "@mongrove/mongrove";
import { buildApp } from "./app.ts";
import { curls } from "./curls.ts";
import { SECRET_KEY } from "./hooks/authenticated.ts";
import { Movie } from "./movie.ts";
import { seed } from "./seed.ts";

const uri = process.env.MONGODB_URI ?? "mongodb://127.0.0.1:27017";
// A database of its own, whatever the connection string names
const dbName = process.env.DEMO_DATABASE ?? "mongrove_demo";
while (!await mongoose.connect(uri, { dbName }).catch(console.error)) await wait(1000);
await seed();

const server = createServer(buildApp());
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
await once(server, "listening");

const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const movie = await getModel(Movie).findOne().sort({ year: 1, _id: 1 }).orFail();
console.log(`Movies and actors: ${url}/movies and ${url}/actors (Ctrl-C stops)\n`);
for (const { title, line } of curls({ url, key: SECRET_KEY, id: String(movie._id) })) {
  console.log(`# ${title}\n${line}\n`);
}

const stop = () => Framework.close(server).then(() => mongoose.disconnect());
process.once("SIGINT", stop).once("SIGTERM", stop);
