import { assert, assertEquals, assertMatch } from "@std/assert";
import { delimiter, dirname, join } from "node:path";
import bounds from "../../bench/sizes.json" with { type: "json" };
import { openRuntime } from "../tools/support/runtimes.ts";
import { readCost, writeModels } from "../types/compiler/many_models.ts";
import { openDatabase } from "../harness/database.ts";
import { test } from "../harness/testing.ts";
import { ANNOTATED, INFERRED } from "./support/exporting_app.ts";
import { readApp, readTsconfig } from "./support/readme.ts";
import { runCommand, tryCommand } from "./support/run_command.ts";
import { startApp } from "./support/start_app.ts";
import { ANSWERS, converse } from "./support/todo_conversation.ts";
import { openWorkspace } from "./support/workspace.ts";

const { nodes: [, newest], npmPackage, published } = openWorkspace();

const cwd = await Deno.makeTempDir({ prefix: "mongrove-npm-" });

const [node22, node24] = [await openRuntime("Node 22"), await openRuntime("Node 24")];

/** The runtimes that serve the package, by their binaries, and what each calls its version. */
const RUNTIMES = [
  ["Node 22", node22, "v22."],
  ["Node 24", node24, "v24."],
  ["Node 26", await openRuntime("Node 26"), "v26."],
  ["Bun 1.4", await openRuntime("Bun 1.4"), "1.4."],
] as const;

/** Creates and lists by the client, reads the OpenAPI document, prints all three, and ends by itself. */
const SCRIPT = `import express from "express";
import mongoose from "mongoose";
import { once } from "node:events";
import process from "node:process";
import { all, create, define, Framework, FrameworkModel } from "@mongrove/mongrove";
import { connect } from "@mongrove/mongrove/client";
import { openapi } from "@mongrove/mongrove/openapi";

class Todo extends FrameworkModel {}
define(Todo, {
  fields: { text: { type: String, required: true } },
  rest: { route: "/todos", methods: [all(), create()] },
});

await mongoose.connect(process.env.MONGODB_URI);
const api = Framework.initialize({ strict: { guards: false, lists: false } });
const app = express().use(express.json(), api, openapi(api, { info: { title: "A", version: "1" } }));
const server = app.listen(0, "127.0.0.1");
await once(server, "listening");
const url = "http://127.0.0.1:" + server.address().port;
const todos = connect(url).resource("/todos");
const { text } = await todos.create({ text: "a" });
const { code } = await todos.create({ txt: "c" }).catch((error) => error);
const { items } = await todos.all();
const { openapi: version, paths } = await (await fetch(url + "/openapi.json")).json();
console.log(JSON.stringify([text, items.length, code, version, Object.keys(paths)]));
await Framework.close(server);
await mongoose.disconnect();
`;

const PRINTED = ["a", 1, "BAD_DATA", "3.1.1", ["/todos"]];

const NPM = ["install", "--no-audit", "--no-fund"];

/** Makes the archive that `npm publish` sends. */
async function pack(): Promise<string> {
  const [{ filename }] = JSON.parse(
    await runCommand("npm", ["pack", "--json", npmPackage], { cwd }),
  );
  return join(cwd, filename);
}

/** Lists the files below a folder. */
async function* walk(folder: string): AsyncGenerator<{ path: string; size: number }> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) yield* walk(path);
    else yield { path, size: (await Deno.stat(path)).size };
  }
}

/** Counts what is installed. */
async function countPackages(): Promise<number> {
  const lock = await Deno.readTextFile(join(cwd, "node_modules/.package-lock.json"));
  const { packages } = JSON.parse(lock) as { packages: object };
  return Object.keys(packages).length;
}

/** Fails above a bound. A change that is worth more raises it, and adds a row to bench/RESULTS.md. */
function bound(name: "published" | "npm" | "packages" | "instantiations", figure: number) {
  const most = bounds[name];
  assert(figure <= most, `${name}: ${figure}, more than the ${most} of bench/sizes.json`);
}

await Deno.writeTextFile(join(cwd, "package.json"), '{ "type": "module", "private": true }');
const archive = await pack();
await runCommand("npm", [...NPM, archive, "express", "mongoose"], { cwd });
const packages = await countPackages();
const installed = join(cwd, "node_modules/@mongrove/mongrove");

test("the packages have the bytes and the dependencies that they had", async () => {
  bound("published", Object.values(published).reduce((sum, size) => sum + size, 0));
  bound("packages", packages);
  const files = await Array.fromAsync(walk(installed));
  bound("npm", files.reduce((sum, { size }) => sum + size, 0));
  assertEquals(
    files.filter(({ path }) => !/(\.js|\.d\.ts|\.md|package\.json|LICENSE)$/.test(path)),
    [],
  );
});

test("the manifest of the package names its entries, Node and its peers", async () => {
  const manifest = JSON.parse(await Deno.readTextFile(join(installed, "package.json")));
  const { type, engines, exports, dependencies, peerDependencies } = manifest;
  const { peerDependenciesMeta: optional } = manifest;
  assertEquals([type, engines, dependencies], ["module", { node: ">=22" }, undefined]);
  assertEquals(Object.keys(peerDependencies), ["express", "mongoose", "@types/express"]);
  assertEquals(optional, { "@types/express": { optional: true } });
  const entries = "admin adopt changes client keys mcp new openapi plugin tanstack testing work"
    .split(" ");
  assertEquals(Object.keys(exports), [".", ...entries.map((name) => `./${name}`)]);
  for (
    const { types = "", import: module = "" } of Object.values<Record<string, string>>(exports)
  ) {
    for (const path of [types, module]) assert((await Deno.stat(join(installed, path))).isFile);
  }
});

