import { assert, assertEquals } from "@std/assert";
import { getModel } from "@mongrove/mongrove";
import { connect } from "@mongrove/mongrove/client";
import { buildApp } from "../../examples/clinic/app.ts";
import { Appointment, type cancel, slotsOf } from "../../examples/clinic/appointment.ts";
import { Invoice } from "../../examples/clinic/invoice.ts";
import { Patient } from "../../examples/clinic/patient.ts";
import { Prescription } from "../../examples/clinic/prescription.ts";
import { seed } from "../../examples/clinic/seed.ts";
import { openLive } from "../features/live/live.ts";
import { openDatabase } from "../harness/database.ts";
import { longTest, test } from "../harness/testing.ts";
import { sendPrinted } from "../support/printed_requests.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { asQuery, type EntityBody, type ErrorBody, start } from "../support/support.ts";

const as = (name: string, headers = {}) => ({
  headers: { authorization: `Bearer ${name}`, ...headers },
});

type Row = Record<string, unknown>;

async function openClinic() {
  const database = await openDatabase(await sharedReplicaSet());
  await Promise.all(
    [Appointment, Invoice, Patient, Prescription].map((each) => getModel(each).init()),
  );
  await seed();
  const served = await start(buildApp());
  const { _id } = await getModel(Patient).findOne({ name: "Ann Arbor" }).orFail();
  return {
    ...served,
    patient: String(_id),
    async [Symbol.asyncDispose]() {
      await served.stop();
      await database[Symbol.asyncDispose]();
    },
  };
}

const at = (minute: number) => new Date(Date.UTC(2030, 0, 7, 8, minute)).toISOString();

test("the staff of a clinic sees its patients, and doctors alone the notes", async () => {
  await using clinic = await openClinic();
  const path = `/patients/${clinic.patient}`;
  assertEquals((await clinic.get("/patients")).status, 401);
  const names = async (user: string) =>
    (await clinic.read<Row[]>("/patients", as(user))).map(({ name }) => name);
  assertEquals(await names("rosa"), ["Ann Arbor", "Ben Birch"]);
  assertEquals(await names("zoe"), ["Eli Elder"]);
  assertEquals((await clinic.read(path, as("who"))).notes, "Allergic to penicillin");
  assertEquals((await clinic.read(path, as("rosa"))).notes, undefined);
  assertEquals((await clinic.patch(path, { notes: "x" }, as("rosa"))).status, 400);
  assertEquals((await clinic.get(path, as("zoe"))).status, 404);
  const old = asQuery({ born: { $lt: "2000-01-01" } });
  const [ann, ...others] = await clinic.read<Row[]>(`/patients${old}`, as("rosa"));
  assertEquals([ann?.born, others], ["1980-05-04", []]);
});

test("50 clients at once make appointments, and none overlap", async () => {
  await using clinic = await openClinic();
  const make = (index: number) =>
    clinic.post("/appointments", {
      ...{ patient: clinic.patient, doctor: "who" },
      ...{ start: at(15 * (index % 8)), minutes: [15, 30, 45, 60][index % 4] },
    }, as("rosa"));
  const made = await Promise.all(Array.from({ length: 50 }, (_, index) => make(index)));
  const move = ({ body }: { body: EntityBody }, index: number) =>
    clinic.patch(
      `/appointments/${body._id}`,
      { start: at(15 * (index % 3)), minutes: 60 },
      as("rosa"),
    );
  const kept = made.filter(({ status }) => status === 201);
  const moved = await Promise.all([...kept, ...kept, ...kept].map(move));
  for (const { status, text } of [...made, ...moved]) {
    assert([200, 201, 409].includes(status), text);
  }
  assert(kept.length > 1 && made.some(({ status }) => status === 409));

  const stored = await getModel(Appointment).find({ start: { $lt: new Date(at(240)) } });
  const slots = stored.flatMap((each) => slotsOf(each));
  assertEquals(slots.length, new Set(slots).size);
  for (const each of stored) assertEquals([...each.slots], slotsOf(each));
});

