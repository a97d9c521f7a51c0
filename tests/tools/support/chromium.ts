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

/** A Chromium that runs. */
export interface Chromium extends AsyncDisposable {
  /** The browser. */
  readonly browser: Browser;
  /**
   * Opens a page.
   *
   * @param url Where to go first.
   * @param context The cookies and the storage of the page: those of the browser, unless others are given.
   * @returns The page, when it has loaded; disposing closes it.
   */
  readonly open: (url: string, context?: BrowserContext) => Promise<OpenPage>;
}

/** Root has no sandbox, and `/dev/shm` of a container is small. */
const ARGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"];

/** How long a busy machine may take to show something. */
const PATIENCE_MS = 120_000;

/** Starts Chromium, found or installed. Disposing ends it. */
export async function startChromium(): Promise<Chromium> {
  const browser = await launch({ executablePath: await findChromium(), args: ARGS });
  return {
    browser,
    open: (url, context = browser.defaultBrowserContext()) => openPage(context, url),
    [Symbol.asyncDispose]: () => browser.close(),
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