test("the package of npm serves the README's application, by its own name and types", async () => {
  await Deno.writeTextFile(join(cwd, "main.ts"), await readApp());
  await Deno.writeTextFile(join(cwd, "tsconfig.json"), await readTsconfig());
  const tools = ["typescript@5.9", "@types/express", "@types/node"];
  await runCommand("npm", [...NPM, "-D", ...tools], { cwd });
  await runCommand("npx", ["tsc", "--outDir", "dist"], { cwd });
  for (const path of [node22, node24, newest.path]) {
    await using database = await openDatabase();
    const env = { MONGODB_URI: database.uri };
    await using app = await startApp([path, "dist/main.js"], { cwd, env });
    assertEquals(await converse(app.url), ANSWERS);
  }
});

test("declarations of an application need no type that the package does not export", async () => {
  const folder = join(cwd, "exporting");
  await Deno.mkdir(folder);
  const options = { module: "nodenext", target: "es2022", strict: true, skipLibCheck: true };
  const compilerOptions = { ...options, types: ["node"], declaration: true, outDir: "." };
  for (const [name, text] of Object.entries({ inferred: INFERRED, annotated: ANNOTATED })) {
    await Deno.writeTextFile(join(folder, `${name}.ts`), text);
    const isolatedDeclarations = name === "annotated";
    const config = {
      compilerOptions: { ...compilerOptions, isolatedDeclarations },
      files: [`${name}.ts`],
    };
    await Deno.writeTextFile(join(folder, `${name}.json`), JSON.stringify(config));
    await runCommand("npx", ["tsc", "-p", `exporting/${name}.json`], { cwd });
    const declarations = await Deno.readTextFile(join(folder, `${name}.d.ts`));
    assertEquals(declarations.match(/import\("[^"]*node_modules\/@mongrove[^)]*\)\.\w+/g), null);
  }
});

await Deno.writeTextFile(join(cwd, "script.js"), SCRIPT);

for (const [name, path, version] of RUNTIMES) {
  test(`${name} serves the package of npm: a creation, a list, the document, and the client`, async () => {
    assertMatch((await tryCommand(path, ["--version"], { cwd })).output, new RegExp(`^${version}`));
    await using database = await openDatabase();
    const env = { MONGODB_URI: database.uri };
    const printed = await runCommand(path, ["script.js"], { cwd, env });
    assertEquals(JSON.parse(printed), PRINTED);
  });
}

/** Installers of npm's packages, which let a package import nothing but what it declares. */
const INSTALLERS = [
  ["pnpm", "pnpm@10", ["node"]],
  ["yarn", "@yarnpkg/cli-dist@4", ["npx", "-y", "@yarnpkg/cli-dist@4", "node"]],
] as const;

for (const [name, program, [command, ...args]] of INSTALLERS) {
  test(`${name} installs the package of npm, which serves`, async () => {
    // Outside of the other project, whose packages Node would find.
    const folder = await Deno.makeTempDir({ prefix: `mongrove-${name}-` });
    await Deno.writeTextFile(join(folder, "package.json"), '{ "type": "module", "private": true }');
    await Deno.writeTextFile(join(folder, "script.js"), SCRIPT);
    await using database = await openDatabase();
    const PATH = [dirname(node24), Deno.env.get("PATH")].join(delimiter);
    const options = { cwd: folder, env: { MONGODB_URI: database.uri, PATH } };
    const add = ["-y", program, "add", archive, "express", "mongoose"];
    await runCommand("npx", add, options);
    const printed = await runCommand(command, [...args, "script.js"], options);
    assertEquals(JSON.parse(printed), PRINTED);
    await Deno.remove(folder, { recursive: true });
  });
}

/** Without the declarations of libraries, whose work depends on no model. */
async function readConfig(): Promise<object> {
  const { compilerOptions } = JSON.parse(await readTsconfig());
  const own = { ...compilerOptions, noEmit: true, skipLibCheck: true };
  return { compilerOptions: own, include: ["*.ts"] };
}

test("tsc checks 50 models and their clients with no more work than it had", async () => {
  const folder = join(cwd, "many");
  await Deno.mkdir(folder);
  await writeModels(folder, { count: 50, calls: true });
  const config = await readConfig();
  await Deno.writeTextFile(join(folder, "tsconfig.json"), JSON.stringify(config));
  const args = ["tsc", "-p", "many", "--extendedDiagnostics"];
  bound("instantiations", readCost(await runCommand("npx", args, { cwd })).instantiations);
});

test("tsc checks 50 models that define() declares with 1.1 times the work at most", async () => {
  const config = await readConfig();
  const costOf = async (form: "decorators" | "define"): Promise<number> => {
    const folder = join(cwd, form);
    await Deno.mkdir(folder);
    await writeModels(folder, { count: 50, calls: false, form });
    await Deno.writeTextFile(join(folder, "tsconfig.json"), JSON.stringify(config));
    const args = ["tsc", "-p", form, "--extendedDiagnostics"];
    return readCost(await runCommand("npx", args, { cwd })).instantiations;
  };
  const [decorators, define] = [await costOf("decorators"), await costOf("define")];
  assert(decorators > 100_000);
  assert(define <= 1.1 * decorators, `${define} instantiations, ${decorators} with decorators`);
});

globalThis.addEventListener("unload", () => Deno.removeSync(cwd, { recursive: true }));
