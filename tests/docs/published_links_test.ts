import { assertEquals } from "@std/assert";
import { dirname, join } from "node:path/posix";
import { mendLinks } from "../harness/tasks/pack/mend_links.ts";
import { listPublished } from "../harness/tasks/pack/stage_package.ts";

const ROOT = new URL("../../", import.meta.url);

function linksIn(text: string, page: string): string[] {
  return [...text.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, link = ""]) => link)
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => join(dirname(page), link));
}

/** The files of the repository that a page links to. */
async function linksOf(page: string): Promise<string[]> {
  return linksIn(await Deno.readTextFile(new URL(page, ROOT)), page);
}

Deno.test("README.md and the pages behind it link to files of the repository", async () => {
  const pages = new Set(["README.md"]);
  const missing: string[] = [];
  for (const page of pages) {
    for (const link of await linksOf(page)) {
      const exists = await Deno.stat(new URL(link, ROOT)).then(() => true, () => false);
      if (!exists) missing.push(`${page}: ${link}`);
      else if (link.endsWith(".md")) pages.add(link);
    }
  }
  assertEquals(missing, []);
  assertEquals(pages.has("ARCHITECTURE.md"), true);
});

Deno.test("the package has no maps, figures and pictures, and its pages link to none", async () => {
  const published = new Set(await listPublished());
  const other =
    /^(?!mod\.ts$|LICENSE$|(README|SKILL)\.md$|docs\/\w+\.md$|src\/[\w/]+\.[jt]s$|src\/admin\/_built\.d\.ts$)/;
  assertEquals([...published].filter((path) => other.test(path) || path.endsWith("_test.ts")), []);
  const dead: string[] = [];
  for (const page of [...published].filter((path) => path.endsWith(".md"))) {
    const text = await Deno.readTextFile(new URL(page, ROOT));
    const mended = mendLinks(text, { page, published });
    const links = linksIn(mended, page).filter((link) => !published.has(link));
    dead.push(...links.map((link) => `${page}: ${link}`));
  }
  assertEquals(dead, []);
});

Deno.test("mendLinks() keeps what the package has, and takes the rest", () => {
  const published = new Set(["README.md", "docs/lists.md"]);
  const mend = (text: string, page: string, root?: string) =>
    mendLinks(text, { page, published, ...root !== undefined && { root } });
  const rows: [text: string, mended: string][] = [
    ["[a](docs/lists.md#b) [c](x.md)", "[a](docs/lists.md#b) c"],
    ["[`a([b])`](x.md) and [`[c]`](docs/lists.md)", "`a([b])` and [`[c]`](docs/lists.md)"],
    ["| ![d](a.png) | ![e](b.svg) |\n", ""],
    [
      "[f](https://example.com/x.md) `g[h](i)` [j](#k)",
      "[f](https://example.com/x.md) `g[h](i)` [j](#k)",
    ],
  ];
  for (const [text, mended] of rows) assertEquals(mend(text, "README.md"), mended);
  assertEquals(
    mend("[a](docs/lists.md#b)", "README.md", "https://b.c/"),
    "[a](https://b.c/docs/lists.md#b)",
  );
  assertEquals(
    mend("[a](lists.md) [b](../README.md)", "docs/x.md"),
    "[a](lists.md) [b](../README.md)",
  );
});

/** The anchors of the headings of a page, as GitHub makes them. */
function anchorsIn(text: string): string[] {
  const prose = text.replaceAll(/^```[^]*?^```$/gm, "");
  return [...prose.matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
    title.toLowerCase().replaceAll(/[^\p{L}\p{N}_ -]/gu, "").replaceAll(" ", "-")
  );
}

Deno.test("links to headings have their headings", async () => {
  const entries = await Array.fromAsync(Deno.readDir(new URL("docs/", ROOT)));
  const docs = entries.map(({ name }) => `docs/${name}`).filter((path) => path.endsWith(".md"));
  const missing: string[] = [];
  for (const page of [...docs, "README.md", "SKILL.md"]) {
    const text = await Deno.readTextFile(new URL(page, ROOT));
    for (const [, link = "", anchor = ""] of text.matchAll(/\]\(([^)#:]*)#([^)]+)\)/g)) {
      const target = link === "" ? page : join(dirname(page), link);
      const headings = anchorsIn(await Deno.readTextFile(new URL(target, ROOT)));
      if (!headings.includes(anchor)) missing.push(`${page}: ${link}#${anchor}`);
    }
  }
  assertEquals(missing, []);
});

Deno.test("docs/README.md lists every page", async () => {
  const index = await linksOf("docs/README.md");
  const entries = await Array.fromAsync(Deno.readDir(new URL("docs/", ROOT)));
  const pages = entries.map(({ name }) => `docs/${name}`).filter((path) => /\w\.md$/.test(path));
  assertEquals(pages.filter((page) => page !== "docs/README.md" && !index.includes(page)), []);
});
