import { type Browser, type BrowserContext, launch, type Page } from "npm:puppeteer-core@25";
import { findChromium } from "./find_chromium.ts";

/** A page in Chromium, and what it did. */
export interface OpenPage extends AsyncDisposable {
  /** The page. */
  readonly page: Page;
  /** The URLs that it asked for on other origins than the one that it was opened for. */
  readonly foreign: readonly string[];
  /** The errors and warnings on its console, uncaught errors included. */
  readonly complaints: readonly string[];
}

/** A part of a Chromium, with cookies and a storage of its own. */
export interface Chromium extends AsyncDisposable {
  readonly context: BrowserContext;
  /** Makes other cookies and another storage, which disposing forgets as well. */
  readonly addContext: () => Promise<BrowserContext>;
  /** Opens a page, and waits until it has loaded. */
  readonly open: (url: string, context?: BrowserContext) => Promise<OpenPage>;
}

/** Root has no sandbox, and `/dev/shm` of a container is small. */
const ARGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"];

/** How long a busy machine may take to show something. */
const PATIENCE_MS = 120_000;

let started: Promise<Browser> | undefined;

Deno.test.afterAll(async () => await (await started)?.close());

/** Starts Chromium, found or installed, once for all tests of a file. Disposing closes the pages of this call. */
export async function startChromium(): Promise<Chromium> {
  const browser = await (started ??= findChromium()
    .then((executablePath) => launch({ executablePath, args: ARGS })));
  const contexts: BrowserContext[] = [];
  const addContext = async () => {
    const context = await browser.createBrowserContext();
    contexts.push(context);
    return context;
  };
  const own = await addContext();
  return {
    context: own,
    addContext,
    open: (url, context = own) => openPage(context, url),
    async [Symbol.asyncDispose]() {
      await Promise.all(contexts.map((context) => context.close()));
    },
  };
}

async function openPage(context: BrowserContext, url: string): Promise<OpenPage> {
  const page = await context.newPage();
  const foreign: string[] = [];
  const complaints: string[] = [];
  const { origin } = new URL(url);
  page.setDefaultTimeout(PATIENCE_MS);
  page.on("request", (request) => {
    const to = new URL(request.url());
    if (/^(https?|wss?):$/.test(to.protocol) && to.origin !== origin) foreign.push(to.href);
  });
  page.on("console", (message) => {
    if (["error", "warn"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => {
    complaints.push(error instanceof Error ? error.message : String(error));
  });
  await page.goto(url, { waitUntil: "load" });
  return { page, foreign, complaints, [Symbol.asyncDispose]: () => page.close() };
}
