/**
 * Measures what the types of the client cost: what tsc does, and how long the processor works, for projects of 50, 100 and
 * 200 models with 20 fields, with and without calls of the client. Prints a table:
 *
 * ```sh
 * deno run -A tests/types/compiler/client_cost.ts
 * ```
 *
 * @module
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ManyModels, readCost, writeModels } from "./many_models.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const COUNTS = [50, 100, 200];
const ENTRIES = ["mod.ts", "src/client/mod.ts"];
const PACKAGES = [
  ...["typescript@5.9", "typescript-newest@npm:typescript@latest"],
  ...["mongoose@9", "express@5", "@types/express@5", "@types/node@22"],
];

async function run(cwd: string, command: string, args: readonly string[]): Promise<string> {
  const running = new Deno.Command(command, { cwd, args: [...args], stdin: "null" });
  const { code, stdout, stderr } = await running.output();
  const text = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("\n");
  if (code !== 0) throw new Error(`Cannot run "${command} ${args.join(" ")}": ${text}`);
  return text;
}

async function tsc(folder: string, compiler: string, ...args: string[]): Promise<string> {
  // The time of the processor: other programs do not add to it
  const timed = 'TIMEFORMAT="Processor: %U"; time node "$@"';
  return await run(folder, "bash", [
    ...["-c", timed, "bash", `node_modules/${compiler}/bin/tsc`],
    ...args,
  ]);
}

/** Makes a folder in which tsc finds the declarations of this repository, and everything that they import. */
async function openFolder(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "mongrove-cost-" });
  await Deno.writeTextFile(join(folder, "package.json"), '{ "type": "module", "private": true }');
  await run(folder, "npm", ["install", "--no-audit", "--no-fund", ...PACKAGES]);
  const options = {
    ...{ target: "es2023", module: "esnext", moduleResolution: "bundler", strict: true },
    ...{ lib: ["es2024", "dom", "dom.iterable", "dom.asynciterable", "esnext"], types: ["node"] },
    ...{ allowImportingTsExtensions: true, skipLibCheck: true, noUncheckedIndexedAccess: true },
  };
  const packages = {
    "express-types": [join(folder, "node_modules/@types/express/index.d.ts")],
    "*": [join(folder, "node_modules/@types/*"), join(folder, "node_modules/*")],
  };
  const write = async (name: string, more: object, rest: object = {}) => {
    const config = { compilerOptions: { ...options, ...more }, ...rest };
    await Deno.writeTextFile(join(folder, name), JSON.stringify(config));
  };
  const emit = {
    exactOptionalPropertyTypes: true,
    declaration: true,
    emitDeclarationOnly: true,
    outDir: "lib",
    rootDir: ROOT,
  };
  await write("lib.json", { ...emit, paths: packages }, {
    files: ENTRIES.map((path) => join(ROOT, path)),
  });
  await tsc(folder, "typescript", "-p", "lib.json");
  const [core, client] = ENTRIES.map((path) => [join(folder, "lib", path.replace(".ts", ".d.ts"))]);
  const own = { "@mongrove/mongrove": core, "@mongrove/mongrove/client": client };
  await write("base.json", { noEmit: true, paths: { ...own, ...packages } });
  return folder;
}

async function report(folder: string, project: ManyModels): Promise<void> {
  const path = join(folder, `${project.count}-${project.calls}`);
  await Deno.mkdir(path);
  await writeModels(path, project);
  const config = { extends: "../base.json", include: ["*.ts"] };
  await Deno.writeTextFile(join(path, "tsconfig.json"), JSON.stringify(config));
  for (const compiler of ["typescript", "typescript-newest"]) {
    const version = (await tsc(folder, compiler, "--version")).split(/\s+/)[1];
    const said = await tsc(folder, compiler, "-p", path, "--extendedDiagnostics");
    const { instantiations, types, seconds } = readCost(said);
    const figures = [instantiations, types].map((each) => each.toLocaleString("en"));
    const cells = [version, project.count, project.calls ? "six a model" : "none", ...figures];
    console.log(`| ${[...cells, `${seconds.toFixed(1)} s`].join(" | ")} |`);
  }
}

if (import.meta.main) {
  const folder = await openFolder();
  try {
    console.log("| tsc | models | calls | instantiations | types | processor |");
    console.log("| --- | ---: | --- | ---: | ---: | ---: |");
    for (const calls of [false, true]) {
      for (const count of COUNTS) await report(folder, { count, calls });
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
