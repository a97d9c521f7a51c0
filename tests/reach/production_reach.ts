import { assertEquals, assertMatch } from "@std/assert";
import { Buffer } from "node:buffer";
import { join } from "node:path";
import { findNginx } from "../faults/support/find_nginx.ts";
import { openDatabase } from "../harness/database.ts";
import { freePort } from "../harness/free_port.ts";
import { request } from "../harness/request.ts";
import { test } from "../harness/testing.ts";
import { readSteps } from "../docs/tutorial/read_steps.ts";
import { Rehearsal } from "../docs/tutorial/rehearsal.ts";
import { until } from "../support/until.ts";
import { blockBelow, readRepository } from "./support/readme.ts";
import { runCommand } from "./support/run_command.ts";
import { startApp } from "./support/start_app.ts";
import { openWorkspace } from "./support/workspace.ts";

const { denoProject, denoEnv, nodeProject, nodes: [node], jsrUrl } = openWorkspace();

const page = await readRepository("docs/production.md");
const { files = {}, turns = [] } = readSteps(page).find(({ turns }) => turns.length > 0) ?? {};

/** The commands of the containers: of Deno, whose image has the program, and of Node. */
const [denoCommand = [], nodeCommand = []] = [...page.matchAll(/^CMD (.*)$/gm)].map(
  ([, words = "[]"]) => JSON.parse(words) as string[],
);

const LOGIN = { LOGIN: "ann:secrät€" };

/** Writes the files of the page. */
async function writeFiles(folder: string): Promise<string> {
  const cwd = join(folder, "prod");
  await Deno.mkdir(cwd, { recursive: true });
  for (const [name, code] of Object.entries(files)) {
    await Deno.writeTextFile(join(cwd, name), code);
  }
  return cwd;
}

/** Starts the application as the container of the page does, with its output in a file. */
async function startDeno(given: Record<string, string>) {
  const cwd = join(denoProject, "prod");
  const log = join(cwd, "log.txt");
  const command = ["sh", "-c", `exec "$0" "$@" > ${log}`, Deno.execPath(), ...denoCommand] as const;
  const app = await startApp(command, { cwd, env: { ...denoEnv, ...given } });
  return {
    ...app,
    async readLastLine(): Promise<Record<string, unknown>> {
      const lines = (await Deno.readTextFile(log)).trim().split("\n");
      return JSON.parse(lines.at(-1) ?? "");
    },
  };
}

/** The moment of a note differs from run to run. */
function withoutMoment(text: string): string {
  return text.replace(/"at":"[^"]+"/, '"at":""');
}

/** Sends the requests of the page, and opens its description with and without the password. */
async function play(url: string): Promise<void> {
  await until(async () => (await request(`${url}/ready`)).status === 200);
  const rehearsal = new Rehearsal();
  assertEquals(turns.length, 3);
  for (const { line, answer, headers } of turns) {
    const given = await rehearsal.play(url, line, answer);
    assertEquals(withoutMoment(given), withoutMoment(answer), line);
    assertEquals(rehearsal.headers(headers), headers);
  }
  const open = (path: string, login: string) => {
    const authorization = `Basic ${Buffer.from(login).toString("base64")}`;
    return request(url + path, { headers: { authorization } });
  };
  const docs = await open("/docs", LOGIN.LOGIN);
  assertEquals([docs.status, docs.text.includes("swagger-ui")], [200, true]);
  assertEquals((await open("/openapi.json", "ann:wrong")).status, 401);
}

test("docs/production.md shows what its application answers in Deno, and what it logs", async () => {
  const options = { cwd: await writeFiles(denoProject), env: denoEnv };
  const packages = ["npm:express-rate-limit", "npm:swagger-ui-dist"];
  await runCommand(Deno.execPath(), ["add", "--quiet", ...packages], options);
  await runCommand(Deno.execPath(), ["check", "main.ts"], options);
  await using database = await openDatabase();
  await using app = await startDeno({ MONGODB_URI: database.uri, ...LOGIN });
  await play(app.url);
  const statuses = new Set<number>();
  for (let left = 300; left > 0; left--) {
    statuses.add((await request(`${app.url}/notes?limit=1`)).status);
  }
  assertEquals([...statuses], [200, 429]);
  const last = await app.readLastLine();
  assertEquals(Object.keys(last), ["at", "method", "path", "ip", "status", "ms"]);
  assertEquals([last.path, last.status], ["/notes", 429]);
});

