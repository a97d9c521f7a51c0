import { assert, assertEquals } from "@std/assert";
import express from "express";
import fc from "fast-check";
import { all, Framework, FrameworkModel, getModel, rest } from "../../mod.ts";
import { Organisation } from "../../examples/helpdesk/organisation.ts";
import { Ticket } from "../../examples/helpdesk/ticket.ts";
import { ACME, DUNE } from "../../examples/helpdesk/users.ts";
import { mcp } from "@mongrove/mongrove/mcp";
import { casesOf } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import { as, openDesk, type RpcAnswer, serveTools, type ToolResult } from "./mcp.ts";
import { type ErrorBody, NOBODY } from "../support/support.ts";

const READERS = ["ada", "cem", "dee", "eve", "nobody"];

/** The parameters of a list, as a tool takes them and as a URL does. */
const PATHS = [
  "state",
  "title",
  "agent",
  "note",
  "organisation",
  "comments.text",
  "_id",
  "nothing",
];
const TEXTS = ["Printer on fire", "Sand", "open", "closed", "bob", "third", ""];
const FAIR = fc.record({
  q: fc.dictionary(
    fc.constantFrom("state", "title", "agent"),
    fc.constantFrom("open", "Fire 1", { $ne: "closed" }, { $regex: "^Fire" }, { $exists: true }),
    { maxKeys: 1 },
  ),
  sort: fc.constantFrom(["title"], ["-state", "title"], []),
  limit: fc.constantFrom(1, 4, 50),
  search: fc.constantFrom("fire", "third"),
}, { requiredKeys: [] });
const HOSTILE = fc.record({
  q: fc.dictionary(
    fc.constantFrom(...PATHS, "$or", "$where"),
    fc.oneof(
      fc.constantFrom(...TEXTS, null, 5, true),
      fc.dictionary(
        fc.constantFrom("$eq", "$ne", "$in", "$regex", "$exists", "$function"),
        fc.oneof(fc.constantFrom(...TEXTS, true), fc.constant(["open", "closed"])),
        { maxKeys: 2 },
      ),
    ),
    { maxKeys: 2 },
  ),
  sort: fc.array(fc.constantFrom("title", "-state", "note", "-_id", "a,b"), { maxLength: 2 }),
  limit: fc.constantFrom(1, 2, 3, 50, 51, 0, -1),
  after: fc.constantFrom(NOBODY, "x", "../../organisations"),
  skip: fc.constantFrom(0, 1, 99),
  search: fc.constantFrom("fire", "third", "a b c", "$where"),
  select: fc.array(fc.constantFrom("title", "note"), { minLength: 1, maxLength: 2 }),
}, { requiredKeys: [] });

const LISTS = fc.oneof(FAIR, HOSTILE);

function urlOf({ q, limit = 50, ...others }: Record<string, unknown>): string {
  const query = new URLSearchParams({ limit: String(limit) });
  if (q !== undefined) query.set("q", JSON.stringify(q));
  for (const [name, value] of Object.entries(others)) {
    if (!Array.isArray(value) || value.length > 0) query.set(name, String(value));
  }
  return `/tickets?${query}`;
}

test("a list tells each reader what his own request tells", async () => {
  await using desk = await openDesk();
  for (let i = 0; i < 7; i++) {
    const state = i % 2 === 0 ? "open" : "closed";
    const organisation = i % 3 === 0 ? ACME : DUNE;
    const rest = { title: `Fire ${i}`, state, note: `third ${i}` };
    await getModel(Ticket).create({ desk: "north", organisation, ...rest });
  }
  const seen = new Set<unknown>();
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...READERS), LISTS, async (reader, args) => {
      const { status, body } = await desk.get(urlOf(args), { headers: as(reader) });
      const { entities, ...told } = await desk.call(
        "list",
        { model: "Ticket", ...args },
        as(reader),
      );
      seen.add(status);
      if (status === 200) assertEquals(entities, body);
      else assertEquals(told, { status, error: body });
    }),
    { numRuns: casesOf(150) },
  );
  assertEquals([...seen].sort(), [200, 400, 401]);
});

