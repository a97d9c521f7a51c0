/** The programs of a run: packages from npm, outside of the repository, bundles beside them, and processes. @module */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openCache } from "../tests/harness/mongo/mongod_cache.ts";
import { reasonOf, say } from "../tests/harness/say.ts";
import type { Command, Report } from "./load.ts";
import { PACKAGES, type Runtime, type Server, type ServerKind } from "./servers.ts";

export interface Workspace extends AsyncDisposable {
  /** The paths of the runtimes. */
  readonly programs: Readonly<Record<Runtime, string>>;
  readonly versions: Readonly<Record<string, string>>;
  /** The servers that could be prepared. */
  readonly servers: readonly Server[];
  /** The reasons why others could not. */
  readonly notes: readonly string[];
  /** The bundle of the load generator. */
  readonly load: string;
  /** The bundle of each kind of server, beside its packages. */
  readonly scripts: ReadonlyMap<ServerKind, string>;
}

/**
 * Installs the packages of servers, and bundles the servers.
 *
 * @throws {Error} If Node or the bundler is missing.
 */
export async function openWorkspace(servers: readonly Server[]): Promise<Workspace> {
  const script = "console.log(JSON.stringify([process.execPath, process.versions.node]))";
  const [path, version] = JSON.parse(
    await run("node", ["-e", script]).catch(() => {
      throw new Error("Cannot run the bench: it needs Node and npm on PATH");
    }),
  );
  const scripts = new Map<ServerKind, string>();
  const versions: Record<string, string> = { deno: Deno.version.deno, node: version };
  const notes: string[] = [];
  const load = await bundle("load.ts", await openPackages("tools"));
  for (const kind of new Set(servers.map(({ kind }) => kind))) {
    try {
      const folder = await openPackages(kind.folder);
      for (const name of new Set([...Object.keys(PACKAGES[kind.folder] ?? {}), "mongodb"])) {
        const manifest = join(folder, "node_modules", name, "package.json");
        const found = JSON.parse(await Deno.readTextFile(manifest)).version;
        if (found === versions[name]) continue;
        // Peers bring their own versions of Mongrove's packages
        versions[versions[name] === undefined ? name : `${name} of ${kind.title}`] = found;
      }
      scripts.set(kind, await bundle(`servers/${kind.file}.ts`, folder));
    } catch (error) {
      notes.push(`${kind.title} is left out: ${reasonOf(error)}`);
      say(notes.at(-1) ?? "");
    }
  }
  return {
    programs: { deno: Deno.execPath(), node: path },
    versions,
    servers: servers.filter(({ kind }) => scripts.has(kind)),
    notes,
    load,
    scripts,
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all([load, ...scripts.values()].map((path) => Deno.remove(path)));
    },
  };
}

/** Installs the packages of a folder once, and returns its path. */
async function openPackages(name: string): Promise<string> {
  const config = await Deno.readTextFile(new URL("../deno.json", import.meta.url));
  const { imports } = JSON.parse(config) as { imports: Record<string, string> };
  const ranges = Object.entries(PACKAGES[name] ?? {}).map(([name, range]) => [
    name,
    range || imports[name]?.split("@").at(-1) || "*",
  ]);
  const text = JSON.stringify({ private: true, dependencies: Object.fromEntries(ranges) });
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const digest = new Uint8Array(hash).toHex().slice(0, 12);
  const path = join(await openCache(), "bench", `${name}-${digest}`);
  const done = join(path, "installed");
  if (await Deno.stat(done).then(() => true, () => false)) return path;
  await Deno.mkdir(path, { recursive: true });
  await Deno.writeTextFile(join(path, "package.json"), text);
  const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
  await run("npm", ["install", ...options], { cwd: path }).catch((error) => {
    const code = /\bcode (E[A-Z0-9]+)/.exec(error.message)?.[1];
    throw new Error(`npm cannot install it (${code ?? "no reason given"})`);
  });
  await Deno.writeTextFile(done, "");
  return path;
}

