import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { keepBusy } from "../support/busy_clients.ts";
import { request } from "../harness/request.ts";
import { test } from "../harness/testing.ts";
import { openGet, readSome, readToEnd } from "../support/sockets.ts";
import { until } from "../support/until.ts";
import { startApp } from "./support/start_app.ts";
import { openWorkspace } from "./support/workspace.ts";

const { nodeProject: cwd, nodes } = openWorkspace();

const LENGTH = 30_000_000;

/** Answers with entities that no database holds, and closes when it is told to. */
const MAIN = `import express from "express";
import process from "node:process";
import { Framework, FrameworkModel, type FrameworkRequest, one, prop, rest } from "@mongrove/mongrove";

function fetchLong({ params: { id } }: FrameworkRequest): Long {
  const end = performance.now() + (id === "busy" ? 10 : 0);
  while (performance.now() < end);
  return { text: "x".repeat(id === "1" ? ${LENGTH} : 1) } as Long;
}

@rest({ route: "/long", methods: [one({ fetch: fetchLong })] })
class Long extends FrameworkModel {
  @prop()
  text!: string;
}

const app = express();
app.use(Framework.initialize({ models: [Long] }));
app.post("/close", (_req, res) => {
  void Framework.close(server, { timeoutMS: 60_000 });
  res.end();
});
const server = app.listen(Number(process.env.PORT), "127.0.0.1");
process.once("SIGTERM", () => Framework.close(server).then(() => process.exit()));
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

  test(`Framework.close() ends connections that have never sent a request, Node ${version}`, async () => {
    await using app = await startApp([path, "--import", "tsx", "close.ts"], { cwd, env: {} });
    const { hostname, port } = new URL(app.url);
    using unused = await Deno.connect({ hostname, port: Number(port) });
    await request(`${app.url}/close`, { method: "POST" });
    const begun = performance.now();
    assertEquals(await readToEnd(unused).catch(() => ""), "");
    assertEquals(performance.now() - begun < 10_000, true);
  });

  test(`Framework.close() sends 128 busy clients away and resets none, Node ${version}`, async () => {
    await using app = await startApp([path, "--import", "tsx", "close.ts"], { cwd, env: {} });
    const busy = keepBusy(`${app.url}/long/short`, 128);
    await until(() => busy.fewest > 5, { seconds: 60 });
    app.child.kill("SIGTERM");
    assertEquals(await busy.ends, Array(128).fill("sent away"));
    assertEquals((await app.child.status).code, 0);
  });

  test(`Framework.close() answers 128 clients that have just connected, Node ${version}`, async () => {
    await using app = await startApp([path, "--import", "tsx", "close.ts"], { cwd, env: {} });
    const sockets = await Promise.all(
      Array.from({ length: 128 }, () => openGet(`${app.url}/long/busy`)),
    );
    app.child.kill("SIGTERM");
    const heads = await Promise.all(sockets.map((socket) => readSome(socket).catch(String)));
    assertEquals(heads.map((head) => head.slice(0, 15)), Array(128).fill("HTTP/1.1 200 OK"));
    for (const socket of sockets) socket.close();
    assertEquals((await app.child.status).code, 0);
  });
}
