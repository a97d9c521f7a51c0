import { assertEquals, assertMatch } from "@std/assert";
import type { Page } from "npm:puppeteer-core@25";
import { buildApp } from "../../examples/chat/app.ts";
import { buildPage } from "../../examples/chat/build.ts";
import { openDatabase } from "../harness/database.ts";
import { request } from "../harness/request.ts";
import { startMongo } from "../harness/mongo/start_mongo.ts";
import { serve } from "../harness/serve.ts";
import { test } from "../harness/testing.ts";
import { startChromium } from "./support/chromium.ts";

/** A tab in the background draws nothing, and polls by time alone. */
const polling = 50;

/** Waits until a page shows these lines. */
async function shows(page: Page, ...lines: readonly string[]): Promise<void> {
  const is = "[...document.querySelectorAll('li')].map((line) => line.textContent).join('|')";
  await page.waitForFunction(`${is} === ${JSON.stringify(lines.join("|"))}`, { polling });
}

async function send(page: Page, text: string): Promise<void> {
  await page.bringToFront();
  await page.locator("input").fill(text);
  await page.locator("button").click();
  await page.waitForFunction("document.querySelector('input').value === ''", { polling });
}

test("two pages of examples/chat see each other's rooms and messages", async () => {
  await using mongo = await startMongo({ replicaSet: 1 });
  await using _database = await openDatabase(mongo.uri);
  await using served = await serve(buildApp(await buildPage()));
  await using chromium = await startChromium();
  await using ada = await chromium.open(`${served.url}/?name=Ada`);
  await using bob = await chromium.open(`${served.url}/?name=Bob`);
  await send(ada.page, "Music");
  await send(bob.page, "Films");
  for (const { page } of [ada, bob]) {
    await shows(page, "Films", "Music");
    await page.bringToFront();
    await page.locator("li:nth-child(2) a").click();
    await shows(page);
  }
  await send(ada.page, "Hello Bob");
  await shows(bob.page, "Ada: Hello Bob");
  await send(bob.page, "Hello Ada <b>");
  for (const { page } of [ada, bob]) await shows(page, "Ada: Hello Bob", "Bob: Hello Ada <b>");
  await bob.page.locator("h1 a").click();
  await shows(bob.page, "Films", "Music");
  assertEquals([...ada.complaints, ...bob.complaints, ...ada.foreign, ...bob.foreign], []);
});

test("examples/chat prints where it listens, and stops on SIGTERM while a list is live", async () => {
  await using mongo = await startMongo({ replicaSet: 1 });
  const permissions = ["env", "net", "sys", "run", "read"].map((name) => `--allow-${name}`);
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-prompt", ...permissions, "examples/chat/main.ts"],
    env: { MONGODB_URI: mongo.uri, DEMO_DATABASE: "chat", PORT: "0" },
    cwd: new URL("../../", import.meta.url),
    stdout: "piped",
  }).spawn();
  const { value = "" } = await child.stdout.pipeThrough(new TextDecoderStream()).getReader().read();
  const [url = ""] = /http:[/\w.:]+/.exec(value) ?? [];
  assertMatch((await request(url)).text, /<title>Chat/);
  const live = await fetch(`${url}api/rooms`, { headers: { accept: "text/event-stream" } });
  child.kill("SIGTERM");
  assertMatch(await live.text(), /^event: ready/);
  assertEquals((await child.status).code, 0);
});
