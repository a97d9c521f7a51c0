import { assertEquals } from "@std/assert";
import express from "express";
import { openapi } from "@mongrove/mongrove/openapi";
import { all, Framework, FrameworkModel, prop, rest } from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { start } from "../../support/support.ts";

@rest({ route: "/news", methods: [all<News>({ live: { max: 50 } })] })
@rest({ route: "/still", methods: [all()] })
class News extends FrameworkModel {
  @prop()
  text?: string;
}

test("describe() tells of a live list, and of no other", () => {
  const [news, still] = Framework.describe({ models: [News] });
  assertEquals(news?.live, { max: 50 });
  assertEquals(news?.headers.map(({ name }) => name), ["If-None-Match", "Last-Event-ID"]);
  assertEquals(news?.errors.map(({ status }) => status), [400, 409, 500, 503]);
  assertEquals(still?.live, undefined);
  assertEquals(still?.headers.map(({ name }) => name), ["If-None-Match"]);
});

interface Document {
  readonly paths: Record<string, {
    readonly get: { readonly responses: Record<string, { readonly content: object }> };
  }>;
}

test("openapi() has the answer of a live list as events, too", async () => {
  const api = Framework.initialize({ models: [News] });
  const app = express();
  app.use(api, openapi(api, { info: { title: "News", version: "1" } }));
  const served = await start(app);
  const { paths } = await served.read<Document>("/openapi.json");
  await served.stop();
  const typesAt = (path: string) => Object.keys(paths[path]?.get.responses[200]?.content ?? {});
  assertEquals(typesAt("/news"), ["application/json", "text/event-stream"]);
  assertEquals(typesAt("/still"), ["application/json"]);
});