test("an entity is told to each reader as to his own request", async () => {
  await using desk = await openDesk();
  const [organisation] = await getModel(Organisation).find({ key: "dune" });
  const ids = [desk.acme, desk.dune, NOBODY, String(organisation?._id), "x", "%2e%2e", "ünï"];
  for (const reader of READERS) {
    for (const id of ids) {
      for (const [model, route] of [["Ticket", "tickets"], ["Organisation", "organisations"]]) {
        const path = `/${route}/${encodeURIComponent(id)}`;
        const { status, body, headers } = await desk.get(path, { headers: as(reader) });
        const told = await desk.call("read", { model, id }, as(reader));
        const etag = headers.get("etag");
        assertEquals(told, status === 200 ? { entity: body, etag } : { status, error: body });
      }
    }
  }
  const foreign = await desk.call("read", { model: "Ticket", id: desk.dune }, as("cem"));
  assertEquals(foreign.status, 404);
});

@rest({ route: "/líneas", methods: [all()] })
class Line extends FrameworkModel {}

test("a list without pages is read 50 at a time, to its end", async () => {
  const api = Framework.initialize({ models: [Line] });
  const app = express().use(express.json(), api);
  app.use("/mcp", mcp(api, { expose: [{ model: Line }] }));
  await using served = await serveTools(app);
  await getModel(Line).insertMany(Array.from({ length: 120 }, () => ({})));
  const told: unknown[] = [];
  const sizes: number[] = [];
  let next: unknown = {};
  while (typeof next === "object") {
    const page = await served.call("list", { model: "Line", ...next });
    const entities = page.entities as unknown[];
    sizes.push(entities.length);
    told.push(...entities);
    next = page.next;
  }
  assertEquals(sizes, [50, 50, 20]);
  assertEquals(told, (await served.get("/líneas")).body);
  const { status } = await served.call("list", { model: "Line", limit: 51 });
  assertEquals(status, 400);
});

test("a list tells the total, where its route counts", async () => {
  await using desk = await openDesk();
  await getModel(Ticket).insertMany(
    Array.from({ length: 60 }, () => ({ desk: "north", title: "t", organisation: ACME })),
  );
  const told = await desk.call("list", { model: "Ticket", count: true }, as("cem"));
  assertEquals([(told.entities as unknown[]).length, told.total], [50, 61]);
});

test("writes and actions go through the hooks and rights of their caller", async () => {
  await using desk = await openDesk();
  const more = { title: "New", note: "n", organisation: String(DUNE), state: "closed" };
  const refused = await desk.call("create", { model: "Ticket", body: more }, as("cem"));
  const { errors = {} } = refused.error as ErrorBody;
  assertEquals([refused.status, Object.keys(errors)], [400, ["note", "organisation", "state"]]);
  const body = { title: "New" };
  const { entity } = await desk.call("create", { model: "Ticket", body }, as("cem"));
  const { _id: id, ...made } = entity as Record<string, unknown>;
  const stamps = { openedBy: "cem", updatedBy: "cem", desk: "north", __v: 0 };
  assertEquals(made, { title: "New", organisation: String(ACME), state: "open", ...stamps });
  assertEquals((await getModel(Ticket).findById(id))?.note, undefined);
  const read = await desk.call("read", { model: "Ticket", id }, as("cem"));
  const change = { model: "Ticket", id, body: { title: "Newer" }, ifMatch: read.etag };
  const changed = await desk.call("update", change, as("cem"));
  assertEquals((changed.entity as Record<string, unknown>).title, "Newer");
  assertEquals((await desk.call("update", change, as("cem"))).status, 412);
  const { ifMatch: _, ...blind } = change;
  assertEquals((await desk.call("update", blind, as("dee"))).status, 404);
  const wrong = await desk.call("update", { ...blind, body: { title: null } }, as("cem"));
  assertEquals([wrong.status, (wrong.error as Record<string, unknown>).code], [400, "BAD_DATA"]);
  const close = { model: "Ticket", action: "close", id, body: { reason: "done" } };
  assertEquals((await desk.call("action", close, as("dee"))).status, 404);
  const closed = await desk.call("action", close, as("cem"));
  assertEquals((closed.answer as Record<string, unknown>).reason, "done");
  assertEquals((await desk.call("action", close, as("cem"))).status, 409);
  const report = { model: "Ticket", action: "report" };
  assertEquals(await desk.call("action", report, as("dee")), { answer: { open: 1, closed: 0 } });
});

