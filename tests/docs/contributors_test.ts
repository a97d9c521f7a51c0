import { assert, assertEquals } from "@std/assert";

const ROOT = new URL("../../", import.meta.url);

const MOST_WORDS = { "ARCHITECTURE.md": 2500, "CONTRIBUTING.md": 450 };

const readPage = (page: string) => Deno.readTextFile(new URL(page, ROOT));

/** Files anywhere in the text, and folders in backticks, such as `store/writes/`. */
function pathsIn(text: string): Set<string> {
  const files = text.match(/(?<![\w./])[\w-][\w./-]*\.(?:tsx?|json|md|txt)\b/g) ?? [];
  const folders = Array.from(text.matchAll(/`([\w-][\w./-]*\/)`/g), ([, path = ""]) => path);
  return new Set([...files, ...folders]);
}

async function isThere(path: string): Promise<boolean> {
  const places = [`src/${path}`, path].map((each) => Deno.stat(new URL(each, ROOT)));
  return (await Promise.allSettled(places)).some(({ status }) => status === "fulfilled");
}

async function readSources(folder: URL): Promise<string> {
  const texts: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) texts.push(await readSources(new URL(`${name}/`, folder)));
    else if (name.endsWith(".ts")) texts.push(await Deno.readTextFile(new URL(name, folder)));
  }
  return texts.join("\n");
}

Deno.test("the pages for contributors name files and folders that exist", async () => {
  for (const page of Object.keys(MOST_WORDS)) {
    const paths = [...pathsIn(await readPage(page))];
    const found = await Promise.all(paths.map(isThere));
    assertEquals(paths.filter((_, index) => !found[index]), [], page);
    assert(paths.length > 5, page);
  }
});

Deno.test("ARCHITECTURE.md names types and functions that exist", async () => {
  const names = new Set((await readPage("ARCHITECTURE.md")).match(/\b[A-Za-z]*[a-z][A-Z]\w*\b/g));
  const known = new Set((await readSources(new URL("src/", ROOT))).match(/\w+/g));
  assertEquals([...names].filter((name) => !known.has(name)), []);
  assert(names.size > 20);
});

Deno.test("the pages for contributors stay short", async () => {
  for (const [page, most] of Object.entries(MOST_WORDS)) {
    const { length } = (await readPage(page)).match(/\S+/g) ?? [];
    assert(length <= most, `${page} has ${length} words, and at most ${most} are allowed`);
  }
});