test("docs/production.md shows what its application answers on Node", async () => {
  const cwd = await writeFiles(nodeProject);
  const npm = ["install", "--no-audit", "--no-fund", "--ignore-scripts"];
  const packages = ["express-rate-limit", "swagger-ui-dist"];
  await runCommand("npm", [...npm, ...packages], { cwd: nodeProject, env: { JSR_URL: jsrUrl } });
  const [, ...args] = nodeCommand;
  await using database = await openDatabase();
  const env = { MONGODB_URI: database.uri, ...LOGIN };
  await using app = await startApp([node.path, ...args], { cwd, env });
  await play(app.url);
  await runCommand("npm", ["uninstall", "swagger-ui-dist"], { cwd: nodeProject });
});

test("docs/production.md shows what /ready answers without a database", async () => {
  const uri = `mongodb://127.0.0.1:${freePort()}/?serverSelectionTimeoutMS=500`;
  await using app = await startDeno({ MONGODB_URI: uri });
  const { status, body } = await request(`${app.url}/ready`, { within: 1_500 });
  assertEquals([status, body], [503, JSON.parse(blockBelow(page, "Health", "json"))]);
  assertEquals((await request(`${app.url}/live`)).status, 200);
});

/** Gives the settings of the page for other ports and paths. */
function settingsFor(dir: string, app: string, http: number, https: number): string {
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${dir}/${name};`).join(" ");
  const settings = blockBelow(page, "TLS and a proxy", "nginx")
    .replace("http {", `http { access_log off; ${paths}`)
    .replace("listen 80", `listen 127.0.0.1:${http}`)
    .replace("listen 443", `listen 127.0.0.1:${https}`)
    .replaceAll("/etc/tls", dir)
    .replace("http://127.0.0.1:3000", app);
  return `daemon off; master_process off; pid ${dir}/pid; ${settings}`;
}

/** Starts nginx with the settings of the page, and with a certificate of its own. */
async function openNginx(app: string) {
  const dir = await Deno.makeTempDir();
  const key = "-x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -subj /CN=localhost";
  await runCommand("openssl", ["req", ...key.split(" ")], { cwd: dir });
  const [http, https] = [freePort(), freePort()];
  await Deno.writeTextFile(join(dir, "nginx.conf"), settingsFor(dir, app, http, https));
  const args = ["-p", dir, "-c", `${dir}/nginx.conf`, "-e", `${dir}/error.log`];
  const nginx = await findNginx();
  const child = new Deno.Command(nginx, { args, stdout: "null", stderr: "null" }).spawn();
  await until(() => request(`http://127.0.0.1:${http}`).then(() => true, () => false));
  return {
    http: `http://127.0.0.1:${http}`,
    /** Reads by curl, which does not know who has signed the certificate. */
    read: (path: string) =>
      runCommand("curl", ["-ski", `https://127.0.0.1:${https}${path}`], { cwd: dir }),
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.status;
      await Deno.remove(dir, { recursive: true });
    },
  };
}

test("docs/production.md has settings with which nginx serves the application over TLS", async () => {
  await using database = await openDatabase();
  await using app = await startDeno({ MONGODB_URI: database.uri });
  await until(async () => (await request(`${app.url}/ready`)).status === 200);
  await using nginx = await openNginx(app.url);
  const { status, headers } = await request(`${nginx.http}/notes?limit=1`);
  assertEquals([status, headers.get("location")], [301, "https://127.0.0.1/notes?limit=1"]);
  const answer = await nginx.read("/notes");
  assertMatch(answer, /^HTTP\/2 200[^]*strict-transport-security: max-age=31536000[^]*\[\]$/);
  for (const path of ["/live", "/ready"]) assertMatch(await nginx.read(path), /^HTTP\/2 404/);
  const last = await app.readLastLine();
  assertEquals([last.path, last.ip], ["/notes", "127.0.0.1"]);
});
