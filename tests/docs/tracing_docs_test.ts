import { assert, assertEquals } from "@std/assert";
import { json } from "node:stream/consumers";
import mongoose from "mongoose";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { serve } from "../harness/serve.ts";
import { test } from "../harness/testing.ts";
import { openLive } from "../features/live/live.ts";
import { loadFiles, type OpenRecipe } from "./recipes/open_recipe.ts";
import { until } from "../support/until.ts";

const EXAMPLE = new URL("../../examples/tracing/", import.meta.url);

async function readExample(): Promise<Record<string, string>> {
  const names = ["app.ts", "metrics.ts", "traces.ts"];
  const texts = await Promise.all(names.map((name) => Deno.readTextFile(new URL(name, EXAMPLE))));
  return Object.fromEntries(names.map((name, at) => [name, texts[at] ?? ""]));
}

async function play({ created, read }: OpenRecipe): Promise<void> {
  await created("/songs", { title: "Naima" });
  assertEquals((await read<unknown[]>("/songs")).length, 1);
}

interface ExportedSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}

interface Export {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly ExportedSpan[] }[];
  }[];
}

const TRACE = "0af7651916cd43dd8448eb211c80319c";

test(`examples/tracing has metrics, and exports spans of requests with those of their statements inside`, async (t) => {
  const spans: ExportedSpan[] = [];
  await using collector = await serve(async (req, res) => {
    const { resourceSpans } = await json(req) as Export;
    spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((s) => s.spans)));
    res.setHeader("content-type", "application/json").end("{}");
  });
  Deno.env.set("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url);
  Deno.env.set("OTEL_BSP_SCHEDULE_DELAY", "50");
  const live = (code: string) => code.replace("page: false", "page: false, live: true");
  const open = await loadFiles(await readExample(), live);
  const mongo = await sharedReplicaSet();
  await using app = await open(mongo);
  await play(app);
  await t.step("requests and statements", () => assertCounted(app));
  await t.step("spans", async () => {
    const headers = { traceparent: `00-${TRACE}-b7ad6b7169203331-01` };
    await app.get("/songs", { headers });
    await until(() => spans.length >= 6);
    assertInside(spans);
  });
  await t.step("open lists and the pool", () => assertOpen(app));
});

async function assertCounted(app: OpenRecipe): Promise<void> {
  const { text } = await app.get("/metrics");
  const lines = text.split("\n");
  const series = [
    `http_server_request_duration_seconds_count{route="/songs",status="201",method="POST"}`,
    `http_server_request_duration_seconds_count{route="/songs",status="200",method="GET"}`,
    `db_client_operation_duration_seconds_count{collection="songs",operation="insertOne",error=""}`,
    `db_client_operation_duration_seconds_count{collection="songs",operation="find",error=""}`,
  ];
  for (const each of series) assert(lines.includes(`${each} 1`), text);
  assert(lines.includes(`http_server_active_requests{route="/songs"} 0`), text);
}

function assertInside(spans: readonly ExportedSpan[]): void {
  const told = spans.map(({ name, parentSpanId }) => {
    const parent = spans.find(({ spanId }) => spanId === parentSpanId);
    return `${name}, inside of ${parent?.name ?? parentSpanId ?? "nothing"}`;
  });
  assertEquals(told.sort(), [
    "GET /songs, inside of b7ad6b7169203331",
    "GET /songs, inside of nothing",
    "POST /songs, inside of nothing",
    "find songs, inside of GET /songs",
    "find songs, inside of GET /songs",
    "insertOne songs, inside of POST /songs",
  ]);
  assertEquals(spans.filter((span) => span.traceId === TRACE).length, 2);
}

async function assertOpen(app: OpenRecipe): Promise<void> {
  const openLists = async (count: number) =>
    (await app.get("/metrics")).text.includes(`active_requests{route="/songs"} ${count}\n`);
  const list = await openLive(`${app.url}/songs`);
  await until(() => openLists(1));
  await list[Symbol.asyncDispose]();
  await until(() => openLists(0));
  const slow = mongoose.connection.collection("songs").find({ $where: "sleep(500) || true" });
  const read = slow.toArray();
  await until(async () => (await app.get("/metrics")).text.includes("connection_used 1"));
  await read;
}
