import { join } from "node:path";
import { openCache } from "../../tests/harness/mongo/mongod_cache.ts";
import { PACKAGES } from "../plan/servers.ts";

/** A folder with npm packages. */
export interface PackageFolder {
  /** Where it is. */
  readonly path: string;
  /** The versions of the packages that a reader would ask for. */
  readonly versions: Readonly<Record<string, string>>;
}

/** The bundler that makes plain JavaScript of the servers. */
const TOOLS = { esbuild: "0.28.2" };

/** Laid there when everything has been installed. */
const DONE = "installed";

const NPM_INSTALL = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];

/**
 * Installs the packages of a folder from npm, outside the repository, once.
 *
 * @param name A key of {@linkcode PACKAGES}, or `tools`.
 * @returns The folder.
 * @throws {Error} If npm cannot install one of them.
 */
export async function openPackages(name: string): Promise<PackageFolder> {
  const dependencies = name === "tools" ? TOOLS : await completeRanges(PACKAGES[name] ?? {});
  const text = JSON.stringify({ private: true, dependencies });
  const path = join(await openCache(), "bench", `${name}-${await digest(text)}`);
  const names = [...new Set([...Object.keys(dependencies), "mongodb"])];
  if (!await exists(join(path, DONE))) await install(path, text);
  const versions = await Promise.all(names.map((each) => readVersion(path, each)));
  return { path, versions: Object.fromEntries(versions.flat()) };
}

/** Takes from deno.json the versions that are left open. */
async function completeRanges(
  dependencies: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const config = await Deno.readTextFile(new URL("../../deno.json", import.meta.url));
  const { imports } = JSON.parse(config) as { imports: Record<string, string> };
  const complete = Object.entries(dependencies).map(([name, range]) => {
    return [name, range || imports[name]?.split("@").at(-1) || "*"];
  });
  return Object.fromEntries(complete);
}

async function digest(text: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(hash).toHex().slice(0, 12);
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

async function install(path: string, text: string): Promise<void> {
  await Deno.mkdir(path, { recursive: true });
  await Deno.writeTextFile(join(path, "package.json"), text);
  const { success, stderr } = await new Deno.Command("npm", {
    args: NPM_INSTALL,
    cwd: path,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) {
    const code = /\bcode (E[A-Z0-9]+)/.exec(new TextDecoder().decode(stderr))?.[1];
    throw new Error(`npm cannot install it (${code ?? "no reason given"})`);
  }
  await Deno.writeTextFile(join(path, DONE), "");
}

async function readVersion(path: string, name: string): Promise<[string, string][]> {
  try {
    const text = await Deno.readTextFile(join(path, "node_modules", name, "package.json"));
    return [[name, JSON.parse(text).version]];
  } catch {
    return [];
  }
}
