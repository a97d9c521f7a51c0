import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
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

const { jsrUrl, nodes: [oldest, node], published } = openWorkspace();

const cwd = await Deno.makeTempDir({ prefix: "mongrove-npm-" });

/** The runtimes that the package promises, by their binaries, and what each calls its version. */
const RUNTIMES = [
  ["Node 22", oldest.path, "v22."],
  ["Node 24", await openRuntime("Node 24"), "v24."],
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

/** Installs the package under its own name, as `deno pack` makes it for npm: nothing of it comes from JSR. */
async function install(): Promise<void> {
  await Deno.writeTextFile(join(cwd, ".npmrc"), `@mongrove:registry=${jsrUrl}npm/\n`);
  await Deno.writeTextFile(join(cwd, "package.json"), '{ "type": "module", "private": true }');
  const add = (...names: string[]) =>
    runCommand("npm", ["install", "--no-audit", "--no-fund", ...names], { cwd });
  await add("@mongrove/mongrove", "express", "mongoose");
}

/** Counts what is installed. */
async function countPackages(): Promise<number> {
  const lock = await Deno.readTextFile(join(cwd, "node_modules/.package-lock.json"));
  const { packages } = JSON.parse(lock) as { packages: object };
  return Object.keys(packages).length;
}

/** Fails above a bound. A change that is worth more raises it, and adds a row to bench/RESULTS.md. */
function bound(name: "published" | "packages" | "instantiations", figure: number) {
  const most = bounds[name];
  assert(figure <= most, `${name}: ${figure}, more than the ${most} of bench/sizes.json`);
}

await install();
const packages = await countPackages();

test("the package of npm has the bytes and the dependencies that it had", () => {
  bound("published", Object.values(published).reduce((sum, size) => sum + size, 0));
  bound("packages", packages);
});

test("the package of npm serves the README's application, by its own name and types", async () => {
  await Deno.writeTextFile(join(cwd, "main.ts"), await readApp());
  await Deno.writeTextFile(join(cwd, "tsconfig.json"), await readTsconfig());
  const tools = ["typescript@5.9", "@types/express", "@types/node"];
  await runCommand("npm", ["install", "--no-audit", "--no-fund", "-D", ...tools], { cwd });
  await runCommand("npx", ["tsc", "--outDir", "dist"], { cwd });
  await using database = await openDatabase();
  await using app = await startApp([node.path, "dist/main.js"], {
    cwd,
    env: { MONGODB_URI: database.uri },
  });
  assertEquals(await converse(app.url), ANSWERS);
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

test("tsc checks 200 models and their clients with no more work than it had", async () => {
  const folder = join(cwd, "many");
  await Deno.mkdir(folder);
  await writeModels(folder, { count: 200, calls: true });
  const { compilerOptions } = JSON.parse(await readTsconfig());
  const config = { compilerOptions: { ...compilerOptions, noEmit: true }, include: ["*.ts"] };
  await Deno.writeTextFile(join(folder, "tsconfig.json"), JSON.stringify(config));
  const args = ["tsc", "-p", "many", "--extendedDiagnostics"];
  bound("instantiations", readCost(await runCommand("npx", args, { cwd })).instantiations);
});

test("tsc checks 200 models that define() declares with 1.1 times the work at most", async () => {
  const { compilerOptions } = JSON.parse(await readTsconfig());
  const config = { compilerOptions: { ...compilerOptions, noEmit: true }, include: ["*.ts"] };
  const costOf = async (form: "decorators" | "define"): Promise<number> => {
    const folder = join(cwd, form);
    await Deno.mkdir(folder);
    await writeModels(folder, { count: 200, calls: false, form });
    await Deno.writeTextFile(join(folder, "tsconfig.json"), JSON.stringify(config));
    const args = ["tsc", "-p", form, "--extendedDiagnostics"];
    return readCost(await runCommand("npx", args, { cwd })).instantiations;
  };
  const [decorators, define] = [await costOf("decorators"), await costOf("define")];
  assert(decorators > 100_000);
  assert(define <= 1.1 * decorators, `${define} instantiations, ${decorators} with decorators`);
});

globalThis.addEventListener("unload", () => Deno.removeSync(cwd, { recursive: true }));
