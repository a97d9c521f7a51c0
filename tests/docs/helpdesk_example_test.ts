import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { getModel } from "@mongrove/mongrove";
import { connect } from "@mongrove/mongrove/client";
import type { close, report } from "../../examples/helpdesk/actions.ts";
import { buildApp } from "../../examples/helpdesk/app.ts";
import { Organisation } from "../../examples/helpdesk/organisation.ts";
import { seed } from "../../examples/helpdesk/seed.ts";
import { Ticket } from "../../examples/helpdesk/ticket.ts";
import { ACME, DUNE } from "../../examples/helpdesk/users.ts";
import { openDatabase } from "../harness/database.ts";
import { longTest, test } from "../harness/testing.ts";
import { toolsOf } from "../mcp/mcp.ts";
import type { Client } from "../support/client.ts";
import { sendPrinted } from "../support/printed_requests.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { asQuery, type ErrorBody, start } from "../support/support.ts";

const as = (name: string, headers = {}) => ({
  headers: { authorization: `Bearer ${name}`, ...headers },
});

async function openDesk() {
  const database = await openDatabase(await sharedReplicaSet());
  await Promise.all([Ticket, Organisation].map((each) => getModel(each).init()));
  await seed();
  const served = await start(buildApp());
  const idOf = async (filter: object) =>
    String((await getModel(Ticket).findOne(filter).orFail())._id);
  return {
    ...served,
    acme: `/tickets/${await idOf({ organisation: ACME })}`,
    dune: `/tickets/${await idOf({ organisation: DUNE })}`,
    south: `/tickets/${await idOf({ desk: "south" })}`,
    async [Symbol.asyncDispose]() {
      await served.stop();
      await database[Symbol.asyncDispose]();
    },
  };
}

type Row = Record<string, unknown>;

async function makeKey({ created }: Client, user: string, scopes: readonly string[]) {
  return await created("/keys", { name: "program", scopes }, as(user)) as { readonly key: string };
}

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

test("a customer sets only the title of a ticket", async () => {
  await using desk = await openDesk();
  const body = {
    ...{ title: "New", desk: "south", organisation: String(DUNE), state: "closed" },
    ...{ agent: "bob", note: "n", openedBy: "eve" },
  };
  const { body: { errors = {} } } = await desk.post<ErrorBody>("/tickets", body, as("cem"));
  assertEquals(Object.entries(errors).map(([name, { kind }]) => [name, kind]), [
    ["desk", "readonly"],
    ["organisation", "readonly"],
    ["state", "readonly"],
    ["agent", "readonly"],
    ["note", "unknown"],
    ["openedBy", "readonly"],
  ]);
});

