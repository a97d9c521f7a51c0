import { join } from "node:path";
import { reasonOf, say } from "../../tests/harness/say.ts";
import type { Runtime, Server, ServerKind } from "../plan/servers.ts";
import { bundle } from "./bundle.ts";
import { openPackages } from "./packages.ts";

/** A server's program, ready to run. */
export interface Bundle {
  /** The JavaScript module. */
  readonly script: string;
  /** Where it runs: beside its packages. */
  readonly folder: string;
}

/** The programs of a run, and what they run on. */
export interface Workspace extends AsyncDisposable {
  /** The runtimes. */
  readonly programs: Readonly<Record<Runtime, string>>;
  /** The version of everything that is measured. */
  readonly versions: Readonly<Record<string, string>>;
  /** Those of the servers that could be prepared. */
  readonly servers: readonly Server[];
  /** What could not, and why. */
  readonly notes: readonly string[];
  /** The bundle of the load generator. */
  readonly load: string;
  /** Gives the bundle of a server's program. */
  bundleOf(kind: ServerKind): Bundle;
}

/**
 * Installs what servers need, and bundles them.
 *
 * @param servers The servers.
 * @returns What is ready; a server whose packages cannot be installed is left out, with a note.
 * @throws {Error} If Node is missing.
 */
export async function openWorkspace(servers: readonly Server[]): Promise<Workspace> {
  const node = await findNode();
  const bundles = new Map<string, Bundle>();
  const versions: Record<string, string> = { deno: Deno.version.deno, node: node.version };
  const notes: string[] = [];
  const temporary = [await Deno.makeTempDir({ prefix: "mongrove-bench-" })];
  const load = join(temporary[0] ?? "", "load.mjs");
  await bundle("load/main.ts", load);
  for (const kind of new Set(servers.map(({ kind }) => kind))) {
    try {
      const folder = await openPackages(kind.folder);
      const run = await Deno.makeTempDir({ dir: folder.path, prefix: "run-" });
      temporary.push(run);
      const script = join(run, `${kind.name}.mjs`);
      await bundle(`servers/${kind.name}.ts`, script);
      bundles.set(kind.name, { script, folder: folder.path });
      addVersions(versions, kind, folder.versions);
    } catch (error) {
      notes.push(`${kind.title} is left out: ${reasonOf(error)}`);
      say(notes.at(-1) ?? "");
    }
  }
  return {
    programs: { deno: Deno.execPath(), node: node.path },
    versions,
    servers: servers.filter(({ kind }) => bundles.has(kind.name)),
    notes,
    load,
    bundleOf(kind): Bundle {
      const found = bundles.get(kind.name);
      if (found === undefined) throw new Error(`Cannot run "${kind.name}": it is not prepared`);
      return found;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all(temporary.map((path) => Deno.remove(path, { recursive: true })));
    },
  };
}

/** Peers bring versions of their own of what Mongrove uses as well: those are named after the peer. */
function addVersions(
  versions: Record<string, string>,
  kind: ServerKind,
  found: Readonly<Record<string, string>>,
): void {
  for (const [name, version] of Object.entries(found)) {
    if (versions[name] === version) continue;
    versions[versions[name] === undefined ? name : `${name} of ${kind.title}`] = version;
  }
}

async function findNode(): Promise<{ path: string; version: string }> {
  const script = "console.log(JSON.stringify([process.execPath, process.versions.node]))";
  const output = await new Deno.Command("node", { args: ["-e", script] }).output().catch(() => {
    throw new Error("Cannot run the bench: it needs Node and npm on PATH");
  });
  const [path, version] = JSON.parse(new TextDecoder().decode(output.stdout));
  return { path, version };
}
