import axe from "npm:axe-core@^4.14";
import type { Page } from "npm:puppeteer-core@25";

/** A rule of axe that some elements of a page break. */
interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** Loads no style sheets again, which a content security policy would report. */
const OPTIONS = { resultTypes: ["violations"], preload: false };

/** Gives the serious and critical findings of axe on a page as it is now. */
export async function findSerious(page: Page): Promise<string[]> {
  const isLoaded = await page.evaluate("typeof axe === 'object'");
  if (isLoaded === false) await page.evaluate(axe.source);
  const found = await page.evaluate(
    `axe.run(document, ${JSON.stringify(OPTIONS)}).then(({ violations }) => violations)`,
  ) as readonly Violation[];
  const serious = found.filter(({ impact }) => impact === "serious" || impact === "critical");
  return serious.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
