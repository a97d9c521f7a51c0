import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import mongoose from "mongoose";
import { Framework, getModel } from "@mongrove/mongrove";
import { buildApp } from "./app.ts";
import { seed } from "./seed.ts";
import { Ticket } from "./ticket.ts";

const uri = process.env.MONGODB_URI ?? "mongodb://127.0.0.1:27017";
// A database of its own, whatever the connection string names
const dbName = process.env.DEMO_DATABASE ?? "mongrove_helpdesk";
while (!await mongoose.connect(uri, { dbName }).catch(console.error)) await wait(1000);
await seed();

const server = createServer(buildApp());
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
await once(server, "listening");

const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const { _id } = await getModel(Ticket).findOne({ organisation: "acme" }).orFail();
const [agent, customer] = ["ada", "cem"].map((name) => `-H 'authorization: Bearer ${name}'`);
console.log(`A help desk: ${url}/docs (Ctrl-C stops)

# what an agent sees, and what a customer does
curl ${url}/tickets ${agent}
curl ${url}/tickets ${customer}
# the customer closes his ticket
curl ${url}/tickets/${_id}/close ${customer} -H 'content-type: application/json' -d '{"reason":"it is out"}'
# a report on what each of them sees
curl ${url}/tickets/report ${agent}
curl ${url}/tickets/report ${customer}
`);

const stop = () => Framework.close(server).then(() => mongoose.disconnect());
process.once("SIGINT", stop).once("SIGTERM", stop);
