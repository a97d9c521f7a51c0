/** The programs of a run: packages from npm, outside of the repository, bundles beside them, and processes. @module */
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import config from "../deno.json" with { type: "json" };
import { openCache } from "../tests/harness/mongo/mongod_cache.ts";
import { reasonOf, say } from "../tests/harness/say.ts";
import { runCommand } from "../tests/reach/support/run_command.ts";
import { openRuntime } from "../tests/tools/support/runtimes.ts";
import { PACKAGES, type Server } from "./servers.ts";

/** Mongoose reads the name and the memory of the system. */
const DENO = "run -q --no-lock --allow-env --allow-net --allow-sys --allow-read";

export type Workspace = Awaited<ReturnType<typeof openWorkspace>>;

/** Installs the packages of servers, and bundles each server beside its packages. Notes say which could not be prepared. */
export async function openWorkspace(servers: readonly Server[]) {
  const node = await openRuntime("Node 24");
  const version = await runCommand(node, ["--version"], { cwd: "." });
  const versions: Record<string, string> = { deno: Deno.version.deno, node: version.slice(1) };
  const scripts = new Map<string, string>();
  const notes: string[] = [];
  for (const { id, title, folder, file } of servers) {
    try {
      const path = await openPackages(folder);
      for (const name of new Set([...Object.keys(PACKAGES[folder] ?? {}), "mongodb"])) {
        const manifest = join(path, "node_modules", name, "package.json");
        const found = JSON.parse(await Deno.readTextFile(manifest)).version;
        if (found === versions[name]) continue;
        // Peers bring their own versions of Mongrove's packages
        versions[versions[name] === undefined ? name : `${name} of ${title.split(",")[0]}`] = found;
      }
      scripts.set(id, await bundle(`servers/${file}.ts`, path));
    } catch (error) {
      addNote(notes, `${title} is left out`, error);
    }
  }
  return {
    node,
    versions,
    notes,
    scripts,
    servers: servers.filter(({ id }) => scripts.has(id)),
  };
}

/** Notes a failure. Peers may fail. Without Mongrove, or the baseline, the run has failed. */
export function addNote(notes: string[], what: string, error: unknown): void {
  if (/^(\w+\/(mongrove|bare)|Mongrove|node:http)\b/.test(what)) Deno.exitCode = 1;
  notes.push(`${what}: ${reasonOf(error)}`);
  say(notes.at(-1) ?? "");
}

/** Installs the packages of a folder, unless it has them, and returns its path. */
async function openPackages(name: string): Promise<string> {
  const imports: Readonly<Record<string, string>> = config.imports;
  const ranges = Object.entries(PACKAGES[name] ?? {}).map(([name, range]) => {
    return [name, range || imports[name]?.split("@").at(-1)];
  });
  const text = JSON.stringify({ private: true, dependencies: Object.fromEntries(ranges) });
  const path = join(await openCache(), "bench", name);
  const done = join(path, "installed");
  if (await Deno.readTextFile(done).catch(() => "") === text) return path;
  await Deno.mkdir(path, { recursive: true });
  await Deno.writeTextFile(join(path, "package.json"), text);
  const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
  await runCommand("npm", ["install", ...options], { cwd: path }).catch((error) => {
    const code = /\bcode (E[A-Z0-9]+)/.exec(error.message)?.[1];
    throw new Error(`npm cannot install it (${code ?? "no reason given"})`);
  });
  await Deno.writeTextFile(done, text);
  return path;
}

/** Bundles a program of `bench/` for Node and Deno, beside its packages, which stay outside of the bundle. */
async function bundle(entry: string, folder: string): Promise<string> {
  const esbuild = join(await openPackages("tools"), "node_modules", "esbuild", "bin", "esbuild");
  const source = fileURLToPath(new URL(entry, import.meta.url));
  const target = join(folder, `${basename(entry, ".ts")}.mjs`);
  const options = ["--bundle", "--format=esm", "--platform=node", "--target=node22"];
  const more = ["--packages=external", "--log-level=error", `--outfile=${target}`];
  await runCommand("node", [esbuild, source, ...options, ...more], { cwd: folder });
  return target;
}

export type RunningServer = Awaited<ReturnType<typeof startServer>>;

/** Starts a server, and waits until it listens. Throws if it ends first. */
export async function startServer(
  server: Server,
  { workspace, database }: { readonly workspace: Workspace; readonly database: { uri: string } },
  more: Readonly<Record<string, string>> = {},
) {
  const script = workspace.scripts.get(server.id) ?? "";
  const [program, ...args] = server.runtime === "node"
    ? [workspace.node] as const
    : [Deno.execPath(), ...DENO.split(" ")] as const;
  const env = { MONGODB_URI: database.uri, NODE_ENV: "production", NO_COLOR: "1" };
  const start = performance.now();
  const child = new Deno.Command(program, {
    args: [...args, script],
    cwd: dirname(script),
    env: { ...env, BENCH_SERVER: server.name, ...more },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const errors = new Response(child.stderr).text();
  // A server ends with its standard input, so it never outlives the bench
  const stop = async () => {
    await child.stdin.close().catch(() => {});
    const timer = setTimeout(() => child.kill("SIGKILL"), 3_000);
    await child.status;
    clearTimeout(timer);
  };
  let text = "";
  const output = child.stdout.pipeThrough(new TextDecoderStream());
  for await (const part of output.values({ preventCancel: true })) {
    text += part;
    const port = Number(/^listens on (\d+)$/m.exec(text)?.[1]);
    const startMs = performance.now() - start;
    if (port) return { server, port, pid: child.pid, startMs, [Symbol.asyncDispose]: stop };
  }
  await stop();
  const line = /^.*\b\w*Error(?: \[\w+\])?: .*$/m.exec(await errors)?.[0] ?? "it ended";
  // Paths of this machine are no part of notes
  throw new Error(line.replaceAll(/(?:file:\/\/)?(?:\/[\w.@+~-]+){2,}/g, "…"));
}

/** Reads the CPU time of a process in milliseconds, from ticks of 10 ms. Without a process, it is 0. */
export function cpuTime(pid: number): number {
  if (pid === 0) return 0;
  const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
  // The name may hold spaces; it ends with the last parenthesis
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Reads the memory of a process in MB: the peak since its start, or the memory of this moment. */
export function memoryOf(pid: number, key: "VmHWM" | "VmRSS"): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(new RegExp(`^${key}:\\s*(\\d+) kB$`, "m").exec(status)?.[1]) / 1024;
}
