import { assertEquals, assertMatch } from "@std/assert";
import express from "express";
import type { Page } from "npm:puppeteer-core@25";
import { buildApp } from "../../examples/movies/app.ts";
import { seed } from "../../examples/movies/seed.ts";
import { serve } from "../harness/serve.ts";
import { test } from "../harness/testing.ts";
import { asQuery } from "../support/support.ts";
import { startChromium } from "./support/chromium.ts";
import { openExample } from "./support/example.ts";
import { wantsPicture } from "./support/picture.ts";
import { stripPrefix } from "./support/strip_prefix.ts";
import { buildTextApp } from "./support/text_app.ts";

const PICTURE = new URL("../../docs/openapi.png", import.meta.url);

/** Clicks on what a selector finds, when it is there. */
async function click(page: Page, selector: string): Promise<void> {
  const found = await page.waitForSelector(selector);
  await found?.click();
}

/** Expands the first operation of a path, tries it out with a filter, and gives the answer that the page shows. */
async function tryOut(
  page: Page,
  path: string,
  q?: object,
): Promise<{ status: string; body: unknown }> {
  const block = `.opblock:has([data-path="${path}"])`;
  await click(page, `${block} .opblock-summary-control`);
  await click(page, `${block} .try-out__btn`);
  if (q !== undefined) {
    const field = await page.waitForSelector(`${block} tr[data-param-name="q"] textarea`);
    await field?.click({ count: 3 });
    await field?.type(JSON.stringify(q));
  }
  await click(page, `${block} .execute`);
  const live = `${block} .live-responses-table`;
  const shown = await page.waitForSelector(`${live} .highlight-code code`);
  const body = await shown?.evaluate((code: { textContent: string }) => code.textContent);
  const status = await page.$eval(`${live} tbody .response-col_status`, (cell) => cell.textContent);
  return { status: status.trim(), body: JSON.parse(body ?? "") };
}

test("/docs in Chromium tries an operation out, and asks nobody else", async () => {
  await using app = await openExample({ buildApp, seed });
  await using chromium = await startChromium();
  await using opened = await chromium.open(`${app.url}/docs`);
  const { page, foreign, complaints } = opened;
  const { status, body } = await tryOut(page, "/movies");
  assertEquals([status, body], ["200", await app.read("/movies")]);
  if (wantsPicture) await takePicture(page);
  assertEquals([foreign, complaints], [[], []]);
});

for (const [name, build] of Object.entries({ content: buildApp, "a text": buildTextApp })) {
  test(`/docs in Chromium takes a filter where the document has q as ${name}`, async () => {
    await using app = await openExample({ buildApp: build, seed });
    await using chromium = await startChromium();
    await using opened = await chromium.open(`${app.url}/docs`);
    const { page, foreign, complaints } = opened;
    const { status, body } = await tryOut(page, "/movies", { year: 1979 });
    assertEquals([status, body], ["200", await app.read(`/movies${asQuery({ year: 1979 })}`)]);
    assertEquals((await page.$$('input[type="file"]')).length, 0);
    assertEquals([foreign, complaints], [[], []]);
  });
}

test("/docs in Chromium works below a base, behind a proxy that strips another one", async () => {
  await using app = await openExample({ buildApp: () => express().use("/v1", buildApp()), seed });
  await using proxy = await serve(stripPrefix("/shop", app.url));
  await using chromium = await startChromium();
  for (const path of ["docs", "docs/"]) {
    await using opened = await chromium.open(`${proxy.url}/shop/v1/${path}`);
    const { page, foreign, complaints } = opened;
    assertEquals(new URL(page.url()).pathname, "/shop/v1/docs");
    assertEquals((await tryOut(page, "/movies")).body, await app.read("/v1/movies"));
    assertEquals([foreign, complaints], [[], []]);
  }
});

test("/docs in Chromium shows every operation and schema of the document", async () => {
  await using app = await openExample({ buildApp, seed });
  await using chromium = await startChromium();
  await using opened = await chromium.open(`${app.url}/docs`);
  const { page, foreign, complaints } = opened;
  await page.waitForSelector(".opblock");
  const blocks = await page.$$(".opblock");
  for (const block of blocks) {
    await (await block.$(".opblock-summary-control"))?.click();
    await block.waitForSelector(".responses-table");
  }
  const { paths } = await app.read<{ paths: Record<string, object> }>("/openapi.json");
  assertEquals(blocks.length, Object.values(paths).flatMap((item) => Object.keys(item)).length);
  assertMatch(await page.$eval("body", (body) => body.textContent), /Schemas/);
  assertEquals([foreign, complaints], [[], []]);
});

async function takePicture(page: Page): Promise<void> {
  await page.setViewport({ width: 1000, height: 1000 });
  await page.screenshot({ path: PICTURE.pathname as `${string}.png` });
}
