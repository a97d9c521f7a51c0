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
import { ACME } from "./users.ts";

// History, the trash and references with rules need a replica set; one member is enough
const uri = process.env.MONGODB_URI ?? "mongodb://127.0.0.1:27017/?replicaSet=rs0";
// A database of its own, whatever the connection string names
const dbName = process.env.DEMO_DATABASE ?? "mongrove_helpdesk";
while (!await mongoose.connect(uri, { dbName }).catch(console.error)) await wait(1000);
await seed();

const server = createServer(buildApp());
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
await once(server, "listening");

const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const { _id, attachments: [attachment] = [] } = await getModel(Ticket)
  .findOne({ organisation: ACME }).select("+attachments").orFail();
const ticket = `${url}/tickets/${_id}`;
const file = `${ticket}/attachments/${attachment?._id}/file`;
const [agent, customer, other] = ["ada", "cem", "eve"].map((id) =>
  `-H 'authorization: Bearer ${id}'`
);
console.log(`A help desk: ${url}/docs, and ${url}/admin for ada or cem (Ctrl-C stops)

# what an agent sees, what a customer sees, and what an agent of another desk sees
curl ${url}/tickets ${agent}
curl ${url}/tickets ${customer}
curl ${url}/tickets ${other}
# for the other desk, the ticket does not exist: 404
curl ${ticket} ${other}
# the customer stores a file, and an agent reads it
curl -X PUT ${file} ${customer} -H 'content-type: text/plain' -d 'PC LOAD LETTER'
curl ${file} ${agent}
# the customer closes his ticket, and the history has his name
curl ${ticket}/close ${customer} -H 'content-type: application/json' -d '{"reason":"it is out"}'
curl ${ticket}/history ${agent}
# he removes the ticket; an agent finds it in the trash, and restores it
curl -X DELETE ${ticket} ${customer}
curl '${url}/tickets?trash=only' ${agent}
curl -X POST ${ticket}/restore ${agent}
# the organisation has a ticket, so it stays: 409
curl -X DELETE ${url}/organisations/${ACME} ${agent}
# a report on what each of them sees
curl ${url}/tickets/report ${agent}
curl ${url}/tickets/report ${customer}
# a program gets a key of the agent, which reads only lists; put the key in the place of <key>
curl ${url}/keys ${agent} -H 'content-type: application/json' -d '{"name":"statistics","scopes":["tickets:all"]}'
curl ${url}/tickets -H 'x-api-key: <key>'
`);

const stop = () => Framework.close(server).then(() => mongoose.disconnect());
process.once("SIGINT", stop).once("SIGTERM", stop);
