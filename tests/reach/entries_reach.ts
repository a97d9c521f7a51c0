import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { openDatabase } from "../harness/database.ts";
import { test } from "../harness/testing.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { runCommand } from "./support/run_command.ts";
import { openWorkspace } from "./support/workspace.ts";

const { denoProject, denoEnv, nodeProject, nodes: [node] } = openWorkspace();

/** Serves the page, loads it and its script, and ends by itself. */
const ADMIN = `import process from "node:process";
import express from "express";
import { all, Framework, FrameworkModel, prop, rest } from "@mongrove/mongrove";
import { admin } from "@mongrove/mongrove/admin";
import { serve } from "@mongrove/mongrove/testing";

@rest({ route: "/notes", methods: [all()] })
class Note extends FrameworkModel {
  @prop()
  text?: string;
}

const app = express();
app.use(express.json());
const api = Framework.initialize({ models: [Note] });
app.use(api);
app.use("/admin", admin(api, { title: "Notes" }));
const served = await serve(app);
const load = async (path: string) => {
  const answer = await fetch(served.url + path);
  return [answer.status, await answer.text()] as const;
};
const [status, html] = await load("/admin/");
const script = /src="([^"]+)"/.exec(html)?.[1] ?? "none";
const [scriptStatus, text] = await load("/admin/" + script);
const [, routes] = await load("/admin/routes.json");
console.log(status, scriptStatus, text.length > 100_000, JSON.parse(routes).models[0].name);
await served.stop();
process.exit();
`;

/** Follows a change, fails once, and ends by itself. */
const CHANGES = `import process from "node:process";
import mongoose from "mongoose";
import { FrameworkModel, getModel, prop } from "@mongrove/mongrove";
import { follow } from "@mongrove/mongrove/changes";

class Note extends FrameworkModel {
  @prop()
  text?: string;
}

await mongoose.connect(process.env.MONGODB_URI ?? "");
await getModel(Note).init();
let done: () => void = () => {};
const handled = new Promise<void>((resolve) => done = resolve);
{
  await using follower = follow(Note, {
    name: "reach",
    async handle({ kind, entity, attempt }) {
      const text: string | undefined = (await entity())?.text;
      if (attempt === 1) throw new Error("Not now");
      console.log(kind, text, attempt);
      done();
    },
  });
  while (await follower.lag() === undefined) await new Promise((go) => setTimeout(go, 20));
  await getModel(Note).create({ text: "hello" });
  await handled;
}
await mongoose.disconnect();
`;

/** Serves tools, calls them, and ends by itself. */
const MCP = `import process from "node:process";
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

/** The programs by their entry, and what each one prints. `npm_reach.ts` runs the package in other versions of Node. */
const PROGRAMS = [
  ["admin", ADMIN, "200 200 true notes"],
  ["changes", CHANGES, "insert hello 2"],
  ["mcp", MCP, "hello\n404 400\n1"],
] as const;

const RUN = ["run", "--quiet", "--no-prompt", "--allow-env", "--allow-net", "--allow-sys"];

const RUNTIMES = [
  ["Deno", denoProject, Deno.execPath(), RUN],
  [`Node ${node.version}`, nodeProject, node.path, ["--import", "tsx"]],
] as const;

for (const [runtime, cwd, program, args] of RUNTIMES) {
  for (const [entry, text, printed] of PROGRAMS) {
    test(`${runtime} runs a program with ${entry} of the package from JSR, and ends`, async () => {
      await using database = await openDatabase(await sharedReplicaSet());
      await Deno.writeTextFile(join(cwd, `${entry}.ts`), text);
      const env = { ...denoEnv, MONGODB_URI: database.uri };
      const output = await runCommand(program, [...args, `${entry}.ts`], { cwd, env });
      assertEquals(output.trim(), printed);
    });
  }
}