test("describe tells each reader the fields that he may see", async () => {
  await using desk = await openDesk();
  const describe = (reader: string, model = "Ticket") =>
    desk.call("describe", { model }, as(reader));
  const agents = await describe("ada");
  const customers = await describe("cem");
  assert(JSON.stringify(agents).includes('"note"'));
  assert(!JSON.stringify(customers).includes('"note"'));
  assert(JSON.stringify(await describe("ada", "Organisation")).includes('"plan"'));
  assert(!JSON.stringify(await describe("cem", "Organisation")).includes('"plan"'));
  const { status, body } = await desk.get("/tickets");
  assertEquals(await describe("nobody"), { status, error: body });
  assertEquals(await desk.call("describe", {}, as("cem")), {
    models: [
      {
        model: "Ticket",
        operations: ["all", "one", "create", "update"],
        actions: ["close", "report"],
      },
      { model: "Organisation", operations: ["all", "one"] },
    ],
  });
});

test("describe tells what tools take", async () => {
  await using desk = await openDesk();
  const { fields, operations } = await desk.call("describe", { model: "Ticket" }, as("cem"));
  type Told = { operation?: string; action?: string } & Record<string, unknown>;
  const told = (name: string) =>
    (operations as Told[]).find((each) => name === (each.operation ?? each.action));
  const names = (list: unknown) => (list as { name: string }[]).map(({ name }) => name);
  assertEquals(names(fields), [
    ...["_id", "desk", "title", "organisation", "state", "reason", "agent", "openedBy"],
    ...["updatedBy", "__v"],
  ]);
  assertEquals(told("all")?.arguments, [
    { name: "q", required: false },
    { name: "limit", required: false, default: 50, maximum: 50 },
    { name: "skip", required: false },
    { name: "after", required: false },
    { name: "sort", required: false, fields: ["_id", "title", "state"] },
    { name: "search", required: false },
    { name: "count", required: false },
  ]);
  const [filter] = told("all")?.filter as { paths: string[]; operators: string[] }[];
  assertEquals(filter?.paths, ["title", "state", "agent"]);
  assert(filter?.operators.includes("$regex"));
  assertEquals(told("one")?.arguments, []);
  assertEquals(names(told("create")?.body), ["title"]);
  assertEquals(names(told("close")?.body), ["reason"]);
  assertEquals(names(told("close")?.arguments), ["ifMatch"]);
  assertEquals(names(told("report")?.answer).slice(1, 3), ["open", "closed"]);
});

test("a filter with a number that the parser may have rounded is refused", async () => {
  await using desk = await openDesk();
  for (const number of ["9007199254740993", "1e400"]) {
    const call = { name: "list", arguments: { model: "Ticket", q: { title: "NUMBER" } } };
    const message = { jsonrpc: "2.0", id: 7, method: "tools/call", params: call };
    const { body } = await desk.send<RpcAnswer<ToolResult>>("POST", "/mcp", {
      raw: JSON.stringify(message).replace('"NUMBER"', number),
      headers: {
        "content-type": "application/json",
        "mcp-protocol-version": "2025-11-25",
        ...as("ada"),
      },
    });
    const { status, error } = body.result.structuredContent;
    assertEquals([status, (error as { argument: string }).argument], [400, "q"]);
  }
});
