import { assertEquals } from "@std/assert";
import type { Page } from "npm:puppeteer-core@25";

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

function textsOf(selector: string): string {
  const all = `document.querySelectorAll(${JSON.stringify(selector)})`;
  return `[...${all}].map((found) => (found.value || found.innerText).replaceAll(/[\\u00a0\\u2009]/g, ' ').trim())`;
}