test("a ticket is opened, assigned and closed, each by those who may", async () => {
  await using desk = await openDesk();
  const { _id, ...ticket } = await desk.created("/tickets", { title: "New" }, as("cem"));
  const stamps = { openedBy: "cem", updatedBy: "cem", desk: "north", __v: 0 };
  assertEquals(ticket, { title: "New", organisation: String(ACME), state: "open", ...stamps });
  const path = `/tickets/${_id}`;
  assertEquals((await desk.post(`${path}/assign`, { agent: "bob" }, as("cem"))).status, 403);
  for (const agent of ["cem", "eve"]) {
    assertEquals((await desk.post(`${path}/assign`, { agent }, as("ada"))).status, 400);
  }
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

test("desks do not meet, and keys of organisations are unique inside of a desk", async () => {
  await using desk = await openDesk();
  const tickets = await desk.read<Row[]>("/tickets", as("eve"));
  assertEquals(tickets.map(({ title }) => title), ["Penguins in the cellar"]);
  for (const [path, user] of [[desk.acme, "eve"], [desk.south, "ada"], [desk.south, "cem"]]) {
    for (const below of ["", "/comments", "/history"]) {
      assertEquals((await desk.get(`${path}${below}`, as(user ?? ""))).status, 404);
    }
    assertEquals((await desk.patch(path ?? "", { title: "x" }, as(user ?? ""))).status, 404);
    assertEquals((await desk.delete(path ?? "", as(user ?? ""))).status, 404);
  }
  const foreign = { title: "x", organisation: String(ACME) };
  assertEquals((await desk.post("/tickets", foreign, as("eve"))).status, 400);
  const dune = { key: "dune", name: "Dune" };
  assertEquals((await desk.post("/organisations", dune, as("ada"))).status, 409);
  assertEquals((await desk.created("/organisations", dune, as("eve"))).desk, "south");
});

test("the history of a ticket tells who has done what, and a customer sees no notes in it", async () => {
  await using desk = await openDesk();
  await desk.created(`${desk.acme}/comments`, { text: "x" }, as("cem"));
  const comments = await desk.read<Row[]>(`${desk.acme}/comments`, as("ada"));
  assertEquals(comments.at(-1)?.author, "cem");
  await desk.patch(desk.acme, { title: "Printer out", note: "calm" }, as("ada"));
  const read = async (user: string) =>
    (await desk.read<Row[]>(`${desk.acme}/history`, as(user)))
      .map(({ actor, operation, changed }) => [actor, operation, changed]);
  assertEquals(await read("ada"), [
    ["ada", "update", ["title", "note", "updatedBy"]],
    ["cem", "comments.create", ["updatedBy"]],
  ]);
  assertEquals((await read("cem"))[0], ["ada", "update", ["title", "updatedBy"]]);
  const reverted = await desk.post(`${desk.acme}/revert`, { version: 1 }, as("cem"));
  assertEquals([reverted.status, reverted.body.title], [200, "Printer on fire"]);
  assertEquals((await desk.read<Row>(desk.acme, as("ada"))).note, "calm");
});

test("whoever sees a ticket reads and stores its files, and agents remove them", async () => {
  await using desk = await openDesk();
  const parts = `${desk.acme}/attachments`;
  const { _id } = await desk.created(parts, { title: "Photo" }, as("cem"));
  const path = `${parts}/${_id}`;
  const send = async (user: string, method: string, body?: string, type = "text/plain") => {
    const { headers } = as(user, body === undefined ? {} : { "content-type": type });
    const init = { method, headers, ...body !== undefined && { body } };
    const response = await fetch(`${desk.url}${path}/file`, init);
    return [response.status, await response.text()];
  };
  assertEquals((await send("cem", "PUT", "a"))[0], 201);
  assertEquals((await send("cem", "PUT", "<p>", "text/html"))[0], 415);
  assertEquals(await send("ada", "GET"), [200, "a"]);
  for (const user of ["dee", "eve"]) {
    assertEquals([(await send(user, "GET"))[0], (await send(user, "PUT", "b"))[0]], [404, 404]);
  }
  assertEquals((await desk.delete(path, as("cem"))).status, 403);
  assertEquals((await desk.delete(path, as("ada"))).status, 204);
  assertEquals((await send("ada", "GET"))[0], 404);
});

test("a removed ticket is in the trash, which agents of its desk see and restore", async () => {
  await using desk = await openDesk();
  assertEquals((await desk.delete(desk.acme, as("cem"))).status, 204);
  assertEquals((await desk.get(desk.acme, as("ada"))).status, 404);
  assertEquals((await desk.get("/tickets?trash=only", as("cem"))).status, 400);
  assertEquals(await desk.read<Row[]>("/tickets?trash=only", as("eve")), []);
  const [ticket] = await desk.read<Row[]>("/tickets?trash=only", as("ada"));
  assertEquals([ticket?.title, ticket?.deletedBy], ["Printer on fire", "cem"]);
  for (const [user, status] of [["cem", 404], ["eve", 404], ["ada", 200]] as const) {
    assertEquals((await desk.post(`${desk.acme}/restore`, {}, as(user))).status, status);
  }
  assertEquals((await desk.read<Row>(desk.acme, as("cem"))).title, "Printer on fire");
});

test("an organisation stays while it has tickets", async () => {
  await using desk = await openDesk();
  const path = `/organisations/${ACME}`;
  assertEquals((await desk.delete(path, as("cem"))).status, 403);
  assertEquals((await desk.delete(path, as("eve"))).status, 404);
  const { status, body } = await desk.delete<Row>(path, as("ada"));
  assertEquals([status, body.referredBy], [409, ["Ticket"]]);
  await desk.delete(desk.acme, as("ada"));
  assertEquals((await desk.delete(path, as("ada"))).status, 204);
  const restored = await desk.post<Row>(`${desk.acme}/restore`, {}, as("ada"));
  assertEquals([restored.status, restored.body.property], [409, "organisation"]);
});

test("a standalone server fails the start with a line that says what is needed", async () => {
  await using _database = await openDatabase();
  const { message } = assertThrows(() => buildApp(), Error);
  assertMatch(message, /"Ticket".*a standalone server without transactions; use a replica set/);
});

test("its document says what the trash and the history take", async () => {
  await using desk = await openDesk();
  type Parameter = { readonly name: string; readonly schema: unknown };
  type Described = Record<string, Record<string, { readonly parameters: readonly Parameter[] }>>;
  const { paths } = await desk.read<{ readonly paths: Described }>("/openapi.json");
  const schemaOf = (path: string, verb: string, name: string) =>
    paths[path]?.[verb]?.parameters.find((each) => each.name === name)?.schema;
  const trash = { type: "string", enum: ["only"] };
  assertEquals(schemaOf("/tickets", "get", "trash"), trash);
  assertEquals(schemaOf("/tickets/{id}", "delete", "trash"), trash);
  assertEquals(schemaOf("/tickets/{id}/history", "get", "trash"), trash);
  assertEquals(schemaOf("/tickets/{id}/history", "get", "limit"), {
    ...{ type: "integer", minimum: 1, maximum: 100, default: 20 },
  });
  assertEquals(schemaOf("/tickets", "post", "trash"), undefined);
});

/** The statuses of the requests that main.ts prints. */
const PRINTED = [
  ...[200, 200, 200, 404, 201, 200, 200, 200, 204, 200, 200, 409, 200, 200, 201, 200],
];

longTest("main.ts prints requests that answer as it says, and stops on SIGTERM", async () => {
  assertEquals(await sendPrinted("helpdesk"), PRINTED);
});

test("a key lists tickets as its owner, and closes none", async () => {
  await using desk = await openDesk();
  const { key } = await makeKey(desk, "ada", ["tickets:all"]);
  const { key: customers } = await makeKey(desk, "cem", ["**:*"]);
  const [agent, customer] = [key, customers].map((key) => ({ headers: { "x-api-key": key } }));
  assertEquals((await desk.read<Row[]>("/tickets", agent)).length, 2);
  const refused = await desk.post<Row>(`${desk.acme}/close`, { reason: "done" }, agent);
  assertEquals([refused.status, refused.body.scope], [403, "tickets:action.close"]);
  const [own, ...others] = await desk.read<Row[]>("/tickets", customer);
  assertEquals([own?.title, own?.note, others.length], ["Printer on fire", undefined, 0]);
  assertEquals((await desk.post(`${desk.acme}/assign`, { agent: "bob" }, customer)).status, 403);
  assertEquals((await desk.get("/tickets?trash=only", customer)).status, 400);
  const { openedBy } = await desk.created("/tickets", { title: "New" }, customer);
  assertEquals(openedBy, "cem");
  const { items } = await connect(desk.url, { apiKey: key }).resource<Ticket>("/tickets").all();
  assertEquals(items.length, 3);
});

test("an assistant works with a key as its token", async () => {
  await using desk = await openDesk();
  const { key } = await makeKey(desk, "ada", ["tickets:all"]);
  const { call, rpc } = toolsOf(desk);
  const { entities } = await call("list", { model: "Ticket" }, as(key).headers);
  assertEquals((entities as Row[]).length, 2);
  const id = desk.acme.split("/").at(-1);
  const given = { model: "Ticket", action: "close", id, body: { reason: "done" } };
  const { status, error } = await call("action", given, as(key).headers);
  assertEquals([status, Object(error).scope], [403, "tickets:action.close"]);
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  assertEquals((await rpc(list, as(`${key}0`).headers)).status, 401);
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
