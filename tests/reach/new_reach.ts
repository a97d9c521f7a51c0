import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { delimiter, dirname, join } from "node:path";
import { sendCurl } from "../harness/curl.ts";
import { openDatabase } from "../harness/database.ts";
import { findMongod } from "../harness/mongo/find_mongo.ts";
import { request } from "../harness/request.ts";
import { test } from "../harness/testing.ts";
import { openRuntime } from "../tools/support/runtimes.ts";
import { readReadme } from "./support/readme.ts";
import { runCommand, type RunCommandOptions, tryCommand } from "./support/run_command.ts";
import { startApp } from "./support/start_app.ts";
import { openWorkspace } from "./support/workspace.ts";

const { denoEnv, jsrUrl, nodes } = openWorkspace();

const { path: mongod } = await findMongod({ uri: "" });
const mongo = { MONGOMS_SYSTEM_BINARY: mongod, MONGOMS_SYSTEM_BINARY_VERSION_CHECK: "false" };

const DENO_LINE = "deno run -A jsr:@mongrove/mongrove/new my-app";

const NODE_LINES = [
  "npm init -y",
  "npx jsr add @mongrove/mongrove",
  "node node_modules/@mongrove/mongrove/src/new/mod.js",
];

/** A hook that lets everybody in, because it asks a promise. */
const OPEN_GUARD = `import type { FrameworkRequest } from "@mongrove/mongrove";
const allowed = (req: FrameworkRequest) => Promise.resolve(req.method === "GET");
export const guard = (req: FrameworkRequest) => !!allowed(req);
`;

/** The linter accepts the application, and refuses the hook. */
async function lintHooks(
  [name, ...args]: readonly [string, ...string[]],
  app: Required<RunCommandOptions>,
): Promise<void> {
  await runCommand(name, args, app);
  const file = join(app.cwd, "guard.ts");
  await Deno.writeTextFile(file, OPEN_GUARD);
  const { code, output } = await tryCommand(name, args, app);
  assertEquals(code, 1);
  assertMatch(output, /guard\.ts\n +3:\d+ +error .*no-misused-promises/);
  await Deno.remove(file);
}

const FILES = "todo.ts, app.ts, main.ts, app.test.ts";

/** Starts the application, and sends the requests of its README. */
async function tryOut(
  command: readonly [string, ...string[]],
  { cwd, env }: Required<RunCommandOptions>,
): Promise<void> {
  await using database = await openDatabase();
  const own = { MONGODB_URI: database.uri, API_KEY: "secret" };
  await using app = await startApp(command, { cwd, env: { ...env, ...own } });
  const readme = await Deno.readTextFile(join(cwd, "README.md"));
  const texts: string[] = [];
  for (const [line] of readme.matchAll(/^curl .*$/gm)) {
    texts.push((await sendCurl(line.replace("http://127.0.0.1:3000", app.url))).text);
  }
  const [created = "", found] = texts;
  assertMatch(created, /^\{"_id":"\w+","done":false,"title":"Write a model","__v":0\}$/);
  assertEquals(found, `[${created}]`);
  const docs = await request(`${app.url}/docs`);
  assertEquals([docs.status, docs.text.includes("swagger-ui")], [200, true], docs.text);
}

