import { assertEquals, assertThrows } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import { all, Framework, FrameworkModel, one, rest } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { start } from "../support/support.ts";

@rest({ route: "/lost", methods: [all(), one()] })
class Lost extends FrameworkModel {}

const NOT_FOUND = { code: "NOT_FOUND", message: "No such route" };

function serveLost() {
  const app = express();
  app.use(express.json());
  app.use("/api", Framework.initialize({ models: [Lost] }));
  app.get("/own", (_req, res) => void res.json({ own: true }));
  app.get("/twice", (_req, res, next) => {
    res.json({ sent: true });
    next();
  });
  app.use(Framework.errors({ notFound: true }));
  return start(app);
}

test("errors({ notFound: true }) answers requests that no route took with a JSON 404", async () => {
  const app = await serveLost();
  for (const [method, path] of [["GET", "/none"], ["POST", "/api/lost"], ["DELETE", "/own"]]) {
    const { status, body, headers } = await app.send(method as string, path);
    assertEquals([status, body], [404, NOT_FOUND]);
    assertEquals(headers.get("content-type"), "application/json; charset=utf-8");
  }
  const head = await app.send("HEAD", "/none");
  assertEquals([head.status, head.text], [404, ""]);
  const accept = "application/problem+json";
  const problem = await app.get<{ readonly detail: string }>("/none", { headers: { accept } });
  assertEquals([problem.status, problem.body.detail], [404, "No such route"]);
  await app.stop();
});

test("errors({ notFound: true }) leaves other requests and OPTIONS alone, and answers errors", async () => {
  const app = await serveLost();
  assertEquals((await app.get("/own")).body, { own: true });
  assertEquals((await app.get("/twice")).body, { sent: true });
  const options = await app.send("OPTIONS", "/own");
  assertEquals([options.status, options.headers.get("allow")], [200, "GET, HEAD"]);
  const headers = { "content-type": "application/json" };
  const wrong = await app.send("POST", "/api/lost", { raw: "{", headers });
  assertEquals([wrong.status, (wrong.body as { code: string }).code], [400, "BAD_FORMAT"]);
  await app.stop();
});

test("errors() refuses options that it does not have", () => {
  assertThrows(
    () => Framework.errors({ notfound: true } as never),
    TypeError,
    `Cannot use Framework.errors: there is no option "notfound"`,
  );
  assertThrows(
    () => Framework.errors({ notFound: 1 } as never),
    TypeError,
    `Cannot use Framework.errors: "notFound" is not true or false`,
  );
});
