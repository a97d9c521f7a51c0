import { assert, assertEquals, assertRejects } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import { request } from "./request.ts";
import { requestRaw } from "./request_raw.ts";
import { serve } from "./serve.ts";
import { test } from "./testing.ts";

function buildApp(): express.Express {
  const app = express();
  app.use(express.json());
  app.all("/echo", (req, res) => {
    const { "content-type": type } = req.headers;
    res.status(201).json({ method: req.method, body: req.body ?? null, type });
  });
  app.get("/empty", (_req, res) => {
    res.status(204).end();
  });
  app.get("/away", (_req, res) => {
    res.redirect("/echo");
  });
  return app;
}

test("request() sends JSON and reads JSON", async () => {
  await using served = await serve(buildApp());
  const body = { name: "Ada", tags: ["a"] };
  const reply = await request(`${served.url}/echo`, { method: "POST", body });
  assertEquals(reply.status, 201);
  assertEquals(reply.body, { method: "POST", body, type: "application/json" });
});

test("request() sends a raw body with the headers it is given, only", async () => {
  await using served = await serve(buildApp());
  const send = (headers: Record<string, string>) =>
    request<{ type?: string }>(`${served.url}/echo`, {
      method: "POST",
      raw: "a=1",
      headers,
    });
  assertEquals((await send({})).body.type, undefined);
  const typed = await send({ "Content-Type": "text/plain" });
  assertEquals(typed.body.type, "text/plain");
});

test("request() reads empty answers, follows no redirect", async () => {
  await using served = await serve(buildApp());
  const empty = await request(`${served.url}/empty`);
  assertEquals([empty.status, empty.body, empty.text], [204, undefined, ""]);
  const away = await request(`${served.url}/away`);
  assertEquals(away.status, 302);
  assertEquals(away.headers.get("location"), "/echo");
});

test("requestRaw() sends what no client would", async () => {
  await using served = await serve(buildApp());
  const line = "GET /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  const reply = await requestRaw(served.url, line);
  assertEquals(reply.status, 201);
  assertEquals(JSON.parse(reply.body).method, "GET");
  const broken = await requestRaw(served.url, "NONSENSE\r\n\r\n");
  assert(broken.status === 400 || broken.text === "");
  const kept = await requestRaw(served.url, "GET / HTTP/1.1\r\n", {
    timeout: 50,
  });
  assertEquals([kept.status, kept.closed], [0, false]);
});

test("serve() stops at once, in spite of connections that are kept alive", async (t) => {
  const served = await serve(buildApp());
  await t.step("while one is idle", async () => {
    await request(`${served.url}/echo`);
    const idle = await Deno.connect({ port: Number(new URL(served.url).port) });
    const start = performance.now();
    await served.stop();
    // Node would wait for a minute.
    assert(performance.now() - start < 20_000);
    idle.close();
  });
  await t.step("and nobody listens any more", async () => {
    await assertRejects(() => request(`${served.url}/echo`));
  });
});