test("an appointment takes the time of a doctor", async () => {
  await using clinic = await openClinic();
  const body = { patient: clinic.patient, doctor: "who", start: at(0), minutes: 30 };
  const { slots } = await clinic.created("/appointments", body, as("rosa"));
  assertEquals(slots, undefined);
  for (
    const [wrong, status] of [
      [{ ...body, start: at(15) }, 409],
      [{ ...body, start: at(7) }, 400],
      [{ ...body, start: at(60), minutes: 20 }, 400],
      [{ ...body, start: at(60), doctor: "zoe" }, 400],
      [{ ...body, start: at(60), state: "arrived" }, 400],
    ] as const
  ) {
    assertEquals([wrong, (await clinic.post("/appointments", wrong, as("rosa"))).status], [
      wrong,
      status,
    ]);
  }
  await clinic.created("/appointments", { ...body, doctor: "grey" }, as("amir"));
  assertEquals((await clinic.post("/appointments", body, as("who"))).status, 403);
});

test("an appointment is moved and cancelled, which frees its time", async () => {
  await using clinic = await openClinic();
  const body = { patient: clinic.patient, doctor: "who", start: at(0), minutes: 30 };
  const { _id } = await clinic.created("/appointments", body, as("rosa"));
  const path = `/appointments/${_id}`;
  await clinic.updated(path, { start: at(120) }, as("rosa"));
  await clinic.created("/appointments", body, as("rosa"));
  assertEquals((await clinic.post(`${path}/revert`, { version: 0 }, as("rosa"))).status, 409);

  const links = async () => (await clinic.get(path, as("rosa"))).headers.get("link");
  assertEquals(await links(), `<${path}/arrive>; rel="action", <${path}/cancel>; rel="action"`);
  await clinic.post(`${path}/cancel`, undefined, as("rosa"));
  assertEquals(await links(), null);
  assertEquals((await clinic.post<ErrorBody>(`${path}/arrive`, undefined, as("rosa"))).status, 409);
  assertEquals((await clinic.patch(path, { minutes: 15 }, as("rosa"))).status, 409);
  await clinic.created("/appointments", { ...body, start: at(120) }, as("rosa"));
  const [{ actorName } = {}] = await clinic.read<Row[]>(`${path}/history?names`, as("amir"));
  assertEquals(actorName, "Rosa Lind");
});

test("a screen follows the appointments live", async () => {
  await using clinic = await openClinic();
  const q = asQuery({ start: { $gte: at(0) } });
  await using live = await openLive(`${clinic.url}/appointments${q}`, as("who").headers);
  await live.ready();
  const body = { patient: clinic.patient, doctor: "who", start: at(0) };
  await clinic.created("/appointments", body, as("rosa"));
  await live.came(2);
  assertEquals(live.items.map(({ start }) => start), [at(0)]);
});

test("an invoice has its total, and does not change when it is paid", async () => {
  await using clinic = await openClinic();
  const lines = [{ text: "a", count: 3, price: 0.1 }, { text: "b", price: 50 }];
  const body = { number: "1002", patient: clinic.patient, lines };
  const { _id, total } = await clinic.created("/invoices", body, as("rosa"));
  assertEquals(total, 50.3);
  const path = `/invoices/${_id}`;
  assertEquals((await clinic.post("/invoices", body, as("rosa"))).status, 409);
  assertEquals((await clinic.patch(path, { total: 1 }, as("rosa"))).status, 400);
  for (const wrong of [[], [{ text: "c", price: 0.001 }]]) {
    assertEquals((await clinic.patch(path, { lines: wrong }, as("rosa"))).status, 400);
  }
  const changed = await clinic.updated(path, { lines: lines.slice(1) }, as("rosa"));
  assertEquals(changed.total, 50);
  const { body: { paid } } = await clinic.post(`${path}/pay`, undefined, as("rosa"));
  assertEquals(paid, new Date().toISOString().slice(0, 10));
  assertEquals((await clinic.post(`${path}/pay`, undefined, as("rosa"))).status, 409);
  assertEquals((await clinic.patch(path, { lines }, as("rosa"))).status, 409);
  const months = await clinic.read<Row[]>("/invoices?group=paid&sum=total", as("amir"));
  assertEquals(months.map(({ sum }) => sum), [{ total: 89 }, { total: 50 }]);
});

