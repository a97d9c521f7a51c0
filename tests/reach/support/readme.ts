const ROOT = new URL("../../../", import.meta.url);

/** Reads a file of the repository. */
export async function readRepository(path: string): Promise<string> {
  return await Deno.readTextFile(new URL(path, ROOT));
}

/** Reads the README. */
export async function readReadme(): Promise<string> {
  return await readRepository("README.md");
}

/**
 * Gives the first block of code below a heading of a page.
 *
 * @param page The text of the page.
 * @param heading The heading.
 * @param language What the block is marked with.
 * @throws {Error} If there is none.
 */
export function blockBelow(page: string, heading: string, language: string): string {
  const [, below] = page.split(new RegExp(`^#+ ${heading}$`, "m"));
  const block = below?.match(new RegExp(`^\`\`\`${language}\\b[^\\n]*\\n([^]*?)^\`\`\``, "m"))?.[1];
  if (block === undefined) throw new Error(`Cannot find ${language} code below "${heading}"`);
  return block;
}

/** The application of the README, as a user copies it. */
export async function readApp(): Promise<string> {
  return blockBelow(await readReadme(), "A complete application", "ts");
}

/** The `tsconfig.json` of the README. */
export async function readTsconfig(): Promise<string> {
  return blockBelow(await readReadme(), "Install", "json");
}

/** The same without connecting, listening and stopping, as tests need it. */
export async function readTestableApp(): Promise<string> {
  return toTestable(await readApp());
}

/** Takes from an application what connects, listens and stops. */
export function toTestable(app: string): string {
  const outside = /^(import (mongoose|\{ setTimeout)|const (uri|server|stop) =|while|process\.)/;
  const lines = app.split("\n").filter((line) => !outside.test(line));
  return lines.join("\n").replace("const app =", "export const app =");
}

/** The test of the README, and the configuration that the newest vitest needs. */
export async function readTesting(): Promise<{ test: string; vitestConfig: string }> {
  const page = await readRepository("docs/testing.md");
  return {
    test: blockBelow(await readReadme(), "Test your app", "ts"),
    vitestConfig: blockBelow(page, "vitest with Vite 8 and later", "ts"),
  };
}
