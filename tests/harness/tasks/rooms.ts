import { dirname, relative, resolve } from "node:path";
import { type DenoResult, ROOT } from "./run_deno.ts";

/** They serve requests without knowing a feature. */
const KERNEL = [
  "store",
  "declare",
  "errors",
  "filter",
  "json",
  "pipeline",
  "schema",
  "sources",
  "write",
] as const;

/** The rooms of `src/`, and the rooms whose files each one may import. */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  admin: ["declare", "describe", "errors", "host", "http", "pipeline", "schema"],
  errors: [],
  new: [],
  testing: [],
  declare: ["errors"],
  client: ["declare"],
  tanstack: ["client"],
  plugin: ["declare", "errors"],
  keys: ["plugin"],
  adopt: ["declare", "errors", "schema"],
  schema: ["declare", "errors"],
  json: ["schema"],
  store: ["declare", "errors", "filter", "schema"],
  filter: ["errors", "schema"],
  write: ["declare", "errors", "filter", "json", "schema", "store"],
  sources: ["store", "declare", "errors", "filter", "json", "schema", "write"],
  pipeline: ["store", "declare", "errors", "filter", "json", "schema", "sources", "write"],
  changes: ["store", "declare", "errors", "schema"],
  describe: ["declare", "errors", "filter", "pipeline", "schema"],
  http: [
    ...["store", "declare", "describe", "errors", "filter", "json", "pipeline", "schema"],
    "write",
  ],
  features: [...KERNEL, "describe", "http"],
  host: [...KERNEL, "describe", "http", "features", "features.ts"],
  work: [
    ...["declare", "errors", "features.ts", "filter", "host", "http", "schema", "sources"],
    "store",
  ],
  mcp: ["declare", "describe", "errors", "filter", "host", "http", "pipeline", "schema"],
  openapi: ["declare", "describe", "errors", "filter", "host", "http", "pipeline", "schema"],
};

/** Returns imports of rooms that this room may not import. */
export function wrongImports(file: string, text: string): string[] {
  const [room = ""] = file.split("/");
  const targets = [...text.matchAll(/\bfrom\s+"(\.{1,2}\/[^"]+)"/g)]
    .map(([, path = ""]) => relative("/", resolve("/", dirname(file), path)));
  return targets.filter((target) => {
    const [other = ""] = target.split("/");
    // The table of option types names only the types of each feature.
    if (file === "declare/options.ts" && /^features\/\w+\/option\.ts$/.test(target)) return false;
    return room in ROOMS && other !== room && !ROOMS[room]?.includes(other);
  }).map((target) => `src/${file} imports ${target}: "${room}" may not import from there`);
}

/** The methods by which the driver and Mongoose write. */
const WRITES =
  /\.(?:insert(?:One|Many)|(?:update|delete)(?:One|Many)|replaceOne|bulkWrite|findOneAnd\w+)\((?!\)\.setOptions)/g;

/** Returns statements that write past `store/`. */
export function wrongWrites(file: string, text: string): string[] {
  const [room = ""] = file.split("/");
  // The probes of schema/ make queries that are not sent.
  if (["store", "schema"].includes(room) || !KERNEL.some((each) => each === room)) return [];
  return [...text.matchAll(WRITES)]
    .map(([found]) => `src/${file} has ${found.slice(1)}): only "store" writes entities`);
}

export function circlesIn(files: ReadonlyMap<string, string>): string[] {
  const circles: string[] = [];
  const done = new Set<string>();
  const follow = (file: string, way: readonly string[]): void => {
    if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(" → "));
    if (done.has(file)) return;
    done.add(file);
    const imports = (files.get(file) ?? "").matchAll(
      /^(?:import|export) (?!type\b)[^;]*?\bfrom\s+"(\.{1,2}\/[^"]+)"/gm,
    );
    for (const [, path = ""] of imports) {
      follow(relative("/", resolve("/", dirname(file), path)), [...way, file]);
    }
  };
  for (const file of files.keys()) follow(file, []);
  return circles;
}

/** Every file of `src/` must be in a room, import only what the room may import, and nothing that imports it. */
export async function checkRooms(): Promise<DenoResult> {
  const src = new URL("src/", ROOT);
  const wrong: string[] = [];
  const files = new Map<string, string>();
  for await (const file of filesIn(src)) {
    const name = decodeURIComponent(file.href.slice(src.href.length));
    const [room = "", ...rest] = name.split("/");
    if (rest.length > 0 && !(room in ROOMS)) wrong.push(`src/${room} is no room`);
    if (!name.endsWith("_test.ts")) {
      files.set(name, await Deno.readTextFile(file));
      const text = files.get(name) ?? "";
      wrong.push(...wrongImports(name, text), ...wrongWrites(name, text));
    }
  }
  wrong.push(...circlesIn(files).map((circle) => `src has a circle of imports: ${circle}`));
  return { code: wrong.length === 0 ? 0 : 1, output: wrong.join("\n") };
}

async function* filesIn(folder: URL): AsyncGenerator<URL> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) yield* filesIn(new URL(`${name}/`, folder));
    else if (name.endsWith(".ts")) yield new URL(name, folder);
  }
}
