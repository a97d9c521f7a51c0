import { assert, assertEquals } from "@std/assert";
import express from "express";
import { all, create, Framework, FrameworkModel, one, prop, rest } from "../../mod.ts";
import { openapi, type OpenApiOptions } from "@mongrove/mongrove/openapi";
import { type Document, INFO, readDocument } from "../support/documented.ts";
import { test } from "../harness/testing.ts";
import { start } from "../support/support.ts";

@rest({
  route: "/readings",
  methods: [
    all({
      page: { max: 10 },
      sort: ["rank"],
      live: true,
      formats: ["csv"],
      parameters: ["archived"],
      operationId: "listReadings",
    }),
    one(),
    create(),
  ],
})
class Reading extends FrameworkModel {
  @prop({ type: Number })
  rank?: number;
}

async function documentWith(options: Partial<OpenApiOptions>, at = "/openapi.json") {
  const api = Framework.initialize({ models: [Reading], queryMethod: true });
  const app = express();
  app.use(openapi(api, { info: INFO, ...options }));
  const served = await start(app);
  const document = await served.read<Document>(at);
  await served.stop();
  return readDocument(document);
}

test("a document of version 3.2 describes QUERY", async () => {
  const { document, operation, validator } = await documentWith({ version: "3.2" });
  assertEquals(document.openapi, "3.2.0");
  const query = operation("QUERY", "/readings");
  const get = operation("GET", "/readings");
  assertEquals([query.operationId, get.operationId], ["queryReadings", "listReadings"]);
  assertEquals((query.parameters ?? []).filter((each) => each.in === "query"), []);
  const { schema } = query.requestBody?.content["application/json"] ?? {};
  assert(schema !== undefined);
  assertEquals(Object.keys(schema.properties as object), [
    ...["q", "limit", "skip", "after", "sort", "archived"],
  ]);
  const isBody = validator(schema);
  const bodies = [
    {},
    { q: { rank: { $gte: 1 } }, sort: ["-rank"], limit: 5, archived: true },
  ];
  for (const body of bodies) assertEquals([isBody(body), isBody.errors], [true, null]);
  for (const body of [{ q: { other: 1 } }, { sort: ["other"] }, { limit: 11 }]) {
    assertEquals([body, isBody(body)], [body, false]);
  }
  assertEquals(query.responses[415] === undefined, false);
  const types = (of: typeof get) => Object.keys(of.responses[200]?.content ?? {});
  assertEquals(types(query), ["application/json", "text/csv"]);
  assertEquals(types(get), ["application/json", "text/csv", "text/event-stream"]);
  assertEquals(Object.keys(document.paths["/readings/{id}"] ?? {}), ["get"]);
});

for (const options of [{}, { version: "3.1" }] as const) {
  test(`openapi(${JSON.stringify(options)}) does not describe QUERY`, async () => {
    const { document } = await documentWith(options);
    assertEquals(document.openapi, "3.1.1");
    assertEquals(Object.keys(document.paths["/readings"] ?? {}), ["get", "post"]);
  });
}

test("the documentation page gets a document of version 3.1", async () => {
  const { document } = await documentWith({ version: "3.2" }, "/openapi.json?q=content");
  assertEquals(document.openapi, "3.1.1");
  assertEquals(Object.keys(document.paths["/readings"] ?? {}), ["get", "post"]);
});
