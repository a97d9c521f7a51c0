/**
 * A program that creates a new application with a model, a test and a README, without prompts.
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
 * The flags `--plain`, `--login`, `--from` and `--write` are options of {@linkcode CreateAppOptions}. With `--from`,
 * the program reads the database at `MONGODB_URI`, and writes nothing to it.
 *
 * @module
 */
import { existsSync, realpathSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { changesFrom, filesFrom, RECORD_FILE } from "./from.ts";
import { withoutPassword } from "./read_database.ts";
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
   * Whether the model is declared by `define()`, so Node 22.18 and later need no compiler.
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
  /**
   * The URI of a database whose collections become models. If the folder has such models, their differences are
   * reported, and nothing is written without `write`.
   */
  readonly from?: string;
  /**
   * Whether models of a changed database are written again, except files that were changed by hand.
   *
   * @default {false}
   */
  readonly write?: boolean;
  /** Takes each line of the report, which has no stored values. */
  readonly report?: (line: string) => void;
}

/** Such files may be in the folder already, because `npm init` or `git init` makes them. */
const LEFT = /^(\..*|node_modules|package\.json|package-lock\.json|pnpm-lock\.yaml|yarn\.lock)$/;

/**
 * Writes the files of a new application into a folder.
 *
 * @param folder The folder, which is created if it does not exist.
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
  { runtime = "Deno" in globalThis ? "deno" : "node", ...options }: CreateAppOptions = {},
): Promise<string[]> {
  checkOptions({ runtime, ...options });
  const { from: uri, write = false, report: tell = () => {}, ...kind } = options;
  // Names in the database may have characters that control a terminal.
  const report = (line: string) => tell(line.replaceAll(/\p{Cc}/gu, "\ufffd"));
  const path = resolve(folder);
  if (uri !== undefined && existsSync(join(path, RECORD_FILE))) {
    const changes = await changesFrom(path, { uri, report });
    return write ? await writeFiles(path, changes) : [];
  }
  await mkdir(path, { recursive: true });
  const own = (await readdir(path)).find((name) => !LEFT.test(name));
  if (own !== undefined) {
    throw new Error(`Cannot make an application: folder "${folder}" is not empty: "${own}"`);
  }
  const from = uri === undefined
    ? undefined
    : await filesFrom({ uri, plain: kind.plain === true, report });
  const files = { ...filesOf(basename(path), { ...kind, runtime, from }) };
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
  return await writeFiles(path, files);
}

async function writeFiles(
  folder: string,
  files: Readonly<Record<string, string>>,
): Promise<string[]> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return Object.keys(files);
}

const FLAGS = ["plain", "login", "write"];

function checkOptions({ runtime, from, report, ...flags }: CreateAppOptions): void {
  const fail = (problem: string) => new TypeError(`Cannot make an application: ${problem}`);
  if (runtime !== "deno" && runtime !== "node") {
    throw fail(`"runtime" is neither "deno" nor "node"`);
  }
  for (const [name, value] of Object.entries(flags)) {
    if (!FLAGS.includes(name)) throw fail(`there is no option "${name}"`);
    if (value !== undefined && typeof value !== "boolean") throw fail(`"${name}" is not a boolean`);
  }
  if (report !== undefined && typeof report !== "function") {
    throw fail('"report" is not a function');
  }
  if (from === undefined) {
    if (flags.write) throw fail('"write" needs "from"');
  } else if (typeof from !== "string" || !MONGODB.test(from)) {
    throw fail('"from" is not the URI of a MongoDB');
  } else if (flags.login) throw fail('"login" and "from" exclude each other');
}

const MONGODB = /^mongodb(\+srv)?:\/\//;

const NO_TEST = /no test specified/;

/** Keeps the existing entries of package.json, except `type` and the test script of `npm init`. */
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
    // The error of `JSON.parse()` does not name the file, unlike the error below.
  }
  throw new Error("Cannot make an application: package.json is no JSON object");
}

const USAGE = `Usage: new [folder] [--plain] [--login] [--from[=uri] [--write]]

  --plain  a model without decorators, which Node runs without a compiler
  --login  users sign up by invitation, and sign in
  --from   models of the collections at MONGODB_URI; a second run shows what has changed there
  --write  writes what has changed into models that nobody has changed
`;

interface Arguments extends CreateAppOptions {
  readonly folder: string;
}

function readArguments(args: readonly string[]): Arguments {
  const given: { folder?: string; from?: string; plain?: true; login?: true; write?: true } = {};
  for (const [index, arg] of args.entries()) {
    const [, uri] = /^--from=(.*)$/.exec(arg) ?? [];
    if (arg === "--plain" || arg === "--login" || arg === "--write") {
      given[arg.slice(2) as "plain"] = true;
    } else if (arg === "--from") given.from ??= process.env.MONGODB_URI ?? "";
    else if (uri !== undefined || args[index - 1] === "--from" && MONGODB.test(arg)) {
      given.from = uri ?? arg;
      process.stderr.write("Lists of processes show a URI: set MONGODB_URI instead\n");
    } else if (/^-|:\/\//.test(arg) || given.folder !== undefined) {
      const shown = withoutPassword(arg);
      throw new Error(
        `Cannot make an application: "${shown}" is neither a folder nor --plain, --login, --from nor --write`,
      );
    } else given.folder = arg;
  }
  if (given.from === "") {
    throw new Error("Cannot make an application: --from needs MONGODB_URI, or --from=mongodb://…");
  }
  return { folder: ".", ...given };
}

async function main(args: readonly string[]): Promise<void> {
  if (args.includes("--help") || args.includes("-h")) return void process.stdout.write(USAGE);
  try {
    const { folder, ...options } = readArguments(args);
    const report = (line: string) => void process.stdout.write(`${line}\n`);
    const isSecond = options.from !== undefined && existsSync(join(resolve(folder), RECORD_FILE));
    const files = await createApp(folder, { ...options, report });
    if (isSecond) {
      if (files.length > 0) report(`Wrote ${files.join(", ")}`);
      return;
    }
    const shown = /^[\w./\\:~-]+$/.test(folder) ? folder : JSON.stringify(folder);
    const enter = folder === "." ? "" : `cd ${shown} && `;
    const test = "Deno" in globalThis ? "deno task test" : "npm install && npm test";
    const start = "Deno" in globalThis ? "deno task start" : "npm start";
    const run = "Deno" in globalThis ? "deno task" : "npm run";
    const next = [
      `${enter}${test}`,
      options.from === undefined ? start : `API_KEY=secret ${start}`,
      ...options.login ? [`${run} make-admin boss@acme.example`] : [],
    ];
    process.stdout.write(`Wrote ${files.join(", ")}. Next:\n\n  ${next.join("\n  ")}\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
}

/**
 * An import must not run the program. Node before 24.2 has no `import.meta.main`, so paths are compared. For a command
 * without the file extension, `realpathSync()` would throw.
 */
function isProgram(): boolean {
  const { main } = import.meta as { readonly main?: boolean };
  const [, program = ""] = process.argv;
  return main ??
    (existsSync(program) && pathToFileURL(realpathSync(program)).href === import.meta.url);
}

if (isProgram()) await main(process.argv.slice(2));
