import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { request } from "../harness/request.ts";
import { test } from "../harness/testing.ts";
import { openGet, readSome, readToEnd } from "../sockets.ts";
import { startApp } from "./support/start_app.ts";
import { openWorkspace } from "./support/workspace.ts";

const { nodeProject: cwd, nodes } = openWorkspace();

const LENGTH = 30_000_000;

/** Answers with one long entity that no database holds, and closes when it is told to. */
const MAIN = `import express from "express";
import process from "node:process";
import { Framework, FrameworkModel, one, prop, rest } from "@mongrove/mongrove";

@rest({
  route: "/long",
  methods: [one({ fetch: () => ({ text: "x".repeat(${LENGTH}) }) as Long })],
})
class Long extends FrameworkModel {
  @prop()
  text!: string;
}

const app = express();
app.use(Framework.initialize({ models: [Long] }));
app.post("/close", (_req, res) => {
  void Framework.close(server, { within: 60_000 });
  res.end();
});
const server = app.listen(Number(process.env.PORT), "127.0.0.1");
`;

await Deno.writeTextFile(join(cwd, "close.ts"), MAIN);

for (const { version, path } of nodes) {
  test(`Framework.close() waits for a client that reads slowly from Node ${version}`, async () => {
    await using app = await startApp([path, "--import", "tsx", "close.ts"], { cwd, env: {} });
    using slow = await openGet(`${app.url}/long/1`);
    const head = await readSome(slow);
    const { status } = await request(`${app.url}/close`, { method: "POST" });
    const text = head + await readToEnd(slow);
    const body = text.slice(text.indexOf("\r\n\r\n") + 4);
    assertEquals([status, body.length], [200, JSON.stringify({ text: "" }).length + LENGTH]);
  });
}
