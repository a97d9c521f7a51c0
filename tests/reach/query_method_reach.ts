import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { openDatabase } from "../harness/database.ts";
import { request } from "../harness/request.ts";
import { test } from "../harness/testing.ts";
import { openRuntime } from "../tools/support/runtimes.ts";
import { runCommand, tryCommand } from "./support/run_command.ts";
import { startApp } from "./support/start_app.ts";
import { openWorkspace } from "./support/workspace.ts";

const { denoProject, denoEnv, nodeProject, nodes } = openWorkspace();
const [oldest, newest] = nodes;

const APP = `import process from "node:process";
import express from "express";
import mongoose from "mongoose";
import { all, create, Framework, FrameworkModel, prop, rest } from "@mongrove/mongrove";

@rest({
  route: "/films",
  methods: [all({ page: { size: 10, max: 100 }, sort: ["year"], select: ["name"] }), create()],
})
class Film extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Number })
  year?: number;
}

await mongoose.connect(process.env.MONGODB_URI ?? "");
const app = express().use(express.json({ limit: "1mb" }));
app.use(Framework.initialize({ models: [Film], queryMethod: true, limits: { query: { maxList: 2000 } } }));
app.listen(Number(process.env.PORT), "127.0.0.1");
`;

/** Prints what the clients of a runtime get for the parameters of a file. */
const CLIENT = `import { readFileSync } from "node:fs";
import { connect } from "@mongrove/mongrove/client";
const [, , url, file] = process.argv;
const body = readFileSync(file, "utf8");
const headers = { "content-type": "application/json" };
const told = {};
for (const client of ["fetch", "undici"]) {
  const undici = client === "undici" ? await import("undici") : undefined;
  const fetching = undici?.fetch ?? fetch;
  const answer = await fetching(url + "/films", { method: "QUERY", headers, body });
  const methods = [];
  const watched = (url, init) => {
    methods.push(init.method);
    return fetching(url, init);
  };
  const films = connect(url, { fetch: watched, queryMethod: true }).resource("/films");
  const { q, sort, select } = JSON.parse(body);
  const { items } = await films.all({ q, sort, select });
  told[client] = { text: await answer.text(), items: JSON.stringify(items), methods };
  if (undici === undefined) continue;
  const { body: raw } = await undici.request(url + "/films", { method: "QUERY", headers, body });
  told["request() of undici"] = { text: await raw.text() };
}
console.log(JSON.stringify(told));
`;

const SHORT = { q: { year: { $gte: 2 } }, sort: ["-year"], select: ["name"] };

/** Parameters of more than 100 kB, which select the same films as `SHORT`. */
const names = Array.from({ length: 1000 }, (_, index) => `film ${index} `.padEnd(100, "ä"));
const LONG = { ...SHORT, q: { name: { $in: names }, year: { $gte: 2 } } };

const hasCurl = await tryCommand("curl", ["--version"], { cwd: nodeProject })
  .then(({ code }) => code === 0, () => false);

interface Host {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Record<string, string>;
  /** The Node that runs the clients. */
  readonly client: string;
}

function hostOf(version: string, path: string): Host {
  const command = [path, "--import", "tsx", "query_app.ts"] as const;
  return { name: `Node ${version}`, command, cwd: nodeProject, env: {}, client: path };
}

const DENO: Host = {
  name: "Deno",
  command: [
    Deno.execPath(),
    ...["run", "--quiet", "--no-prompt", "--allow-env", "--allow-net", "--allow-sys"],
    "query_app.ts",
  ],
  cwd: denoProject,
  env: denoEnv,
  client: newest.path,
};

const HOSTS = [
  hostOf(oldest.version, oldest.path),
  hostOf("24", await openRuntime("Node 24")),
  hostOf(newest.version, newest.path),
  DENO,
];

async function writeFiles(): Promise<void> {
  for (const cwd of [nodeProject, denoProject]) {
    await Deno.writeTextFile(join(cwd, "query_app.ts"), APP);
  }
  await Deno.writeTextFile(join(nodeProject, "query_client.mjs"), CLIENT);
  for (const [name, value] of Object.entries({ SHORT, LONG })) {
    await Deno.writeTextFile(join(nodeProject, `${name}.json`), JSON.stringify(value));
  }
}

test("the newest undici is installed", async () => {
  await writeFiles();
  const npm = ["install", "--no-audit", "--no-fund", "undici@latest"];
  await runCommand("npm", npm, { cwd: nodeProject });
  const { size } = await Deno.stat(join(nodeProject, "LONG.json"));
  assert(size > 100_000);
});

/** Starts the application with five films, and returns what a `GET` tells of those that `SHORT` selects. */
async function openFilms({ command, cwd, env }: Host) {
  const database = await openDatabase();
  const app = await startApp(command, { cwd, env: { ...env, MONGODB_URI: database.uri } });
  const dispose = async () => {
    await app[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  };
  for (const [year, name] of names.slice(0, 5).entries()) {
    await request(`${app.url}/films`, { method: "POST", body: { name, year } });
  }
  const q = encodeURIComponent(JSON.stringify(SHORT.q));
  const { text, body } = await request(`${app.url}/films?q=${q}&sort=-year&select=name`);
  assertEquals((body as { name: string }[]).map(({ name }) => name), names.slice(2, 5).reverse());
  return { url: app.url, text, [Symbol.asyncDispose]: dispose };
}

for (const host of HOSTS) {
  test(`clients read a list of ${host.name} by QUERY`, async (t) => {
    await using films = await openFilms(host);
    const { text, url } = films;
    await t.step("fetch, undici and the typed client", async () => {
      for (const [file, method] of [["SHORT.json", "GET"], ["LONG.json", "QUERY"]] as const) {
        const args = ["query_client.mjs", url, file];
        const printed = await runCommand(host.client, args, { cwd: nodeProject });
        const seen = { text, items: text, methods: [method] };
        const told = { fetch: seen, undici: seen, "request() of undici": { text } };
        assertEquals(JSON.parse(printed), told);
      }
    });
    await t.step({
      name: hasCurl ? "curl" : "curl, which is not installed here",
      ignore: !hasCurl,
      async fn() {
        const json = ["-H", "content-type: application/json"];
        for (const file of ["SHORT.json", "LONG.json"]) {
          const sent = ["-sS", "-X", "QUERY", ...json, "--data-binary", `@${file}`];
          const answer = await runCommand("curl", [...sent, `${url}/films`], { cwd: nodeProject });
          assertEquals(answer, text, file);
        }
      },
    });
  });
}
