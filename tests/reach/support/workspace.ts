import { join } from "node:path";
import { readApp, readTsconfig } from "./readme.ts";
import { runCommand, tryCommand } from "./run_command.ts";

/** A Node.js to run things with. */
export interface NodeBinary {
  /** Such as `"v22.23.3"`. */
  readonly version: string;
  /** The path of the binary. */
  readonly path: string;
}

/** What the tests of a run share: a registry that the package is published to, and projects that use it. */
export interface Workspace {
  /** The registry. */
  readonly jsrUrl: string;
  /** The folder of the package for npm. */
  readonly npmPackage: string;
  /** A Deno project that has the package. */
  readonly denoProject: string;
  /** The variables for a Deno that works in it. */
  readonly denoEnv: Record<string, string>;
  /** A Node project that has the package, and every compiler. */
  readonly nodeProject: string;
  /** The oldest Node that is supported, and the newest that there is. */
  readonly nodes: readonly [NodeBinary, NodeBinary];
  /** What was published: sizes in bytes, by path. */
  readonly published: Record<string, number>;
}

/** What a Node project needs beside the package: the README says so. */
export const NODE_INSTALL: readonly string[] = [
  "npm i express mongoose",
  "npm i -D typescript @types/express",
];

/** What vitest needs: the README says so. */
export const VITE_7_INSTALL = "npm i -D vitest vite@7";

const COMPILERS = [
  "typescript-oldest@npm:typescript@5.9",
  "tsx",
  "esbuild",
  "@swc/core",
  "@swc/cli",
  "vitest@3",
];

/** Nobody looks for news or holes here. */
const NPM_INSTALL = ["install", "--no-audit", "--no-fund"];

/** Stricter than the README's, as users may be. */
const STRICTER = {
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noImplicitOverride: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
};

/** Makes a Deno project by the README's line. */
export async function makeDenoProject(
  folder: string,
  jsrUrl: string,
): Promise<Pick<Workspace, "denoProject" | "denoEnv">> {
  const denoProject = join(folder, "deno");
  const denoEnv = { JSR_URL: jsrUrl, DENO_DIR: join(folder, "deno-dir") };
  await Deno.mkdir(denoProject);
  await Deno.writeTextFile(join(denoProject, "deno.json"), "{}");
  await Deno.writeTextFile(join(denoProject, "main.ts"), await readApp());
  const packages = ["jsr:@mongrove/mongrove", "npm:express", "npm:mongoose"];
  const options = { cwd: denoProject, env: denoEnv };
  await runCommand(Deno.execPath(), ["add", ...packages], options);
  return { denoProject, denoEnv };
}

/** Makes a Node project by the README's lines, and adds the compilers. */
export async function makeNodeProject(folder: string, jsrUrl: string): Promise<string> {
  const cwd = join(folder, "node");
  const env = { JSR_URL: jsrUrl };
  for (const name of ["newest", "vite7"]) {
    await Deno.mkdir(join(cwd, name), { recursive: true });
    await Deno.writeTextFile(join(cwd, name, "package.json"), '{ "type": "module" }');
  }
  await Deno.writeTextFile(join(cwd, ".npmrc"), `@jsr:registry=${jsrUrl}npm/\n`);
  await Deno.writeTextFile(join(cwd, "package.json"), '{ "type": "module", "private": true }');
  const { compilerOptions } = JSON.parse(await readTsconfig());
  const tsconfig = { compilerOptions: { ...compilerOptions, ...STRICTER }, include: ["main.ts"] };
  await Deno.writeTextFile(join(cwd, "tsconfig.json"), JSON.stringify(tsconfig));
  await Deno.writeTextFile(join(cwd, "main.ts"), await readApp());
  await runCommand("npx", ["-y", "jsr", "add", "@mongrove/mongrove"], { cwd, env });
  const packages = NODE_INSTALL.flatMap((line) => line.split(" ").slice(2));
  await runCommand("npm", [...NPM_INSTALL, ...packages.filter((name) => name !== "-D")], { cwd });
  await runCommand("npm", [...NPM_INSTALL, "-D", ...COMPILERS], { cwd });
  await runCommand("npm", [...NPM_INSTALL, "-D", "vitest@latest"], { cwd: join(cwd, "newest") });
  const vite7 = VITE_7_INSTALL.split(" ").slice(2);
  await runCommand("npm", [...NPM_INSTALL, ...vite7], { cwd: join(cwd, "vite7") });
  return cwd;
}

/** Gets Node 22 and the newest Node, as npm carries them. */
export async function fetchNodes(folder: string): Promise<Workspace["nodes"]> {
  const cwd = join(folder, "nodes");
  await Deno.mkdir(cwd);
  await Deno.writeTextFile(join(cwd, "package.json"), "{}");
  const packages = ["node@22", "node-newest@npm:node@latest"];
  await runCommand("npm", [...NPM_INSTALL, ...packages], { cwd });
  const open = async (name: string): Promise<NodeBinary> => {
    const path = join(cwd, "node_modules", name, "bin", "node");
    const { output } = await tryCommand(path, ["--version"], { cwd });
    return { version: output, path };
  };
  return [await open("node"), await open("node-newest")];
}

/** The variable that leads the tests to their workspace. */
export const WORKSPACE = "MONGROVE_REACH";

/** Opens the workspace of this run. */
export function openWorkspace(): Workspace {
  const text = Deno.env.get(WORKSPACE);
  if (!text) throw new Error("Cannot open the workspace: `deno task reach` makes it");
  return JSON.parse(text) as Workspace;
}
