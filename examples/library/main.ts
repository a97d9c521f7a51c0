import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import mongoose from "mongoose";
import { Framework, getModel } from "@mongrove/mongrove";
import { buildApp } from "./app.ts";
import { curls } from "./curls.ts";
import { seed } from "./seed.ts";
import { Shelf } from "./shelf.ts";

const uri = process.env.MONGODB_URI ?? "mongodb://127.0.0.1:27017";
// A database of its own, whatever the connection string names
const dbName = process.env.DEMO_DATABASE ?? "mongrove_library";
while (!await mongoose.connect(uri, { dbName }).catch(console.error)) await wait(1000);
await seed();

const server = createServer(buildApp());
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
await once(server, "listening");

const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const open = await getModel(Shelf).findOne({ locked: false, "books.0": { $exists: true } })
  .orFail();
const locked = await getModel(Shelf).findOne({ locked: true }).orFail();
const ids = {
  shelf: String(open._id),
  book: String(open.books?.[0]?._id),
  locked: String(locked._id),
};
console.log(`Shelves and authors: ${url}/shelves and ${url}/authors (Ctrl-C stops)\n`);
for (const { title, line } of curls({ url, ...ids })) console.log(`# ${title}\n${line}\n`);

const stop = () => Framework.close(server).then(() => mongoose.disconnect());
process.once("SIGINT", stop).once("SIGTERM", stop);
