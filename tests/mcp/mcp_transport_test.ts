import { assert, assertEquals } from "@std/assert";
import express from "express";
import { all, Framework, FrameworkModel, getModel, one, prop, rest } from "../../mod.ts";
import { mcp } from "@mongrove/mongrove/mcp";
import { test } from "../harness/testing.ts";
import { requestRaw } from "../harness/request_raw.ts";
import { growth } from "../support/growth.ts";
import { serveTools } from "./mcp.ts";

const waiting: (() => void)[] = [];

@rest({
  route: "/notes",
  methods: [
    all({ page: { max: 10 } }),
    one({
      // The first caller waits for the second one.
      async preFetch() {
        const { promise, resolve } = Promise.withResolvers<void>();
        if (waiting.push(resolve) === 2) { for (const go of waiting.splice(0).reverse()) go(); }
        await promise;
        return true;
      },
      postFetch: ({ headers }, note) => note.owner === headers["x-user"] ? note : null,
    }),
  ],
})
class Note extends FrameworkModel {
  @prop()
  owner?: string;
}

async function openNotes() {
  const api = Framework.initialize({ models: [Note] });
  const app = express();
  app.use(express.json({ limit: "10mb" }));
  const operations = ["all", "one"] as const;
  const origins = ["https://assistant.example"];
  app.use("/mcp", mcp(api, { expose: [{ model: Note, operations }], origins }));
  app.use(Framework.errors());
  const served = await serveTools(app);
  const [ann, bob] = await getModel(Note).create([{ owner: "ann" }, { owner: "bob" }]);
  return { ...served, ids: { ann: String(ann?._id), bob: String(bob?._id) } };
}

test("two callers with one JSON-RPC id get their own answers", async () => {
  await using notes = await openNotes();
  const { ids } = notes;
  for (const id of [7, "7"]) {
    const read = async (user: "ann" | "bob") => {
      const params = { name: "read", arguments: { model: "Note", id: ids[user] } };
      const message = { jsonrpc: "2.0", id, method: "tools/call", params };
      const { body, text } = await notes.rpc(message, { "x-user": user });
      assertEquals(body.id, id);
      assert(text.includes(ids[user]) && text.includes(`"${user}"`), text);
      assert(!text.includes(ids[user === "ann" ? "bob" : "ann"]), text);
    };
    await Promise.all([read("ann"), read("bob")]);
  }
});

test("a foreign Host with an equal Origin is refused", async () => {
  await using notes = await openNotes();
  const own = new URL(notes.url).host;
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  const statusOf = async (host: string, origin?: string) => {
    const lines = [
      ...["POST /mcp HTTP/1.1", `Host: ${host}`, "Connection: close"],
      ...["Content-Type: application/json", "MCP-Protocol-Version: 2025-11-25"],
      ...[`Content-Length: ${body.length}`, ...origin === undefined ? [] : [`Origin: ${origin}`]],
    ];
    return (await requestRaw(notes.url, `${lines.join("\r\n")}\r\n\r\n${body}`)).status;
  };
  const foreign = ["evil.example", `evil.example:${notes.url.split(":")[2]}`, own];
  for (const host of foreign) {
    for (const scheme of ["http", "https"]) {
      assertEquals([host, await statusOf(host, `${scheme}://${host}`)], [host, 403]);
    }
  }
  assertEquals(await statusOf("evil.example", "null"), 403);
  assertEquals(await statusOf(own, "https://assistant.example"), 200);
  assertEquals(await statusOf(own), 200);
});

test("names of braces take a time that is linear in their length", async () => {
  await using notes = await openNotes();
  const calls = [
    (text: string) => ({ name: text, arguments: {} }),
    (text: string) => ({ name: "describe", arguments: { model: text } }),
    (text: string) => ({ name: "describe", arguments: { [text]: 1 } }),
    (text: string) => ({ name: "list", arguments: { model: "Note", sort: [text], after: text } }),
  ];
  for (const paramsOf of calls) {
    for (const braces of ["{", "}", "{}", "{*}"]) {
      const times = await growth(100_000, async (size) => {
        const params = paramsOf(braces.repeat(size / braces.length));
        const { status } = await notes.rpc({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
        assertEquals(status, 200);
      });
      assert(times < 12, `${times} with ${braces}`);
    }
  }
});
