import { assertEquals, assertMatch } from "@std/assert";
import { buildApp } from "../../examples/movies/app.ts";
import { seed } from "../../examples/movies/seed.ts";
import { serve } from "../harness/serve.ts";
import { test } from "../harness/testing.ts";
import { startChromium } from "./support/chromium.ts";
import { openExample } from "./support/example.ts";

test("startChromium() opens what an example answers", async () => {
  await using app = await openExample({ buildApp, seed });
  await using chromium = await startChromium();
  await using opened = await chromium.open(`${app.url}/movies?select=name&limit=1`);
  const text = await opened.page.evaluate("document.body.innerText");
  assertMatch(String(text), /"name":"The General"/);
  assertEquals(opened.foreign, []);
});

test("startChromium() tells requests to other origins, and what the console says", async () => {
  await using other = await serve((_req, res) => void res.end());
  const html = `<script src="${other.url}/a.js"></script><script>console.error("no");x()</script>`;
  await using served = await serve((_req, res) => {
    res.setHeader("content-type", "text/html").end(html);
  });
  await using chromium = await startChromium();
  await using opened = await chromium.open(served.url);
  assertEquals(opened.foreign, [`${other.url}/a.js`]);
  assertEquals(opened.complaints, ["no", "x is not defined"]);
});
