import { assertEquals, assertThrows } from "@std/assert";
import express from "express";
import { Framework } from "../../mod.ts";
import { openapi } from "@mongrove/mongrove/openapi";
import { Movie } from "../fixtures/movie.ts";
import { test } from "../harness/testing.ts";
import { start } from "../support/support.ts";

const INFO = { title: "Movies", version: "1.0.0" };

interface Document {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, { readonly operationId: string }>>;
}

/** Serves the document of a model at a path. */
async function serveDocument(at = "/") {
  const api = Framework.initialize({ models: [Movie] });
  const app = express();
  app.use(at, api);
  app.use(at, openapi(api, { info: INFO }));
  return await start(app);
}

test("openapi() serves a document that has the operations of the router, and no others", async () => {
  const app = await serveDocument();
  const { paths, openapi: version } = await app.read<Document>("/openapi.json");
  await app.stop();
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) =>
      `${method.toUpperCase()} ${path.replaceAll(/{(\w+)}/g, ":$1")}`
    )
  );
  const routes = Framework.describe({ models: [Movie] });
  assertEquals(version.slice(0, 4), "3.1.");
  assertEquals(operations.sort(), routes.map(({ method, path }) => `${method} ${path}`).sort());
});

test("openapi() has an ETag, and answers 304 to who has the document", async () => {
  const app = await serveDocument("/v1");
  const first = await app.get("/v1/openapi.json");
  const tag = first.headers.get("etag") ?? "";
  const again = await app.get("/v1/openapi.json", { headers: { "if-none-match": tag } });
  await app.stop();
  assertEquals([first.status, /^"[\w-]{43}"$/.test(tag), again.status], [200, true, 304]);
});

Deno.test("openapi() refuses what is neither a router of initialize() nor has models", () => {
  const api = Framework.initialize({ models: [Movie] });
  const others = [[], [api], new Map(), Promise.resolve(api), {}, { model: [Movie] }, INFO];
  const wrong = [undefined, null, "api", express.Router(), () => {}, { models: Movie }, ...others];
  for (const api of wrong) {
    assertThrows(() => openapi(api as never, { info: INFO }), TypeError, "Cannot describe an API");
  }
});
