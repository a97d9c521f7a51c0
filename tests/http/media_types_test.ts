import { assertEquals } from "@std/assert";
import { all, create, FrameworkModel, getModel, one, prop, rest, update } from "../../mod.ts";
// @ts-types="express-types"
import express from "express";
import { test } from "../harness/testing.ts";
import { mountLive, openLive } from "../features/live/live.ts";
import { as, serveTools } from "../mcp/mcp.ts";
import { type ErrorBody, mount } from "../support/support.ts";
import { buildApp } from "../../examples/helpdesk/app.ts";

@rest({
  route: "/notes",
  methods: [
    all({ formats: ["ndjson", "csv"] }),
    one(),
    create({ many: 4, atomic: false, formats: ["ndjson"] }),
    update(),
  ],
})
class Note extends FrameworkModel {
  @prop({ required: true })
  title!: string;
}

const PARAMETERS = [
  "",
  "; charset=utf-8",
  ";charset=UTF-8",
  '; charset="utf-8"',
  " ; Charset=utf-8 ; version=2",
  '; note="a,b;c"',
  ";",
];

const PRESENT = "; charset=utf-8; header=present";

const FORMATS: readonly [string, string][] = [
  ["application/json", "application/json; charset=utf-8"],
  ["application/x-ndjson", "application/x-ndjson"],
  ["text/csv", `text/csv${PRESENT}`],
  ["text/*", `text/csv${PRESENT}`],
  ["*/*", "application/json; charset=utf-8"],
];

test("a list with formats ignores the parameters of what Accept names", async () => {
  await using app = await mount([Note]);
  await getModel(Note).create({ title: "a" });
  for (const [type, sent] of FORMATS) {
    for (const parameters of [...PARAMETERS, PRESENT]) {
      const accept = `${type}${parameters}`;
      const { status, headers } = await app.get("/notes", { headers: { accept } });
      assertEquals([accept, status, headers.get("content-type")], [accept, 200, sent]);
    }
  }
});

test("weights behind other parameters count, and a profile is no format of the list", async () => {
  await using app = await mount([Note]);
  const get = (accept: string) => app.get<ErrorBody>("/notes", { headers: { accept } });
  const weighed = await get(
    "application/json; charset=utf-8; q=0.1, text/csv; charset=utf-8; q=0.2",
  );
  assertEquals(weighed.headers.get("content-type"), `text/csv${PRESENT}`);
  for (const refused of ['application/json; profile="x"', "application/json; charset=utf-8; q=0"]) {
    const { status, body } = await get(refused);
    assertEquals([refused, status, body.code], [refused, 406, "NOT_ACCEPTABLE"]);
  }
});

test("errors are problem details whatever parameters the name of their type has", async () => {
  await using app = await mount([Note]);
  for (const parameters of PARAMETERS) {
    const headers = { accept: `application/problem+json${parameters}` };
    const { status, headers: sent } = await app.get("/notes/none", { headers });
    assertEquals([status, sent.get("content-type")], [404, "application/problem+json"]);
  }
});

const BODIES: readonly [string, string, string, number][] = [
  ["POST", "application/json", '{"title":"a"}', 201],
  ["PATCH", "application/json", '{"title":"b"}', 200],
  ["PATCH", "application/merge-patch+json", '{"title":"b"}', 200],
  ["POST", "application/x-ndjson", '{"title":"a"}\n', 207],
];

test("bodies are read whatever parameters their type has", async () => {
  await using app = await mount([Note], {
    prepare: (host) => host.use(express.json({ type: ["json", "+json"] })),
  });
  const { _id } = await app.created("/notes", { title: "first" });
  for (const [method, type, text, expected] of BODIES) {
    for (const parameters of PARAMETERS) {
      const headers = { "content-type": `${type}${parameters}` };
      const path = method === "PATCH" ? `/notes/${_id}` : "/notes";
      const response = await fetch(`${app.url}${path}`, { method, headers, body: text });
      assertEquals([headers, response.status], [headers, expected], await response.text());
    }
  }
});

test("a live list opens whatever parameters the name of its type has", async () => {
  @rest({ route: "/live", methods: [all({ live: true, formats: ["csv"], page: { max: 5 } })] })
  class Live extends Note {}
  await using app = await mountLive([Live]);
  for (const parameters of PARAMETERS) {
    await using live = await openLive(`${app.url}/live`, {
      accept: `text/event-stream${parameters}`,
    });
    assertEquals(live.answer.headers.get("content-type"), "text/event-stream");
  }
});

test("tools of assistants take a body whatever parameters its type has", async () => {
  await using served = await serveTools(buildApp());
  const message = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  for (const parameters of PARAMETERS) {
    const headers = { ...as("ann"), "content-type": `application/json${parameters}` };
    const { status } = await served.rpc(message, headers);
    assertEquals([parameters, status], [parameters, 200]);
  }
});
