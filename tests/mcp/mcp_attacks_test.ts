import { assert, assertEquals } from "@std/assert";
import express from "express";
import fc from "fast-check";
import { action, all, create, Framework, FrameworkModel, getModel, one, prop } from "../../mod.ts";
import { remove, removeAll, replace, rest, update, updateAll } from "../../mod.ts";
import type { FrameworkRequest, ModelQuery } from "../../mod.ts";
import { mcp } from "@mongrove/mongrove/mcp";
import { casesOf } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import { serveTools } from "./mcp.ts";

/** What has run, as the guards of operations have seen it. */
const ran: string[] = [];

const watched = (req: FrameworkRequest) => {
  ran.push(`${req.baseUrl}${req.path.split("/")[1]} ${req.framework.operation}`);
  return true;
};
const guard = { preFetch: watched };
const secret = action("secret", {
  ...{ on: "all", method: "GET", preFetch: watched },
  run: (_req: FrameworkRequest, _query: ModelQuery<Memo>) => undefined,
});
const wipe = action("wipe", {
  ...{ on: "all", preFetch: watched },
  run: (_req: FrameworkRequest, _query: ModelQuery<Memo>) => undefined,
});
const open = action("open", {
  ...{ on: "one", preFetch: watched },
  run: (_req: FrameworkRequest, memo: object) => memo,
});

@rest({
  route: "/memos",
  methods: [
    all({ ...guard, page: { max: 10 } }),
    one(guard),
    create({ ...guard, many: 5 }),
    update(guard),
    remove(guard),
    removeAll(guard),
    updateAll({ ...guard, fields: ["text"] }),
    replace(guard),
    secret,
    wipe,
    open,
  ],
})
class Memo extends FrameworkModel {
  @prop({ required: true })
  text!: string;

  @prop({ hidden: true, default: "hidden" })
  pin!: string;
}

@rest({ route: "/vaults", methods: [all(guard), one(guard), update(guard), removeAll(guard)] })
class Vault extends FrameworkModel {
  @prop()
  text?: string;
}

async function openMemos() {
  const api = Framework.initialize({ models: [Memo, Vault] });
  const app = express();
  app.use(express.json());
  const operations = ["all", "one", "create", "update"] as const;
  app.use("/mcp", mcp(api, { expose: [{ model: Memo, operations, actions: ["open"] }] }));
  app.use(Framework.errors());
  const served = await serveTools(app);
  const [memo] = await getModel(Memo).create([{ text: "a" }, { text: "b" }]);
  await getModel(Vault).create({ text: "v" });
  ran.length = 0;
  return { ...served, id: String(memo?._id) };
}

const EXPOSED = ["all", "one", "create", "update", "open"].map((name) => `/mcpmemos ${name}`);

const NAMES = [
  "Memo",
  "Vault",
  "memo",
  "__proto__",
  "constructor",
  "toString",
  "",
  "Memo/../Vault",
];
const TEXTS = [
  ...["", ".", "..", "../vaults", "..%2fvaults", "/", "//", "secret", "SECRET", "secret/", "wipe"],
  ...["?q={}", "x?q={}", "#", "%", "%2f", "%00", "\0", "\ud800", "\r\nx: y", "a\\..\\vaults"],
  ...[
    "/mcp/vaults",
    "http://other/vaults",
    ":id",
    "$&",
    "__proto__",
    "constructor",
    "a".repeat(9000),
  ],
];
const ODD = [null, 0, -1, 1e9, 1.5, true, [], ["a"], {}, { $ne: null }, { length: 1 }, [[]]];
const VALUE = fc.oneof(fc.constantFrom(...TEXTS), fc.constantFrom(...ODD));
const ARGUMENTS = fc.dictionary(
  fc.constantFrom(
    ...["model", "action", "id", "q", "sort", "limit", "after", "skip", "select", "search"],
    ...[
      "populate",
      "count",
      "body",
      "ifMatch",
      "idempotencyKey",
      "route",
      "method",
      "url",
      "headers",
    ],
  ),
  VALUE,
  { maxKeys: 1 },
);
const CALL = fc.tuple(
  fc.constantFrom("describe", "list", "read", "create", "update", "action"),
  fc.oneof(fc.constant("Memo"), fc.constant("Memo"), fc.constantFrom(...NAMES)),
  fc.oneof(fc.constant("open"), fc.constantFrom("secret", "wipe", "removeAll", ...NAMES)),
  fc.oneof(fc.constantFrom(...TEXTS), fc.constant(undefined)),
  ARGUMENTS,
);

