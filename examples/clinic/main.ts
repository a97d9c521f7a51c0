import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import mongoose from "mongoose";
import { Framework, getModel } from "@mongrove/mongrove";
import { buildApp } from "./app.ts";
import { Appointment } from "./appointment.ts";
import { seed } from "./seed.ts";

// It needs a replica set; one member is enough
const uri = process.env.MONGODB_URI ?? "mongodb://127.0.0.1:27017/?replicaSet=rs0";
await mongoose.connect(uri, { dbName: process.env.DEMO_DATABASE ?? "mongrove_clinic" });
await seed();

const server = createServer(buildApp());
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
await once(server, "listening");

const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const { _id, patient, start } = await getModel(Appointment).findOne().sort({ start: 1 }).orFail();
const appointment = `${url}/appointments/${_id}`;
const json = "-H 'content-type: application/json'";
const [rosa, who, amir] = ["rosa", "who", "amir"].map((id) => `-H 'authorization: Bearer ${id}'`);
const same = JSON.stringify({ patient, doctor: "who", start });
console.log(`A clinic: ${url}/docs, and ${url}/admin for rosa, who or amir (Ctrl-C stops)

# a doctor sees the notes, the reception does not
curl ${url}/patients/${patient} ${who}
curl ${url}/patients/${patient} ${rosa}
# the time of the doctor is taken: 409
curl ${url}/appointments ${rosa} ${json} -d '${same}'
# the patient arrives, once: then 409
curl -X POST ${appointment}/arrive ${rosa}
curl -X POST ${appointment}/arrive ${rosa}
# somebody with an appointment is not removed: 409
curl -X DELETE ${url}/patients/${patient} ${amir}
`);

const stop = () => Framework.close(server).then(() => mongoose.disconnect());
process.once("SIGINT", stop).once("SIGTERM", stop);
