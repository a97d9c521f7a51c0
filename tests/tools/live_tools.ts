import { assertEquals } from "@std/assert";
import compression from "npm:compression@1";
import express from "express";
import { all, create, FrameworkModel, prop, rest } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { mountLive, openLive } from "../features/live/live.ts";
import { until } from "../support/until.ts";

@rest({ route: "/lines", methods: [all<Line>({ live: true }), create()] })
class Line extends FrameworkModel {
  @prop()
  text?: string;
}

test("a live list behind the middleware compression is compressed, and comes at once", async () => {
  await using app = await mountLive([Line], {
    prepare: (host) => {
      host.use(compression({ threshold: 0 }));
      host.use(express.json());
    },
  });
  // More than the middleware keeps at once
  const texts = Array.from({ length: 300 }, (_, index) => `${index} ${crypto.randomUUID()}`);
  for (const text of texts) await app.created("/lines", { text });
  await using live = await openLive(`${app.url}/lines`, { "accept-encoding": "gzip" });
  await live.ready();
  assertEquals(live.answer.headers.get("content-encoding"), "gzip");
  assertEquals(live.items.map(({ text }) => text), texts);
  await app.created("/lines", { text: "later" });
  await until(() => live.items.length === texts.length + 1);
});
