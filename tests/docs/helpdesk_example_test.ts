import { assert, assertEquals } from "@std/assert";
import { getModel } from "@mongrove/mongrove";
import { connect } from "@mongrove/mongrove/client";
import type { close, report } from "../../examples/helpdesk/actions.ts";
import { buildApp } from "../../examples/helpdesk/app.ts";
import { Organisation } from "../../examples/helpdesk/organisation.ts";
import { seed } from "../../examples/helpdesk/seed.ts";
import { Ticket } from "../../examples/helpdesk/ticket.ts";
import { openDatabase } from "../harness/database.ts";
import { test } from "../harness/testing.ts";
import { asQuery, type ErrorBody, start } from "../support/support.ts";

const as = (name: string, headers = {}) => ({
  headers: { authorization: `Bearer ${name}`, ...headers },
});

async function openDesk() {
  const database = await openDatabase();
  await Promise.all([Ticket, Organisation].map((each) => getModel(each).init()));
  await seed();
  const served = await start(buildApp());
  const idOf = async (organisation: string) =>
    String((await getModel(Ticket).findOne({ organisation }).orFail())._id);
  return {
    ...served,
    acme: `/tickets/${await idOf("acme")}`,
    dune: `/tickets/${await idOf("dune")}`,
    async [Symbol.asyncDispose]() {
      await served.stop();
      await database[Symbol.asyncDispose]();
    },
  };
}

type Row = Record<string, unknown>;

test("agents see all tickets, customers those of their organisation, strangers none", async () => {
  await using desk = await openDesk();
  assertEquals((await desk.get("/tickets")).status, 401);
  assertEquals((await desk.read<Row[]>("/tickets", as("ada"))).length, 2);
  const [own, ...others] = await desk.read<Row[]>("/tickets", as("cem"));
  assertEquals([own?.title, own?.note, others.length], ["Printer on fire", undefined, 0]);
  const seen = await desk.read<Row>(desk.acme, as("ada"));
  assertEquals([seen.note, seen.comments], ["third time this month", undefined]);
  assertEquals((await desk.get(desk.acme, as("dee"))).status, 404);
  const organisations = await desk.read<Row[]>("/organisations", as("cem"));
  assertEquals(organisations.map(({ key, plan }) => [key, plan]), [["acme", undefined]]);
  assertEquals((await desk.post("/organisations", {}, as("cem"))).status, 403);
});

test("a customer finds out nothing by what is hidden from him", async () => {
  await using desk = await openDesk();
  const attempts = [
    `/tickets${asQuery({ note: { $exists: true } })}`,
    `/tickets${asQuery({ "comments.internal": true })}`,
    `${desk.acme}${asQuery({ note: "third time this month" })}`,
    "/tickets?sort=note",
    `/organisations${asQuery({ plan: "gold" })}`,
  ];
  for (const path of attempts) {
    const { status, text } = await desk.get(path, as("cem"));
    assert(status === 400 && !text.includes("third"), `${path}: ${text}`);
  }
  assertEquals(await desk.read<Row[]>("/tickets?search=third", as("cem")), []);
  assertEquals((await desk.read<Row[]>("/tickets?search=third", as("ada"))).length, 1);
  const comments = await desk.read<Row[]>(`${desk.acme}/comments`, as("cem"));
  assertEquals(comments.map(({ text }) => text), ["It smells"]);
  const path = `${desk.acme}/comments`;
  const refused = await desk.post<ErrorBody>(path, { text: "x", internal: true }, as("cem"));
  assertEquals([refused.status, refused.body.errors?.internal?.kind], [400, "unknown"]);
  await desk.created(path, { text: "x" }, as("cem"));
  const stored = await desk.read<Row[]>(path, as("ada"));
  assertEquals(stored.map(({ internal }) => internal), [false, true, false]);
});

test("a ticket is opened, assigned and closed, each by those who may", async () => {
  await using desk = await openDesk();
  const body = { title: "New", state: "closed", organisation: "dune", agent: "bob", note: "n" };
  const { body: { errors = {} } } = await desk.post<ErrorBody>("/tickets", body, as("cem"));
  assertEquals(Object.entries(errors).map(([name, { kind }]) => [name, kind]), [
    ["state", "readonly"],
    ["organisation", "readonly"],
    ["agent", "readonly"],
    ["note", "unknown"],
  ]);
  const { _id, ...ticket } = await desk.created("/tickets", { title: "New" }, as("cem"));
  assertEquals(ticket, { title: "New", state: "open", organisation: "acme", __v: 0 });
  const path = `/tickets/${_id}`;
  assertEquals((await desk.post(`${path}/assign`, { agent: "bob" }, as("cem"))).status, 403);
  assertEquals((await desk.post(`${path}/assign`, { agent: "cem" }, as("ada"))).status, 400);
  const assigned = await desk.post(`${path}/assign`, { agent: "bob" }, as("ada"));
  assertEquals([assigned.status, assigned.body.agent], [200, "bob"]);
  assertEquals((await desk.post(`${path}/close`, { reason: "done" }, as("dee"))).status, 404);
  const stale = as("cem", { "if-match": '"0"' });
  assertEquals((await desk.post(`${path}/close`, { reason: "done" }, stale)).status, 412);
  const closed = await desk.post(`${path}/close`, { reason: "done" }, as("cem"));
  assertEquals([closed.status, closed.body.state, closed.body.reason], [200, "closed", "done"]);
  assertEquals((await desk.post(`${path}/close`, { reason: "done" }, as("cem"))).status, 409);
});

test("a report counts what its reader may see", async () => {
  await using desk = await openDesk();
  await desk.post(`${desk.acme}/close`, { reason: "out" }, as("ada"));
  const read = (name: string) => desk.read<Row>("/tickets/report", as(name));
  assertEquals(await read("ada"), { open: 1, closed: 1 });
  assertEquals(await read("cem"), { open: 0, closed: 1 });
  assertEquals(await read("dee"), { open: 1, closed: 0 });
});

test("its typed client closes a ticket", async () => {
  await using desk = await openDesk();
  const api = connect(desk.url, { headers: { authorization: "Bearer cem" } });
  const tickets = api.resource<Ticket>("/tickets");
  const { items: [ticket] } = await tickets.all();
  const closed = await tickets.action<typeof close>("close", String(ticket?._id), {
    reason: "done",
  });
  assertEquals([closed.state, closed.reason, closed.note], ["closed", "done", undefined]);
  const counts = await tickets.action<typeof report>("report", undefined, { method: "GET" });
  assertEquals(counts, { open: 0, closed: 1 });
});
