import { assertEquals } from "@std/assert";
import { dirname, join } from "node:path/posix";

const ROOT = new URL("../../", import.meta.url);

/** Tells whether the package has a file, by what `deno.json` includes and excludes. */
async function isPublished(path: string): Promise<boolean> {
  const { publish } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
  const { include, exclude }: { include: string[]; exclude: string[] } = publish;
  const exists = await Deno.stat(new URL(path, ROOT)).then(() => true, () => false);
  const isIn = include.some((each) => path === each || path.startsWith(`${each}/`));
  return exists && isIn && !exclude.includes(path);
}

/** The files of the repository that a page links to. */
async function linksOf(page: string): Promise<string[]> {
  const text = await Deno.readTextFile(new URL(page, ROOT));
  return [...text.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, link = ""]) => link)
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => join(dirname(page), link));
}

Deno.test("README.md and the pages behind it link to what is published", async () => {
  const pages = new Set(["README.md"]);
  const missing: string[] = [];
  for (const page of pages) {
    for (const link of await linksOf(page)) {
      if (!await isPublished(link)) missing.push(`${page}: ${link}`);
      else if (link.endsWith(".md")) pages.add(link);
    }
  }
  assertEquals(missing, []);
  assertEquals(pages.has("ARCHITECTURE.md"), true);
});

Deno.test("docs/README.md lists every page", async () => {
  const index = await linksOf("docs/README.md");
  const entries = await Array.fromAsync(Deno.readDir(new URL("docs/", ROOT)));
  const pages = entries.map(({ name }) => `docs/${name}`).filter((path) => /\w\.md$/.test(path));
  assertEquals(pages.filter((page) => page !== "docs/README.md" && !index.includes(page)), []);
});
