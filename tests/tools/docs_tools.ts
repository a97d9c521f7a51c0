import { assert, assertEquals } from "@std/assert";
import express from "express";
import type { Page } from "npm:puppeteer-core@25";
import { buildApp as buildHelpDesk } from "../../examples/helpdesk/app.ts";
import { seed as seedHelpDesk } from "../../examples/helpdesk/seed.ts";
import { buildApp as buildLibrary } from "../../examples/library/app.ts";
import { seed as seedLibrary } from "../../examples/library/seed.ts";
import { buildApp } from "../../examples/movies/app.ts";
import { seed } from "../../examples/movies/seed.ts";
import { serve } from "../harness/serve.ts";
import { longTest, test } from "../harness/testing.ts";
import { type Document, readDocument } from "../support/documented.ts";
import { asQuery } from "../support/support.ts";
import { findSerious } from "./support/axe.ts";
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

/** Clicks on all that a selector finds now. */
async function clickAll(page: Page, selector: string): Promise<void> {
  await page.evaluate(`document.querySelectorAll("${selector}").forEach((one) => one.click())`);
}

/** Opens each third operation, because Chromium takes minutes to draw all of them. */
async function openSome(page: Page): Promise<void> {
  const controls = `document.querySelectorAll(".opblock-summary-control")`;
  const opened = await page.evaluate(
    `[...${controls}].filter((_, index) => index % 3 === 0).map((one) => one.click()).length`,
  );
  await page.waitForFunction(`document.querySelectorAll(".responses-table").length >= ${opened}`);
}

/** Opens all groups of operations, which are closed at first. */
async function openGroups(page: Page): Promise<void> {
  await page.waitForSelector(".opblock-tag");
  await clickAll(page, ".opblock-tag");
}

/**
 * Opens the groups and the first operation of a path, tries it out with a filter, and gives the answer that the page
 * shows. Without a filter, the page sends the example of the document.
 */
async function tryOut(
  page: Page,
  path: string,
  q?: object,
): Promise<{ status: string; body: unknown }> {
  const block = `.opblock:has([data-path="${path}"])`;
  await openGroups(page);
  await click(page, `${block} .opblock-summary-control`);
  await click(page, `${block} .try-out__btn`);
  if (q !== undefined) {
    const field = await page.waitForSelector(`${block} tr[data-param-name="q"] textarea`);
    await field?.focus();
    await page.keyboard.down("Control");
    await page.keyboard.press("a");
    await page.keyboard.up("Control");
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
  const { parameters = [] } = readDocument(await app.read<Document>("/openapi.json"))
    .operation("GET", "/movies");
  const example = parameters.find(({ name }) => name === "q")?.content?.["application/json"]
    ?.example;
  assertEquals(Object.keys(example ?? {}), ["year"]);
  assertEquals([status, body], ["200", await app.read(`/movies${asQuery(example)}`)]);
  const servers = await page.$$eval(
    "#servers option",
    (all) => all.map((each) => each.textContent),
  );
  assertEquals(servers, [app.url]);
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
    assertEquals((await tryOut(page, "/movies", {})).body, await app.read("/v1/movies"));
    assertEquals([foreign, complaints], [[], []]);
  }
});

test("/docs in Chromium shows every operation and schema of the document", async () => {
  await using app = await openExample({ buildApp, seed });
  await using chromium = await startChromium();
  await using opened = await chromium.open(`${app.url}/docs`);
  const { page, foreign, complaints } = opened;
  assertEquals((await page.$$(".opblock")).length, 0);
  await openGroups(page);
  await page.waitForSelector(".opblock");
  const blocks = await page.$$(".opblock");
  for (const block of blocks) {
    await (await block.$(".opblock-summary-control"))?.click();
    await block.waitForSelector(".responses-table");
  }
  const { paths } = await app.read<{ paths: Record<string, object> }>("/openapi.json");
  assertEquals(blocks.length, Object.values(paths).flatMap((item) => Object.keys(item)).length);
  await click(page, ".models-control");
  await page.waitForSelector(".json-schema-2020-12__title");
  const shown = await page.$$eval(
    ".json-schema-2020-12__title",
    (all) => all.map(({ textContent }) => textContent),
  );
  assert(shown.includes("Movie") && shown.includes("MovieNew"), shown.join());
  const ofFilters = /(Condition|Operators|Operand|Input)$/;
  assertEquals(shown.filter((name) => ofFilters.test(name ?? "")), []);
  assertEquals([foreign, complaints], [[], []]);
});

test("the filter of /docs in Chromium finds operations by words of their summaries", async () => {
  await using app = await openExample({ buildApp, seed });
  await using chromium = await startChromium();
  await using opened = await chromium.open(`${app.url}/docs`);
  const { page, foreign, complaints } = opened;
  await (await page.waitForSelector(".operation-filter-input"))?.type("remove a");
  await page.waitForSelector(".opblock");
  const told = await page.$$eval(
    ".opblock-summary-description",
    (all) => all.map(({ textContent }) => textContent),
  );
  assertEquals(told, ["Remove a movie", "Remove an actor"]);
  assertEquals([foreign, complaints], [[], []]);
});

const EXAMPLES = {
  movies: { buildApp, seed },
  library: { buildApp: buildLibrary, seed: seedLibrary },
  helpdesk: { buildApp: buildHelpDesk, seed: seedHelpDesk },
};

for (const [name, example] of Object.entries(EXAMPLES)) {
  // Chromium takes minutes to draw the larger ones
  const register = name === "movies" ? test : longTest;
  register(
    `axe finds nothing serious in /docs of ${name}, on light and on dark pages`,
    async () => {
      await using app = await openExample(example);
      await using chromium = await startChromium();
      await using opened = await chromium.open(`${app.url}/docs`);
      const { page, foreign, complaints } = opened;
      const findInBoth = async () => {
        const found: string[][] = [];
        for (const value of ["dark", "light"]) {
          await page.emulateMediaFeatures([
            { name: "prefers-color-scheme", value },
            { name: "prefers-reduced-motion", value: "reduce" },
          ]);
          await page.waitForSelector(value === "dark" ? "html.dark-mode" : "html:not(.dark-mode)");
          found.push(await findSerious(page));
        }
        return found;
      };
      await page.waitForSelector(".opblock-tag");
      assertEquals(await findInBoth(), [[], []]);
      await openGroups(page);
      await page.waitForSelector(".opblock-summary-control");
      await openSome(page);
      await clickAll(page, ".try-out__btn, .models-control");
      await page.waitForSelector(".execute");
      assertEquals(await findInBoth(), [[], []]);
      assertEquals([foreign, complaints], [[], []]);
    },
  );
}

async function takePicture(page: Page): Promise<void> {
  await page.setViewport({ width: 1000, height: 1000 });
  await page.evaluate("scrollTo(0, 0)");
  await page.screenshot({ path: PICTURE.pathname as `${string}.png` });
}
