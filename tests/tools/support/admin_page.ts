import { assertEquals } from "@std/assert";
import type { Page } from "npm:puppeteer-core@25";
import { buildApp } from "../../../examples/admin/app.ts";
import { buildPage } from "../../../examples/admin/build.ts";
import { SECRET_KEY } from "../../../examples/movies/hooks/authenticated.ts";
import { seed } from "../../../examples/movies/seed.ts";
import { type OpenPage, startChromium } from "./chromium.ts";
import { type OpenExample, openExample } from "./example.ts";

/** The admin page that is served. */
export interface OpenAdmin extends AsyncDisposable {
  /** The server. */
  readonly app: OpenExample;
  /** Opens a tab at a place such as `/movies`, and signs in. */
  readonly openTab: (place: string, key?: string) => Promise<Tab>;
  /** What Chromium said of answers that are errors; any other complaint is a failure. */
  readonly refusals: () => string[];
}

const REFUSAL = /^Failed to load resource: the server responded with a status of (\d+) /;

let script: Promise<string> | undefined;

/** Serves the admin page over a database of its own. Disposing fails if a tab asked other origins, or complained. */
export async function openAdmin(): Promise<OpenAdmin> {
  const app = await openExample({ buildApp: () => buildApp(() => script ??= buildPage()), seed });
  const chromium = await startChromium();
  const opened: OpenPage[] = [];
  const complaints = () => opened.flatMap((tab) => tab.complaints);
  return {
    app,
    async openTab(place, key = SECRET_KEY) {
      const tab = await chromium.open(`${app.url}/admin#${place}`);
      opened.push(tab);
      await tab.page.setViewport({ width: 1000, height: 800 });
      await tab.page.locator("input[name=key]").fill(key);
      await tab.page.locator("button[type=submit]").click();
      return new Tab(tab.page);
    },
    refusals: () => complaints().flatMap((text) => REFUSAL.exec(text)?.[1] ?? []),
    async [Symbol.asyncDispose]() {
      await chromium[Symbol.asyncDispose]();
      await app[Symbol.asyncDispose]();
      assertEquals(opened.flatMap(({ foreign }) => foreign), []);
      assertEquals(complaints().filter((text) => !REFUSAL.test(text)), []);
    },
  };
}

/** A tab with the admin page. */
export class Tab {
  constructor(readonly page: Page) {}

  /** Waits until there is something, and clicks on it. */
  async click(selector: string): Promise<void> {
    await this.page.locator(selector).click();
  }

  /** Clicks on the row of a table that has a text. */
  async open(text: string): Promise<void> {
    await this.click(`td ::-p-text(${text})`);
  }

  /** Clicks on a button that sends a write, and waits for the answer. */
  async send(selector: string): Promise<void> {
    const answer = this.page.waitForResponse((each) => each.request().method() !== "GET");
    await this.click(selector);
    await answer;
  }

  /** Replaces what a field has. */
  async fill(field: string, text: string): Promise<void> {
    await this.replace(`[name="${field}"]`, text);
  }

  /** Replaces what the input that a selector finds has. */
  async replace(selector: string, text: string): Promise<void> {
    await this.page.locator(selector).click({ count: 3 });
    await this.page.keyboard.press("Backspace");
    await this.type(selector, text);
  }

  /** Types a text. */
  async type(selector: string, text: string): Promise<void> {
    await this.page.waitForSelector(selector);
    await this.page.type(selector, text);
  }

  /** Waits until the texts of all that a selector finds are these. */
  async until(selector: string, expected: readonly string[]): Promise<void> {
    const wanted = JSON.stringify(expected);
    const texts = `JSON.stringify(${textsOf(selector)})`;
    await this.page.waitForFunction(`${texts} === ${JSON.stringify(wanted)}`, { timeout: 60_000 })
      .catch(async () => assertEquals(await this.page.evaluate(textsOf(selector)), expected));
  }
}

/** The rows of the column with the names in a table. */
export const ROWS = "tbody .column-name";

function textsOf(selector: string): string {
  const all = `document.querySelectorAll(${JSON.stringify(selector)})`;
  return `[...${all}].map((found) => (found.value || found.innerText).replaceAll(/[\\u00a0\\u2009]/g, ' ').trim())`;
}
