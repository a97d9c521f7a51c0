/**
 * A program that creates a new application with a model, a start file, a test, settings and a README, without prompts.
 * It fails if the folder contains files, except hidden files and files of package managers.
 *
 * @example With Deno
 * ```sh
 * deno run -A jsr:@mongrove/mongrove/new my-app
 * ```
 *
 * @example With Node
 * ```sh
 * mkdir my-app && cd my-app && npm init -y
 * npx jsr add @mongrove/mongrove
 * node node_modules/@mongrove/mongrove/src/new/mod.js
 * ```
 *
 * With `--plain`, the model has no decorators, so that Node 22.18 and later need no compiler. With `--login`, users
 * sign up by an invitation, sign in, and share the entities of their organisation.
 *
 * @module
 */
import { existsSync, realpathSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import {
  filesOf,
  NODE_FILES,
  type PackageSettings,
  packageSettings,
  SECRET_FILE,
} from "./template.ts";

/** Options of {@linkcode createApp}. */
export interface CreateAppOptions {
  /**
   * The runtime of the new application.
   *
   * @default {the runtime that calls the function}
   */
  readonly runtime?: "deno" | "node";
  /**
   * Whether the model is declared by `define()`, so that Node 22.18 and later need no compiler.
   *
   * @default {false}
   */
  readonly plain?: boolean;
  /**
   * Whether users sign in, by the package better-auth, and share only the entities of their organisation.
   *
   * @default {false}
   */
  readonly login?: boolean;
}

/** Names that package managers and version control may have written before. */
const LEFT = /^(\..*|node_modules|package\.json|package-lock\.json|pnpm-lock\.yaml|yarn\.lock)$/;

/**
 * Writes the files of a new application into a folder.
 *
 * @param folder The folder, which is created if it does not exist.
 * @param options Options of the application.
 * @returns The names of the written files.
 * @throws {TypeError} If an option is wrong.
 * @throws {Error} If the folder contains files, except hidden files and files of package managers. Nothing is written
 * then.
 *
 * @example Make an application
 * ```ts ignore
 * import { createApp } from "@mongrove/mongrove/new";
 *
 * await createApp("my-app", { runtime: "deno" });
 * ```
 */
export async function createApp(
  folder: string,
  { runtime = "Deno" in globalThis ? "deno" : "node", ...kind }: CreateAppOptions = {},
): Promise<string[]> {
  checkOptions({ runtime, ...kind });
  const path = resolve(folder);
  await mkdir(path, { recursive: true });
  const own = (await readdir(path)).find((name) => !LEFT.test(name));
  if (own !== undefined) {
    throw new Error(`Cannot make an application: folder "${folder}" is not empty: "${own}"`);
  }
  const files = { ...filesOf(basename(path), { ...kind, runtime }) };
  if (runtime === "node") {
    files["package.json"] = await completePackage(
      join(path, "package.json"),
      packageSettings(kind),
    );
  }
  const ignored = [
    ...runtime === "node" ? ["node_modules/"] : [],
    ...kind.login ? [SECRET_FILE] : [],
  ];
  if (ignored.length > 0) {
    files[".gitignore"] = await completeIgnored(join(path, ".gitignore"), ignored);
  }
  if (runtime === "node") {
    for (const [name, text] of Object.entries(NODE_FILES)) {
      if (!existsSync(join(path, name))) files[name] = text;
    }
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  return Object.keys(files);
}

function checkOptions({ runtime, ...flags }: CreateAppOptions): void {
  const fail = (problem: string) => new TypeError(`Cannot make an application: ${problem}`);
  if (runtime !== "deno" && runtime !== "node") {
    throw fail(`"runtime" is neither "deno" nor "node"`);
  }
  for (const [name, value] of Object.entries(flags)) {
    if (name !== "plain" && name !== "login") throw fail(`there is no option "${name}"`);
    if (value !== undefined && typeof value !== "boolean") throw fail(`"${name}" is not a boolean`);
  }
}

/** The test script of `npm init`. */
const NO_TEST = /no test specified/;

/** Existing entries are kept, except `type` and the test script of `npm init`. */
async function completePackage(path: string, settings: PackageSettings): Promise<string> {
  const given: Partial<PackageSettings> = existsSync(path)
    ? readObject(await readFile(path, "utf8"))
    : { private: true };
  const { type, scripts, dependencies, devDependencies, ...others } = settings;
  const own = Object.entries(given.scripts ?? {}).filter(([, script]) => !NO_TEST.test(script));
  const complete = {
    ...others,
    ...given,
    type,
    scripts: { ...scripts, ...Object.fromEntries(own) },
    dependencies: { ...dependencies, ...given.dependencies },
    devDependencies: { ...devDependencies, ...given.devDependencies },
  };
  return `${JSON.stringify(complete, null, 2)}\n`;
}

async function completeIgnored(path: string, lines: readonly string[]): Promise<string> {
  const given = existsSync(path) ? await readFile(path, "utf8") : "";
  const missing = lines.filter((line) => !given.split(/\r?\n/).includes(line));
  const start = given === "" || given.endsWith("\n") ? given : `${given}\n`;
  return start + missing.map((line) => `${line}\n`).join("");
}

function readObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ""));
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // The error of `JSON.parse()` does not name the file.
  }
  throw new Error("Cannot make an application: package.json is no JSON object");
}

const USAGE = `Usage: new [folder] [--plain] [--login]

  --plain  a model without decorators, which Node runs without a compiler
  --login  users sign up by invitation, and sign in
`;

async function main(args: readonly string[]): Promise<void> {
  if (args.includes("--help") || args.includes("-h")) return void process.stdout.write(USAGE);
  try {
    const [folder = ".", ...others] = args.filter((arg) => arg !== "--plain" && arg !== "--login");
    const unknown = [folder, ...others].find((arg) => arg.startsWith("-")) ?? others[0];
    if (unknown !== undefined) {
      throw new Error(
        `Cannot make an application: "${unknown}" is neither a folder nor --plain nor --login`,
      );
    }
    const [plain, login] = [args.includes("--plain"), args.includes("--login")];
    const files = await createApp(folder, { plain, login });
    const shown = /^[\w./\\:~-]+$/.test(folder) ? folder : JSON.stringify(folder);
    const enter = folder === "." ? "" : `cd ${shown} && `;
    const test = "Deno" in globalThis ? "deno task test" : "npm install && npm test";
    const start = "Deno" in globalThis ? "deno task start" : "npm start";
    const run = "Deno" in globalThis ? "deno task" : "npm run";
    const next = [
      `${enter}${test}`,
      start,
      ...login ? [`${run} make-admin boss@acme.example`] : [],
    ];
    process.stdout.write(`Wrote ${files.join(", ")}. Next:\n\n  ${next.join("\n  ")}\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
}

/**
 * An import must not run the program. Node before version 24.2 has no `import.meta.main`, so paths are compared. The
 * path does not exist if the program was started without the extension of its file.
 */
function isProgram(): boolean {
  const { main } = import.meta as { readonly main?: boolean };
  const [, program = ""] = process.argv;
  return main ??
    (existsSync(program) && pathToFileURL(realpathSync(program)).href === import.meta.url);
}

if (isProgram()) await main(process.argv.slice(2));