/** Bundles a program of `bench/` for Node and Deno, beside its packages, which stay outside of the bundle. */
async function bundle(entry: string, folder: string): Promise<string> {
  const esbuild = join(await openPackages("tools"), "node_modules", "esbuild", "bin", "esbuild");
  const source = fileURLToPath(new URL(entry, import.meta.url));
  const target = join(folder, `${crypto.randomUUID()}.mjs`);
  const options = ["--bundle", "--format=esm", "--platform=node", "--target=node20"];
  const more = ["--packages=external", "--log-level=error", `--outfile=${target}`];
  await run("node", [esbuild, source, ...options, ...more]);
  return target;
}

const PIPED = { stdin: "piped", stdout: "piped", stderr: "piped" } as const;

/** Runs a program, and returns its output. */
async function run(
  program: string,
  args: readonly string[],
  { cwd = ".", input = "" }: { readonly cwd?: string; readonly input?: string } = {},
): Promise<string> {
  const child = new Deno.Command(program, {
    args: [...args],
    cwd,
    ...PIPED,
  }).spawn();
  // A program that ends early does not read its input
  const sent = new Blob([input]).stream().pipeTo(child.stdin).catch(() => {});
  const [{ success, stdout, stderr }] = await Promise.all([child.output(), sent]);
  if (!success) throw new Error(new TextDecoder().decode(stderr).trim());
  return new TextDecoder().decode(stdout);
}

/** A server that listens. */
export interface RunningServer {
  readonly server: Server;
  readonly port: number;
  readonly pid: number;
  /** The time from its start until it listened. */
  readonly startMs: number;
  readonly stop: () => Promise<void>;
}

/** The arguments of Deno. Mongoose reads the name and the memory of the system. */
const DENO = [
  "run",
  "-q",
  "--no-lock",
  "--allow-env",
  "--allow-net",
  "--allow-sys",
  "--allow-read",
];

/**
 * Starts a server, and waits until it listens.
 *
 * @throws {Error} If it ends first.
 */
export async function startServer(
  server: Server,
  { programs, scripts }: Workspace,
  { uri, models = 0 }: { readonly uri: string; readonly models?: number },
): Promise<RunningServer> {
  const script = scripts.get(server.kind) ?? "";
  const start = performance.now();
  const child = new Deno.Command(programs[server.runtime], {
    args: [...server.runtime === "deno" ? DENO : [], script],
    cwd: dirname(script),
    env: {
      MONGODB_URI: uri,
      BENCH_SERVER: server.kind.name,
      BENCH_MODELS: String(models),
      NODE_ENV: "production",
      NO_COLOR: "1",
    },
    ...PIPED,
  }).spawn();
  const errors = new Response(child.stderr).text();
  // A server ends with its standard input, so it never outlives the bench
  const stop = async () => {
    await child.stdin.close().catch(() => {});
    const timer = setTimeout(() => child.kill("SIGKILL"), 3_000);
    await child.status;
    clearTimeout(timer);
  };
  const output = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await output.read();
    if (done) break;
    text += value;
    const port = Number(/^listens on (\d+)$/m.exec(text)?.[1]);
    if (port) return { server, port, pid: child.pid, startMs: performance.now() - start, stop };
  }
  await stop();
  throw firstErrorOf(await errors);
}

/** Returns the error of the first message in a program's output, without paths. */
function firstErrorOf(output: string): Error {
  const line = /^.*\b\w*Error(?: \[\w+\])?: .*$/m.exec(output)?.[0] ?? "it ended";
  return new Error(line.replaceAll(/(?:file:\/\/)?(?:\/[\w.@+~-]+){2,}/g, "…"));
}

/**
 * Sends requests from a load generator.
 *
 * @throws {Error} If a connection breaks, or a request is refused.
 */
export async function fire({ programs, load }: Workspace, command: Command): Promise<Report> {
  const output = await run(programs.node, [load], { input: JSON.stringify(command) })
    .catch(({ message }) => Promise.reject(firstErrorOf(message)));
  const report: Report = JSON.parse(output);
  const bad = report.phases.find(({ failed }) => failed > 0);
  if (bad) throw new Error(`${bad.failed} of ${bad.requests} requests were refused`);
  return report;
}
