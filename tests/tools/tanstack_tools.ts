import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import type { Page } from "npm:puppeteer-core@25";
import bounds from "../../bench/sizes.json" with { type: "json" };
import { buildApp } from "../../examples/todo/page/app.ts";
import { buildPage } from "../../examples/todo/page/build.ts";
import { openDatabase } from "../harness/database.ts";
import { startMongo } from "../harness/mongo/start_mongo.ts";
import { report } from "../harness/report.ts";
import { request } from "../harness/request.ts";
import { serve } from "../harness/serve.ts";
import { test } from "../harness/testing.ts";
import { bundle } from "./support/bundle.ts";
import { type Chromium, type OpenPage, startChromium } from "./support/chromium.ts";

const CLIENT = `export * from "@mongrove/mongrove/client";`;
const BOTH = `${CLIENT} export * from "@mongrove/mongrove/tanstack";`;

test("collections add little to a bundle of the client", async () => {
  const [client, both] = await Promise.all(
    [CLIENT, BOTH].map((code) => bundle(code, { minify: true, format: "esm" })),
  );
  const foreign = both?.files.filter((path) =>
    !/^(<stdin>|src\/(client|tanstack)\/.*)$/.test(path)
  );
  assertEquals(foreign, []);
  const bytes = gzipSync(both?.text ?? "").length - gzipSync(client?.text ?? "").length;
  await report(`Collections of TanStack DB in a browser: ${bytes} bytes beside the client`);
  assert(bytes > 0 && bytes < bounds.tanstack, `${bytes} bytes compressed`);
});

/** A tab in the background draws nothing, and polls by time alone. */
const polling = 50;

/** The todos of a page, each with its error. */
const SHOWN = `[...document.querySelectorAll("li")].map((line) => {
  const [box, text] = line.querySelectorAll("input");
  const error = line.querySelector("output").textContent;
  return text.value + (box.checked ? " ✓" : "") + (error ? ": " + error : "");
}).join("|")`;

/** Waits until a page shows these lines. */
async function shows({ page }: OpenPage, ...lines: readonly string[]): Promise<void> {
  const wanted = JSON.stringify(lines.join("|"));
  await page.waitForFunction(`${SHOWN} === ${wanted}`, { polling }).catch(async (cause) => {
    throw new Error(`It shows ${await page.evaluate(SHOWN)} instead of ${wanted}`, { cause });
  });
}

const field = (line: number) => `li:nth-child(${line}) input[name=text]`;

async function write(page: Page, selector: string, text: string): Promise<void> {
  await page.bringToFront();
  await page.locator(selector).fill(text);
  await page.keyboard.press("Enter");
}

const add = ({ page }: OpenPage, text: string) => write(page, "form input", text);
const edit = ({ page }: OpenPage, line: number, text: string) => write(page, field(line), text);

async function click({ page }: OpenPage, selector: string): Promise<void> {
  await page.bringToFront();
  await page.locator(selector).click();
}

/** Opens two tabs of the example. */
async function openTodos(chromium: Chromium) {
  await using stack = new AsyncDisposableStack();
  const mongo = stack.use(await startMongo({ replicaSet: 1 }));
  stack.use(await openDatabase(mongo.uri));
  const app = buildApp(await buildPage());
  const sockets = new Set<Socket>();
  const served = stack.use(
    await serve((req, res) => {
      sockets.add(req.socket);
      app(req, res);
    }),
  );
  const ada = stack.use(await chromium.open(served.url));
  const bob = stack.use(await chromium.open(served.url));
  const owned = stack.move();
  const stored = async () => {
    const { body } = await request<{ text: string; done: boolean }[]>(`${served.url}/api/todos`);
    return body.map(({ text, done }) => done ? `${text} ✓` : text);
  };
  /** Chromium keeps the streams of a page that goes offline. */
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return { ada, bob, stored, cut, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

const LONG = "x".repeat(41);
const REFUSAL = `Path \`text\` (\`${LONG.slice(0, 30)}...\`, length 41) ` +
  "is longer than the maximum allowed length (40).";

test("two tabs of examples/todo show each other's todos, and errors of the server beside them", async () => {
  await using chromium = await startChromium();
  await using todos = await openTodos(chromium);
  const { ada, bob } = todos;
  await add(ada, "Milk");
  await add(bob, "Bread");
  await shows(bob, "Milk", "Bread");
  await click(bob, "li:nth-child(1) input[type=checkbox]");
  await shows(ada, "Milk ✓", "Bread");

  await edit(ada, 2, LONG);
  await shows(ada, "Milk ✓", `Bread: ${REFUSAL}`);
  await edit(ada, 2, "Rye");
  for (const tab of [ada, bob]) await shows(tab, "Milk ✓", "Rye");

  await add(bob, LONG);
  const output = `document.querySelector("form output").textContent`;
  await bob.page.waitForFunction(`${output} === ${JSON.stringify(REFUSAL)}`, { polling });
  for (const tab of [ada, bob]) await shows(tab, "Milk ✓", "Rye");
  assertEquals(await todos.stored(), ["Milk ✓", "Rye"]);
  await click(ada, "li:nth-child(1) button");
  await shows(bob, "Rye");
  const unexpected = [...ada.complaints, ...bob.complaints].filter((text) => !/\b400\b/.test(text));
  assertEquals([...unexpected, ...ada.foreign, ...bob.foreign], []);
});

test("a tab of examples/todo that was offline rolls its changes back, and catches up", async () => {
  await using chromium = await startChromium();
  await using todos = await openTodos(chromium);
  const { ada, bob } = todos;
  for (const text of ["Milk", "Bread", "Rice"]) await add(ada, text);
  await shows(bob, "Milk", "Bread", "Rice");

  await ada.page.setOfflineMode(true);
  todos.cut();
  await click(ada, "li:nth-child(3) input[type=checkbox]");
  await shows(ada, "Milk", "Bread", "Rice: Failed to fetch");
  await edit(bob, 1, "Oat milk");
  await click(bob, "li:nth-child(2) button");
  await add(bob, "Tea");
  await shows(bob, "Oat milk", "Rice", "Tea");
  await shows(ada, "Milk", "Bread", "Rice: Failed to fetch");

  await ada.page.setOfflineMode(false);
  await shows(ada, "Oat milk", "Rice: Failed to fetch", "Tea");
  await click(ada, "li:nth-child(2) input[type=checkbox]");
  for (const tab of [ada, bob]) await shows(tab, "Oat milk", "Rice ✓", "Tea");
  assertEquals(await todos.stored(), ["Oat milk", "Rice ✓", "Tea"]);
});

test("examples/todo/page prints where it listens, and stops on SIGTERM", async () => {
  await using mongo = await startMongo({ replicaSet: 1 });
  const permissions = ["env", "net", "sys", "run", "read"].map((name) => `--allow-${name}`);
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-prompt", ...permissions, "examples/todo/page/main.ts"],
    env: { MONGODB_URI: mongo.uri, DEMO_DATABASE: "todos", PORT: "0" },
    cwd: new URL("../../", import.meta.url),
    stdout: "piped",
  }).spawn();
  const { value = "" } = await child.stdout.pipeThrough(new TextDecoderStream()).getReader().read();
  const [url = ""] = /http:[/\w.:]+/.exec(value) ?? [];
  assertMatch((await request<string>(url)).text, /<title>Todos/);
  child.kill("SIGTERM");
  assertEquals((await child.status).code, 0);
});
