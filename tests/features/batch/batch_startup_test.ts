import { assertEquals, assertThrows } from "@std/assert";
import { tracingChannel } from "node:diagnostics_channel";
// @ts-types="express-types"
import express from "express";
import {
  Framework,
  FrameworkModel,
  type InitializeOptions,
  one,
  prop,
  type RequestTrace,
  rest,
} from "../../../mod.ts";
import { openapi } from "../../../src/openapi/mod.ts";
import { openDatabase } from "../../harness/database.ts";
import { startMongo } from "../../harness/mongo/start_mongo.ts";
import { test } from "../../harness/testing.ts";
import { mountOnReplicaSet } from "../../support/mount_on_replica_set.ts";
import { start } from "../../support/support.ts";
import { Author, Book, rows, sendBatch } from "./shop.ts";

@rest({ route: "/items", methods: [one()] })
class Item extends FrameworkModel {
  @prop()
  name?: string;
}

test("initialize() refuses wrong options of batches", () => {
  const wrong: readonly (readonly [unknown, string])[] = [
    [true, '"batch" is not an object with a "path"'],
    [null, '"batch" is not an object with a "path"'],
    [{}, '"batch.path" is no path such as "/name"'],
    [{ path: "batch" }, '"batch.path" is no path such as "/name"'],
    [{ path: "/" }, '"batch.path" is no path such as "/name"'],
    [{ path: "/:id" }, '"batch.path" is no path such as "/name"'],
    [{ path: "/batch/" }, '"batch.path" is no path such as "/name"'],
    [{ path: "/authors" }, '"batch.path" is the path of a route, /authors'],
    [{ path: "/batch", max: 0 }, '"batch.max" is 0, not a positive integer'],
    [{ path: "/batch", max: "5" }, '"batch.max" is 5, not a positive integer'],
    [{ path: "/batch", Max: 5 }, '"batch" has no option "Max" (did you mean "max"?)'],
  ];
  for (const [batch, message] of wrong) {
    const options = { models: [Item, Author], batch } as InitializeOptions;
    assertThrows(() => Framework.initialize(options), Error, `Cannot initialize: ${message}`);
  }
});

test("batches on a standalone server fail the start", async () => {
  await using mongo = await startMongo();
  await using _database = await openDatabase(mongo.uri);
  const options = { models: [Item], batch: { path: "/batch" } };
  assertThrows(
    () => Framework.initialize(options),
    TypeError,
    '"batch" needs transactions, but the database is a standalone server',
  );
});

test("a router without the option has no batches", async () => {
  await using app = await mountOnReplicaSet([Author]);
  assertEquals((await sendBatch(app, rows(["GET", "/authors"]))).status, 404);
});

test("a batch is one request for traces, with its requests inside", async () => {
  await using app = await mountOnReplicaSet([Author, Book], { batch: { path: "/batch" } });
  const traces: [string, RequestTrace["attributes"]][] = [];
  const channel = tracingChannel<object, RequestTrace>("mongrove:request");
  const handlers = {
    start: ({ attributes }: RequestTrace) => void traces.push(["start", attributes]),
    asyncEnd: ({ attributes }: RequestTrace) => void traces.push(["end", attributes]),
  };
  channel.subscribe(handlers as never);
  await sendBatch(app, rows(["POST", "/authors", { name: "a" }], ["GET", "/authors"]));
  channel.unsubscribe(handlers as never);
  const shown = traces.map(([what, attributes]) =>
    `${what} ${attributes["http.request.method"]} ${attributes["http.route"]} ${
      attributes["mongrove.operation"]
    } ${attributes["mongrove.model"]} ${attributes["http.response.status_code"]}`
  );
  assertEquals(shown.map((text) => text.replace(/^start (.*) \d+$/, "start $1 undefined")), [
    "start POST /batch batch undefined undefined",
    "start POST /authors create Author undefined",
    "end POST /authors create Author 201",
    "start GET /authors all Author undefined",
    "end GET /authors all Author 200",
    "end POST /batch batch undefined 200",
  ]);
});

test("the OpenAPI document has the path of batches", async () => {
  const options = { models: [Item], batch: { path: "/batch", max: 7 } };
  const app = express();
  const info = { title: "Items", version: "1.0.0" };
  app.use("/options", openapi(options, { info }));
  app.use("/router", openapi(Framework.initialize(options), { info }));
  await using served = await start(app);
  for (const from of ["options", "router"]) {
    const { paths } = await served.read<{ paths: Record<string, Record<string, unknown>> }>(
      `/${from}/openapi.json`,
    );
    const { operationId, requestBody, responses } = paths["/batch"]?.post as Record<
      string,
      unknown
    >;
    const { schema } = Object(requestBody).content["application/json"];
    assertEquals([operationId, schema.properties.requests.maxItems], ["batch", 7], from);
    assertEquals(Object.keys(Object(responses)), ["200", "default"]);
  }
});
