import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { withDatabase } from "../harness/database_uri.ts";
import { startMongo } from "../harness/mongo/start_mongo.ts";
import { test } from "../harness/testing.ts";
import { runCommand } from "./support/run_command.ts";
import { openWorkspace } from "./support/workspace.ts";

const { denoProject, denoEnv, nodeProject, nodes } = openWorkspace();

/** Serves tools, calls them, and ends by itself. */
const MAIN = `import process from "node:process";
import express from "express";
import mongoose from "mongoose";
import { all, create, Framework, FrameworkModel, one, prop, rest } from "@mongrove/mongrove";
import { mcp } from "@mongrove/mongrove/mcp";
import { serve } from "@mongrove/mongrove/testing";

@rest({ route: "/notes", methods: [all(), one(), create()] })
class Note extends FrameworkModel {
  @prop()
  text?: string;
}

await mongoose.connect(process.env.MONGODB_URI ?? "");
const app = express();
app.use(express.json());
const api = Framework.initialize({ models: [Note] });
app.use("/mcp", mcp(api, { expose: [{ model: Note, operations: ["all", "one", "create"] }] }));
const served = await serve(app);
const call = async (name: string, args: object) => {
  const params = { name, arguments: { model: "Note", ...args } };
  const answer = await fetch(served.url + "/mcp", {
    method: "POST",
    headers: { "content-type": "application/json", "mcp-protocol-version": "2025-11-25" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  return (await answer.json()).result.structuredContent;
};
const { entity } = await call("create", { body: { text: "hello" } });
console.log((await call("read", { id: entity._id })).entity.text);
console.log((await call("read", { id: "x" })).status, (await call("list", { q: { $where: 1 } })).status);
console.log((await call("list", { limit: 1 })).entities.length);
await served.stop();
await mongoose.disconnect();
`;

const RUN = ["run", "--quiet", "--no-prompt", "--allow-env", "--allow-net", "--allow-sys"];

const RUNTIMES = [
  { name: "Deno", cwd: denoProject, command: [Deno.execPath(), ...RUN] },
  ...nodes.map(({ version, path }) => ({
    ...{ name: `Node ${version}`, cwd: nodeProject },
    command: [path, "--import", "tsx"],
  })),
];

for (const { name, cwd, command: [program = "", ...args] } of RUNTIMES) {
  test(`${name} serves tools with the package from JSR, and ends`, async () => {
    await using mongo = await startMongo();
    await Deno.writeTextFile(join(cwd, "tools.ts"), MAIN);
    const env = { ...denoEnv, MONGODB_URI: withDatabase(mongo.uri, "reach") };
    const output = await runCommand(program, [...args, "tools.ts"], { cwd, env });
    assertEquals(output.trim().split("\n"), ["hello", "404 400", "1"]);
  });
}