test("doctors write prescriptions with a PDF, which nobody else reads", async () => {
  await using clinic = await openClinic();
  const body = { patient: clinic.patient, medicine: "Ibuprofen" };
  assertEquals((await clinic.post("/prescriptions", body, as("rosa"))).status, 403);
  const { _id, given, doctor } = await clinic.created("/prescriptions", body, as("who"));
  assertEquals([given, doctor], [new Date().toISOString().slice(0, 10), "who"]);
  const path = `${clinic.url}/prescriptions/${_id}/signed`;
  const send = async (user: string, type?: string) => {
    const { headers } = as(user, type && { "content-type": type });
    const answer = await fetch(path, { headers, ...type && { method: "PUT", body: "%PDF-1.7" } });
    await answer.body?.cancel();
    return answer.status;
  };
  assertEquals(await send("rosa", "application/pdf"), 403);
  assertEquals(await send("who", "text/html"), 415);
  assertEquals(await send("who", "application/pdf"), 201);
  assertEquals([await send("grey"), await send("rosa"), await send("zoe")], [200, 403, 404]);
});

test("patients are a table both ways, and leave by the trash", async () => {
  await using clinic = await openClinic();
  const { text } = await clinic.get(
    "/patients",
    as("amir", {
      accept: "text/csv",
    }),
  );
  assert(text.includes(",Ann Arbor,1980-05-04,public"), text);
  const raw = "name,born\nCleo Cedar,1999-01-01\nDora,1999-02-30\n";
  const headers = { ...as("rosa").headers, "content-type": "text/csv" };
  const told = await clinic.send("POST", "/patients", { raw, headers });
  assertEquals(told.text.split("\n").map((line) => /"status":(\d+)/.exec(line)?.[1]), [
    ...["201", "400", undefined],
  ]);
  const [cleo] = await clinic.read<Row[]>("/patients?search=cleo", as("rosa"));
  const path = `/patients/${cleo?._id}`;
  assertEquals((await clinic.delete(path, as("rosa"))).status, 403);
  assertEquals((await clinic.delete(path, as("amir"))).status, 204);
  assertEquals((await clinic.get(path, as("rosa"))).status, 404);
  assertEquals((await clinic.post(`${path}/restore`, {}, as("amir"))).status, 200);
  assertEquals((await clinic.delete(`/patients/${clinic.patient}`, as("amir"))).status, 409);
});

test("its admin page and its documentation are there", async () => {
  await using clinic = await openClinic();
  for (const path of ["/admin/", "/docs", "/openapi.json"]) {
    assertEquals([path, (await clinic.get(path, as("rosa"))).status], [path, 200]);
  }
});

test("its typed client cancels an appointment", async () => {
  await using clinic = await openClinic();
  const api = connect(clinic.url, { headers: { authorization: "Bearer rosa" } });
  const appointments = api.resource<Appointment>("/appointments");
  const { items: [first] } = await appointments.all({ sort: ["start"] });
  const { state } = await appointments.action<typeof cancel>("cancel", String(first?._id));
  assertEquals(state, "cancelled");
});

/** The statuses of the requests that main.ts prints. */
const PRINTED = [200, 200, 409, 200, 409, 409];

longTest("main.ts prints requests that answer as it says, and stops on SIGTERM", async () => {
  assertEquals(await sendPrinted("clinic"), PRINTED);
});
