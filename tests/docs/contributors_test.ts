import { assert, assertEquals } from "@std/assert";
import { ROOMS } from "../harness/tasks/rooms.ts";

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

/** What the sequences name of TypeScript, Express, MongoDB and Mongoose. */
const FOREIGN = ["Request", "Response", "Document"];

Deno.test("ARCHITECTURE.md names types and functions that exist", async () => {
  const page = await readPage("ARCHITECTURE.md");
  const names = new Set(page.match(/\b[A-Za-z]*[a-z][A-Z]\w*\b/g));
  const known = new Set((await readSources(new URL("src/", ROOT))).match(/\w+/g));
  assertEquals([...names].filter((name) => !known.has(name)), []);
  assert(names.size > 20);
});

Deno.test("ARCHITECTURE.md names types of the kernel in its sequences", async () => {
  const page = await readPage("ARCHITECTURE.md");
  const arrows = page.match(/(?:[\w,]+ )+──► (?:new )?[\w[\]]+/g) ?? [];
  const named = arrows.flatMap((arrow) => arrow.match(/\b[A-Z]\w*[a-z]\w*/g) ?? []);
  const kernel = Object.keys(ROOMS).filter((room) => ROOMS.host?.includes(room));
  const sources = await Promise.all(
    kernel.map((room) => readSources(new URL(`src/${room}/`, ROOT))),
  );
  const declared = sources.join("\n").matchAll(/\b(?:interface|type|class) (\w+)/g);
  const known = new Set([...Array.from(declared, ([, name]) => name), ...FOREIGN]);
  assertEquals(named.filter((name) => !known.has(name) && name !== "MongoDB"), []);
  assert(named.length > 30, String(named.length));
});

Deno.test("ARCHITECTURE.md has every room in its picture and its list", async () => {
  const page = await readPage("ARCHITECTURE.md");
  const [picture = ""] = page.split("## The picture")[1]?.split("Each folder") ?? [];
  const list = page.split("## The rooms")[1]?.split("## Limits")[0] ?? "";
  for (const room of Object.keys(ROOMS)) {
    assert(new RegExp(`\\b${room}\\b`).test(picture), `"${room}" is not in the picture`);
    assert(list.includes(`**\`${room}/\`**`), `"${room}" is not in the list`);
  }
});

Deno.test("the pages for contributors stay short", async () => {
  for (const [page, most] of Object.entries(MOST_WORDS)) {
    const { length } = (await readPage(page)).match(/\S+/g) ?? [];
    assert(length <= most, `${page} has ${length} words, and at most ${most} are allowed`);
  }
});