test("deno run makes an application whose test passes, and overwrites nothing", async () => {
  const folder = await Deno.makeTempDir();
  const env = { ...denoEnv, ...mongo };
  const [, ...line] = DENO_LINE.split(" ");
  const make = () => tryCommand(Deno.execPath(), line, { cwd: folder, env });
  const made = await make();
  assertEquals(made.code, 0, made.output);
  assertStringIncludes(
    made.output,
    `Wrote ${FILES}, deno.json, eslint.config.js, tsconfig.json, README.md. Next:`,
  );
  assertStringIncludes(made.output, "  cd my-app && deno task test\n  deno task start");
  const app = { cwd: join(folder, "my-app"), env };
  for (const args of ["task test", "task check", "fmt --check"]) {
    await runCommand(Deno.execPath(), args.split(" "), app);
  }
  await lintHooks([Deno.execPath(), "task", "lint"], app);
  await tryOut([Deno.execPath(), "task", "start"], app);
  await Deno.writeTextFile(join(app.cwd, "todo.ts"), "// mine");
  await Deno.remove(join(app.cwd, "app.ts"));
  const before = await Array.fromAsync(Deno.readDir(app.cwd));
  const again = await make();
  assertMatch(again.output, /^Cannot make an application: folder "my-app" is not empty: "/m);
  assertEquals([again.code, await Array.fromAsync(Deno.readDir(app.cwd))], [1, before]);
  await Deno.remove(folder, { recursive: true });
});

/** For commands with this version of Node. */
async function makeNodeFolder(node: string): Promise<Required<RunCommandOptions>> {
  const cwd = join(await Deno.makeTempDir(), "my-app");
  await Deno.mkdir(cwd);
  // The registry of this machine stands in for npm.jsr.io
  await Deno.writeTextFile(join(cwd, ".npmrc"), `@jsr:registry=${jsrUrl}npm/\n`);
  const PATH = dirname(node) + delimiter + Deno.env.get("PATH");
  return { cwd, env: { ...mongo, JSR_URL: jsrUrl, PATH, npm_config_yes: "true" } };
}

// The tests below use newer ones
for (const node of nodes.slice(0, 1)) {
  test(`Node ${node.version} makes an application whose test passes`, async () => {
    const app = await makeNodeFolder(node.path);
    const outputs: string[] = [];
    for (const line of [...NODE_LINES, "npm install --no-audit --no-fund", "npm test"]) {
      const [name = "", ...args] = line.split(" ");
      outputs.push(await runCommand(name, args, app));
    }
    assertStringIncludes(
      outputs[2] ?? "",
      `Wrote ${FILES}, tsconfig.json, README.md, package.json, .gitignore, eslint.config.js. Next:\n\n` +
        "  npm install && npm test\n  npm start",
    );
    assertMatch(outputs[4] ?? "", /pass 3$/m);
    await runCommand("npm", ["run", "check"], app);
    await lintHooks(["npm", "run", "lint"], app);
    // Started without npm, which leaves it running when it is ended itself
    const { scripts } = JSON.parse(await Deno.readTextFile(join(app.cwd, "package.json")));
    await tryOut([node.path, ...scripts.start.split(" ").slice(1)], app);
    // Node tells a path without a file as the program, for example for a file without its extension.
    await runCommand(node.path, ["-e", 'import("@mongrove/mongrove/new")', "no-file"], app);
    await Deno.remove(dirname(app.cwd), { recursive: true });
  });
}

test("Node 24 makes an application without decorators, which it runs and tests by itself", async () => {
  const node = await openRuntime("Node 24");
  const app = await makeNodeFolder(node);
  const [init, add, make] = NODE_LINES;
  for (const line of [init, add, `${make} --plain`, "npm install --no-audit --no-fund"]) {
    const [name = "", ...args] = (line ?? "").split(" ");
    await runCommand(name, args, app);
  }
  assertMatch(await runCommand("npm", ["test"], app), /pass 3$/m);
  await runCommand("npm", ["run", "check"], app);
  const installed = await Array.fromAsync(Deno.readDir(join(app.cwd, "node_modules")));
  const compilers = ["tsx", "esbuild", "@swc"];
  assertEquals(installed.filter(({ name }) => compilers.includes(name)), []);
  const { scripts } = JSON.parse(await Deno.readTextFile(join(app.cwd, "package.json")));
  await tryOut([node, ...scripts.start.split(" ").slice(1)], app);
  await Deno.remove(dirname(app.cwd), { recursive: true });
});

/** Starts an application with a login, and asks for the todos of nobody. */
async function tryClosed(
  command: readonly [string, ...string[]],
  { cwd, env }: Required<RunCommandOptions>,
): Promise<void> {
  await using database = await openDatabase();
  await using app = await startApp(command, { cwd, env: { ...env, MONGODB_URI: database.uri } });
  assertEquals((await request(`${app.url}/todos`)).status, 401);
  const page = await request(`${app.url}/sign-in`);
  assertEquals([page.status, page.text.includes('name="password"')], [200, true]);
}

test("deno run makes an application with a login, whose test passes", async () => {
  const folder = await Deno.makeTempDir();
  const env = { ...denoEnv, ...mongo };
  const [, ...line] = [...DENO_LINE.split(" "), "--login"];
  await runCommand(Deno.execPath(), line, { cwd: folder, env });
  const app = { cwd: join(folder, "my-app"), env };
  for (const args of ["task test", "task check", "task lint", "fmt --check"]) {
    await runCommand(Deno.execPath(), args.split(" "), app);
  }
  await tryClosed([Deno.execPath(), "task", "start"], app);
  await Deno.remove(folder, { recursive: true });
});

test("Node 24 makes an application with a login and without decorators", async () => {
  const node = await openRuntime("Node 24");
  const app = await makeNodeFolder(node);
  const [init, add, make] = NODE_LINES;
  for (const line of [init, add, `${make} --plain --login`, "npm install --no-audit --no-fund"]) {
    const [name = "", ...args] = (line ?? "").split(" ");
    await runCommand(name, args, app);
  }
  assertMatch(await runCommand("npm", ["test"], app), /pass [1-9]\d*\n.*fail 0$/m);
  for (const task of ["check", "lint"]) await runCommand("npm", ["run", task], app);
  await tryClosed([node, "main.ts"], app);
  await Deno.remove(dirname(app.cwd), { recursive: true });
});

/** Stores entities, of which `new --from` makes models, and asks the started application for them. */
async function tryFrom(
  make: (uri: string) => Promise<string>,
  { start, ...app }: Required<RunCommandOptions> & { readonly start: () => Promise<Start> },
): Promise<void> {
  await using database = await openDatabase();
  const books = database.connection.collection("books");
  await books.insertOne({ title: "Dune", "printed in": 1965, secret: "x" });
  const output = await make(database.uri);
  assertStringIncludes(output, "books.secret: hidden");
  assertStringIncludes(output, "Wrote models/book.ts, models.ts, models.json, app.ts, main.ts");
  const env = { ...app.env, MONGODB_URI: database.uri, API_KEY: "key" };
  await using started = await startApp(await start(), { cwd: app.cwd, env });
  const headers = { authorization: "key" };
  const { body: [book] } = await request<object[]>(`${started.url}/books`, { headers });
  assertEquals({ ...book, _id: "" }, { _id: "", title: "Dune", "printed in": 1965 });
}

type Start = readonly [string, ...string[]];

test("deno run makes an application of a database, whose test passes", async () => {
  const folder = await Deno.makeTempDir();
  const app = { cwd: join(folder, "my-app"), env: { ...denoEnv, ...mongo } };
  const [, ...line] = [...DENO_LINE.split(" "), "--from"];
  const make = (uri: string) =>
    runCommand(Deno.execPath(), line, { cwd: folder, env: { ...app.env, MONGODB_URI: uri } });
  const start = async () => {
    for (const args of ["task test", "task check", "task lint", "fmt --check"]) {
      await runCommand(Deno.execPath(), args.split(" "), app);
    }
    return [Deno.execPath(), "task", "start"] as const;
  };
  await tryFrom(make, { ...app, start });
  await Deno.remove(folder, { recursive: true });
});

test("Node 24 makes an application of a database, without decorators", async () => {
  const node = await openRuntime("Node 24");
  const app = await makeNodeFolder(node);
  const run = (line: string, env = {}) => {
    const [name = "", ...args] = line.split(" ");
    return runCommand(name, args, { ...app, env: { ...app.env, ...env } });
  };
  const [init = "", add = "", program = ""] = NODE_LINES;
  for (const line of [init, add]) await run(line);
  const make = (uri: string) => run(`${program} --plain --from`, { MONGODB_URI: uri });
  const start = async () => {
    for (const line of ["npm install --no-audit --no-fund", "npm test", "npm run check"]) {
      await run(line);
    }
    return [node, "main.ts"] as const;
  };
  await tryFrom(make, { ...app, start });
  await Deno.remove(dirname(app.cwd), { recursive: true });
});

test("the program of new applications refuses an option that there is not", async () => {
  const [, ...line] = DENO_LINE.split(" ");
  const folder = await Deno.makeTempDir();
  const args = [...line, "--plian"];
  const { code, output } = await tryCommand(Deno.execPath(), args, { cwd: folder, env: denoEnv });
  assertStringIncludes(output, 'Cannot make an application: "--plian" is neither');
  assertEquals([code, await Array.fromAsync(Deno.readDir(folder))], [1, []]);
  await Deno.remove(folder, { recursive: true });
});

test("README.md names the lines that were used here", async () => {
  const readme = await readReadme();
  for (const line of [DENO_LINE, ...NODE_LINES, "--plain", "--login", "--from"]) {
    assertStringIncludes(readme, line);
  }
});
