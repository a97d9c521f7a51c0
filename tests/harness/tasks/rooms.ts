import { dirname, relative, resolve } from "node:path";
import { type DenoResult, ROOT } from "./run_deno.ts";

/** The rooms of `src/`, and the rooms whose files each one may import. */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  testing: [],
  declare: ["errors"],
  client: ["declare"],
  schema: ["declare", "errors"],
  json: ["schema"],
  database: ["declare", "errors", "schema"],
  filter: ["errors", "schema"],
  write: ["declare", "errors", "filter", "json", "schema"],
  sources: ["database", "declare", "errors", "filter", "json", "schema", "write"],
  pipeline: ["database", "declare", "errors", "filter", "json", "schema", "sources", "write"],
  http: ["database", "declare", "errors", "filter", "json", "pipeline", "schema", "write"],
  openapi: ["errors", "filter", "http", "schema"],
};

/** Gives the imports of a file that lead to a room that its own room may not import. */
export function wrongImports(file: string, text: string): string[] {
  const [room = ""] = file.split("/");
  const targets = [...text.matchAll(/\bfrom\s+"(\.{1,2}\/[^"]+)"/g)]
    .map(([, path = ""]) => relative("/", resolve("/", dirname(file), path)));
  return targets.filter((target) => {
    const [other = ""] = target.split("/");
    return room in ROOMS && other !== room && !ROOMS[room]?.includes(other);
  }).map((target) => `src/${file} imports ${target}: "${room}" may not import from there`);
}

/** Checks that every file of `src/` stands in a room and imports only what the room may import. */
export async function checkRooms(): Promise<DenoResult> {
  const src = new URL("src/", ROOT);
  const wrong: string[] = [];
  for await (const file of filesIn(src)) {
    const name = decodeURIComponent(file.href.slice(src.href.length));
    const [room = "", ...rest] = name.split("/");
    if (rest.length > 0 && !(room in ROOMS)) wrong.push(`src/${room} is no room`);
    if (!name.endsWith("_test.ts")) {
      wrong.push(...wrongImports(name, await Deno.readTextFile(file)));
    }
  }
  return { code: wrong.length === 0 ? 0 : 1, output: wrong.join("\n") };
}

async function* filesIn(folder: URL): AsyncGenerator<URL> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) yield* filesIn(new URL(`${name}/`, folder));
    else if (name.endsWith(".ts")) yield new URL(name, folder);
  }
}