test("hostile arguments reach nothing that is not exposed", async () => {
  await using memos = await openMemos();
  const statuses = new Set<unknown>();
  await fc.assert(
    fc.asyncProperty(CALL, async ([name, model, action, id, others]) => {
      const given = {
        ...name === "create" && { body: { text: "c" } },
        ...name === "update" && { body: { text: "d" } },
        ...name === "action" && { action },
      };
      const args = { ...others, ...given, model, ...id !== undefined && { id } };
      const { status, error } = await memos.call(name, args);
      statuses.add(status);
      assert(status === undefined || Number(status) < 500, JSON.stringify(args));
      assert(!JSON.stringify(error ?? {}).includes("pin"));
    }),
    { numRuns: casesOf(500, 250) },
  );
  assertEquals([...new Set(ran)].filter((each) => !EXPOSED.includes(each)), []);
  assert(ran.length > 50, `${ran.length} have run`);
  assertEquals([...statuses].includes(404), true);
  assertEquals((await getModel(Vault).find()).map(({ text }) => text), ["v"]);
  const texts = (await getModel(Memo).find()).map(({ text }) => text);
  assertEquals(texts.filter((text) => text === "d" || text === ""), []);
  assertEquals(texts.filter((text) => text === "a" || text === "b").sort(), ["a", "b"]);
});

test("an identifier is not a part of a path", async () => {
  await using memos = await openMemos();
  const { id: own } = memos;
  const parts = [`${own}/`, `${own}?q={}`, `${own}#`, `../${own}`, `${own}/open`];
  const names = ["secret", "Secret", "secret/", "./secret", "%73ecret", "..", "../vaults"];
  for (const id of [...names, ...parts]) {
    const { status, error } = await memos.call("read", { model: "Memo", id });
    assertEquals([status, (error as { code: string }).code], [404, "NOT_FOUND"], id);
  }
  for (const id of ["", " "]) {
    const told = await memos.call("update", { model: "Memo", id, body: { text: "all" } });
    assert(told.status === 400 || told.status === 404, id);
  }
  assertEquals(await getModel(Memo).countDocuments({ text: "all" }), 0);
  assertEquals(ran.filter((each) => !EXPOSED.includes(each)), []);
});

test("a creation takes one entity, whatever its route takes", async () => {
  await using memos = await openMemos();
  const told = await memos.call("create", { model: "Memo", body: [{ text: "x" }, { text: "y" }] });
  assertEquals([told.status, (told.error as { argument: string }).argument], [400, "body"]);
  assertEquals(ran, []);
});

test("what is nested deeper than calls can be is refused", async () => {
  await using memos = await openMemos();
  const depth = 45_000;
  const deep = `{"$or":${"[".repeat(depth)}${"]".repeat(depth)}}`;
  for (const [tool, rest] of [["list", `"q":${deep}`], ["create", `"body":${deep}`]]) {
    const call =
      `"method":"tools/call","params":{"name":"${tool}","arguments":{"model":"Memo",${rest}}}`;
    const reply = await fetch(`${memos.url}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", "mcp-protocol-version": "2025-11-25" },
      body: `{"jsonrpc":"2.0","id":1,${call}}`,
    });
    const { result } = await reply.json();
    assertEquals([reply.status, result.structuredContent.status], [200, 400]);
  }
});

test("names of prototypes are no arguments", async () => {
  await using memos = await openMemos();
  for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty"]) {
    const args = JSON.parse(`{"model":"Memo","${name}":"x"}`);
    const { status, error } = await memos.call("list", args);
    assertEquals([status, (error as { argument: string }).argument], [400, name]);
    assertEquals((await memos.call("list", { model: name })).status, 400);
    const run = { model: "Memo", action: name, id: memos.id };
    assertEquals((await memos.call("action", run)).status, 400);
  }
  assertEquals(ran, []);
});
