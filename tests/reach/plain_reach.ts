import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { openDatabase } from "../harness/database.ts";
import { test } from "../harness/testing.ts";
import { openRuntime } from "../tools/support/runtimes.ts";
import { blockBelow, readApp, readRepository, toTestable } from "./support/readme.ts";
import { runCommand, tryCommand } from "./support/run_command.ts";
import { startApp } from "./support/start_app.ts";
import { ANSWERS, converse } from "./support/todo_conversation.ts";
import { NODE_INSTALL, openWorkspace } from "./support/workspace.ts";

const { denoProject, denoEnv, jsrUrl, nodeProject, nodes } = openWorkspace();

const app = await readRepository("examples/plain/app.ts");
const model = blockBelow(await readRepository("docs/models.md"), "Plain JavaScript", "js");

/** The application in JavaScript: the class of docs/models.md in the place of that of TypeScript. */
const script = app.replace(/^export class [^]*?^\}\n(?=define)/m, model);

/** Tells that a program has no compiler: a decorator and an enum are both syntax that only one can translate. */
const COMPILED = `enum Compiled { Yes }
console.log(Compiled.Yes);
`;

const VITEST_INSTALL = ["install", "--no-audit", "--no-fund", "-D", "vitest@4", "vite@8"];

/** Serves the application until vitest is ended. */
const SPEC = `import process from "node:process";
import { test } from "vitest";
process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
test("serves", async () => {
  await import("./app.ts");
  await new Promise(() => {});
}, 600_000);
`;

/** Makes a Node project that has the package and what it needs, and nothing else. */
async function makeProject(): Promise<string> {
  const cwd = await Deno.makeTempDir({ prefix: "mongrove-plain-" });
  await Deno.writeTextFile(join(cwd, ".npmrc"), `@jsr:registry=${jsrUrl}npm/\n`);
  await Deno.writeTextFile(join(cwd, "package.json"), '{ "type": "module", "private": true }');
  await Deno.writeTextFile(join(cwd, "app.ts"), app);
  await Deno.writeTextFile(join(cwd, "app.js"), script);
  await Deno.writeTextFile(join(cwd, "compiled.ts"), COMPILED);
  await Deno.writeTextFile(join(cwd, "decorated.ts"), await readApp());
  await runCommand("npx", ["-y", "jsr", "add", "@mongrove/mongrove"], {
    cwd,
    env: { JSR_URL: jsrUrl },
  });
  const [line = ""] = NODE_INSTALL;
  await runCommand("npm", ["install", "--no-audit", "--no-fund", ...line.split(" ").slice(2)], {
    cwd,
  });
  return cwd;
}

const cwd = await makeProject();
const [node, bun] = await Promise.all([openRuntime("Node 24"), openRuntime("Bun 1.4")]);

async function serve(command: readonly [string, ...string[]], folder = cwd): Promise<string[]> {
  await using database = await openDatabase();
  const env = { MONGODB_URI: database.uri };
  await using served = await startApp(command, { cwd: folder, env });
  return await converse(served.url);
}

test("Node 24 has no compiler that would help: neither enums nor decorators run", async () => {
  assertMatch((await tryCommand(node, ["--version"], { cwd })).output, /^v24\./);
  const { devDependencies } = JSON.parse(await Deno.readTextFile(join(cwd, "package.json")));
  assertEquals(devDependencies, undefined);
  for (const name of ["compiled.ts", "decorated.ts"]) {
    const { code, output } = await tryCommand(node, [name], { cwd });
    assert(code !== 0);
    assertStringIncludes(output, "SyntaxError");
  }
});

test("Node 24 serves examples/plain/app.ts by itself, without any other package", async () => {
  assertEquals(await serve([node, "app.ts"]), ANSWERS);
});

test("Node 24 serves examples/plain/app.ts in plain JavaScript", async () => {
  assert(!script.includes("text!: string"));
  assertStringIncludes(script, "export class Todo extends FrameworkModel {}");
  assertEquals(await serve([node, "app.js"]), ANSWERS);
});

test("Bun 1.4 serves examples/plain/app.ts, in TypeScript and in JavaScript", async () => {
  assertMatch((await tryCommand(bun, ["--version"], { cwd })).output, /^1\.4\./);
  for (const name of ["app.ts", "app.js"]) assertEquals(await serve([bun, name]), ANSWERS);
});

test("Bun 1.4 serves the README's application, whose decorators it compiles", async () => {
  assertEquals(await serve([bun, "decorated.ts"]), ANSWERS);
});

test("a project with TypeScript's older decorators compiles and serves examples/plain/app.ts", async () => {
  await Deno.writeTextFile(join(nodeProject, "plain.ts"), app);
  const options = ["--ignoreConfig", "--module", "nodenext", "--target", "es2022"];
  const legacy = ["--experimentalDecorators", "--emitDecoratorMetadata"];
  const tsc = ["node_modules/typescript/bin/tsc", "plain.ts", ...options, ...legacy];
  const args = [...tsc, "--outDir", "dist/plain-legacy"];
  await runCommand(nodes[1].path, args, { cwd: nodeProject });
  assertEquals(await serve([nodes[0].path, "dist/plain-legacy/plain.js"], nodeProject), ANSWERS);
});

test("Deno serves examples/plain/app.ts, and checks its types", async () => {
  await Deno.writeTextFile(join(denoProject, "plain.ts"), app);
  const options = { cwd: denoProject, env: denoEnv };
  await runCommand(Deno.execPath(), ["check", "plain.ts"], options);
  await using database = await openDatabase();
  const permissions = ["--allow-env", "--allow-net", "--allow-sys"];
  const run = [Deno.execPath(), "run", "--no-prompt", ...permissions, "plain.ts"] as const;
  await using served = await startApp(run, {
    cwd: denoProject,
    env: { ...denoEnv, MONGODB_URI: database.uri },
  });
  assertEquals(await converse(served.url), ANSWERS);
});

/** Makes a project below the first one, whose packages it finds, with vitest 4, Vite 8 and no configuration. */
async function makeVitestProject(): Promise<string> {
  const folder = join(cwd, "vitest4");
  await Deno.mkdir(folder);
  await Deno.writeTextFile(join(folder, "package.json"), '{ "type": "module" }');
  await Deno.writeTextFile(join(folder, "serves.test.ts"), SPEC);
  await Deno.writeTextFile(join(folder, "app.ts"), app);
  await runCommand("npm", VITEST_INSTALL, { cwd: folder });
  return folder;
}

test("vitest 4 with Vite 8 serves examples/plain/app.ts without a plugin", async () => {
  const folder = await makeVitestProject();
  const versionOf = async (name: string) =>
    JSON.parse(await Deno.readTextFile(join(folder, "node_modules", name, "package.json"))).version;
  assertMatch(await versionOf("vitest"), /^4\./);
  assertMatch(await versionOf("vite"), /^8\./);
  const run = [node, "node_modules/vitest/vitest.mjs", "run", "serves.test.ts"] as const;
  assertEquals(await serve(run, folder), ANSWERS);
  // The same runner reads no decorators
  await Deno.writeTextFile(join(folder, "app.ts"), toTestable(await readApp()));
  const { code, output } = await tryCommand(node, run.slice(1), { cwd: folder });
  assert(code !== 0);
  assertStringIncludes(output, "SyntaxError");
});

globalThis.addEventListener("unload", () => Deno.removeSync(cwd, { recursive: true }));
