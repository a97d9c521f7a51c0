import { assertEquals } from "@std/assert";
import express from "express";
// Looked for at run time: while other test files run, Deno does not install packages reliably
import "swagger-ui-dist/absolute-path.js";
import {
  all,
  Framework,
  FrameworkModel,
  type GuardRequest,
  prop,
  rest,
  RestError,
} from "../../mod.ts";
import { openapi, type OpenApiOptions } from "@mongrove/mongrove/openapi";
import { test } from "../harness/testing.ts";
import { start } from "../support/support.ts";

@rest({ route: "/papers", methods: [all()] })
class Paper extends FrameworkModel {
  @prop()
  name?: string;
}

const told: string[] = [];

async function serveDocs(see?: OpenApiOptions["see"]) {
  const api = Framework.initialize({
    models: [Paper],
    onError: (_req, error) => void told.push(String(error)),
  });
  const info = { title: "Papers", version: "1.0.0" };
  const app = express();
  app.use("/v1", api, openapi(api, { info, ...see && { see } }));
  const started = await start(app);
  return { ...started, [Symbol.asyncDispose]: () => started.stop() };
}

async function signedIn(req: GuardRequest): Promise<boolean> {
  await Promise.resolve();
  if (req.headers.authorization === undefined) throw new RestError(401, "Sign in first");
  return req.headers.authorization === "ann";
}

const PATHS = ["/v1/openapi.json", "/v1/openapi.json?q=content", "/v1/docs", "/v1/docs/"];

test("openapi({ see }) decides who gets the document and the page, and nothing stores them", async () => {
  await using app = await serveDocs(signedIn);
  for (const path of PATHS) {
    for (
      const [headers, status] of [
        [{}, 401],
        [{ authorization: "bob" }, 403],
        [{ authorization: "ann" }, 200],
      ] as const
    ) {
      for (const method of ["GET", "HEAD"]) {
        const reply = await fetch(app.url + path, { method, headers });
        const text = await reply.text();
        const place = `${method} ${path} ${JSON.stringify(headers)}`;
        assertEquals([reply.status, reply.headers.get("cache-control")], [
          status,
          "private, no-store",
        ], place);
        if (status !== 200) assertEquals(/papers/i.test(text), false, place);
      }
    }
  }
});

test("only true shows the document, and an error of the function is told to onError", async () => {
  for (const see of [() => undefined, () => "yes", () => 1, () => Promise.resolve(false)]) {
    await using app = await serveDocs(see as never);
    const reply = await app.get<{ code: string }>("/v1/openapi.json");
    assertEquals([reply.status, reply.body.code], [403, "FORBIDDEN"]);
  }
  told.length = 0;
  await using app = await serveDocs(() => {
    throw new Error("a secret");
  });
  const reply = await app.get<{ code: string }>("/v1/docs");
  assertEquals([reply.status, reply.body.code, reply.text.includes("secret")], [
    500,
    "INTERNAL",
    false,
  ]);
  assertEquals(told, ["Error: a secret"]);
});

test("without `see`, everybody gets the document, and may store it", async () => {
  await using app = await serveDocs();
  for (const path of PATHS.slice(0, 3)) {
    const { status, headers } = await app.get(path);
    assertEquals([status, headers.get("cache-control")], [200, "no-cache"]);
  }
});
