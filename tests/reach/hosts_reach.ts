import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { openDatabase } from "../harness/database.ts";
import { freePort } from "../harness/free_port.ts";
import { test } from "../harness/testing.ts";
import { parseAnswer } from "../docs/tutorial/parse_answer.ts";
import { readSteps } from "../docs/tutorial/read_steps.ts";
import { Rehearsal } from "../docs/tutorial/rehearsal.ts";
import { readRepository } from "./support/readme.ts";
import { runCommand } from "./support/run_command.ts";
import { startApp } from "./support/start_app.ts";
import { openWorkspace } from "./support/workspace.ts";

const { denoProject, denoEnv, nodeProject, nodes } = openWorkspace();

const page = await readRepository("docs/hosts.md");
const steps = readSteps(page);
const hosts = join(nodeProject, "hosts");

const NPM = [
  "@nestjs/core@12",
  "@nestjs/common@12",
  "@nestjs/platform-express@12",
  "reflect-metadata",
  "rxjs",
  "fastify@5",
  "serverless-http@4",
];
const DENO_NPM = ["npm:hono@4", "npm:@hono/node-server", "npm:@oakserver/oak@14"];

/** Stands in for the platform: makes an event of each request, and a response of what the handler returns. */
const LAMBDA = `import { createServer } from "node:http";
import { handler } from "./functions.ts";
createServer(async (req, res) => {
  const { method, headers, url = "/" } = req;
  const { pathname, searchParams } = new URL(url, "http://localhost");
  const body = Buffer.concat(await req.toArray());
  const { statusCode, headers: sent, body: text, isBase64Encoded } = await handler({
    version: "2.0",
    rawPath: pathname,
    rawQueryString: String(searchParams),
    headers,
    requestContext: { http: { method, path: pathname, sourceIp: "127.0.0.1" } },
    isBase64Encoded: false,
    ...(body.length > 0 && { body: String(body) }),
  }, {});
  res.writeHead(statusCode, sent).end(Buffer.from(text, isBase64Encoded ? "base64" : "utf8"));
}).listen(Number(process.env.PORT), "127.0.0.1");
`;

/** Stands in for a platform that reads bodies itself. */
const PARSED = `import { createServer } from "node:http";
import app from "./functions.ts";
createServer(async (req, res) => {
  const text = Buffer.concat(await req.toArray()).toString();
  if (text !== "") req.body = JSON.parse(text);
  app(req, res);
}).listen(Number(process.env.PORT), "127.0.0.1");
`;

/** Writes the files of the page. */
async function writeFiles(folder: string): Promise<void> {
  await Deno.mkdir(join(folder, "models"), { recursive: true });
  for (const [, name = "", code = ""] of page.matchAll(/^```\w+\n\/\/ (\S+)\n([^]*?)^```$/gm)) {
    await Deno.writeTextFile(join(folder, name), code);
  }
}

/** Starts a file of the page, and sends the requests below it. */
async function play(
  title: string,
  command: readonly [string, ...string[]],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Promise<void> {
  const { turns = [] } = steps.find((step) => step.title === title) ?? {};
  await using database = await openDatabase();
  const oak = freePort();
  const all = { ...env, MONGODB_URI: database.uri, OAK_PORT: String(oak) };
  await using app = await startApp(command, { cwd, env: all });
  const rehearsal = new Rehearsal();
  for (const { line, answer } of turns) {
    const sent = line.replace("127.0.0.1:3001", `127.0.0.1:${oak}`);
    const given = await rehearsal.play(app.url, sent, answer);
    assertEquals(parseAnswer(given), parseAnswer(answer), line);
  }
  assertEquals(turns.length > 0, true);
}

test("docs/hosts.md has files that compile", async () => {
  await writeFiles(hosts);
  await Deno.writeTextFile(join(hosts, "package.json"), '{ "type": "module" }');
  await Deno.writeTextFile(join(hosts, "lambda_server.ts"), LAMBDA);
  await Deno.writeTextFile(join(hosts, "parsed_server.ts"), PARSED);
  await runCommand("npm", ["install", "--no-audit", "--no-fund", ...NPM], { cwd: nodeProject });
  const [{ path }] = nodes;
  const tsc = "../node_modules/typescript/bin/tsc";
  await runCommand(path, [tsc, "-b"], { cwd: hosts });
  const files = ["fastify_factory.ts", "functions.ts"];
  const options = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext"];
  const more = ["--allowImportingTsExtensions", "--ignoreConfig", "--types", "node"];
  await runCommand(path, [tsc, ...options, ...more, ...files], { cwd: hosts });
});

for (const { version, path } of nodes) {
  test(`docs/hosts.md shows what NestJS answers on Node ${version}`, async () => {
    await play("NestJS", [path, "dist/nest.js"], { cwd: hosts });
  });

  for (
    const [title, file] of [
      ["Fastify", "fastify_factory.ts"],
      ["Functions", "lambda_server.ts"],
      ["Functions", "parsed_server.ts"],
    ] as const
  ) {
    test(`docs/hosts.md shows what ${file} answers on Node ${version}`, async () => {
      // Its tsconfig.json is Nest's
      const args = ["--import", "tsx", file] as const;
      await play(title, [path, ...args], {
        cwd: hosts,
        env: { TSX_TSCONFIG_PATH: "models/tsconfig.json" },
      });
    });
  }
}

test("docs/hosts.md shows what Hono, Oak and Express answer in one process of Deno", async () => {
  await writeFiles(denoProject);
  await Deno.remove(join(denoProject, "tsconfig.json"));
  await Deno.remove(join(denoProject, "models/tsconfig.json"));
  const options = { cwd: denoProject, env: denoEnv };
  await runCommand(Deno.execPath(), ["add", "--quiet", ...DENO_NPM], options);
  await runCommand(Deno.execPath(), ["check", "beside.ts"], options);
  const run = ["run", "--quiet", "--no-prompt", "--allow-env", "--allow-net", "--allow-sys"];
  await play("Hono and Oak", [Deno.execPath(), ...run, "beside.ts"], options);
});
