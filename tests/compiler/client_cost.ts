/**
 * Measures what the types of the client cost: what tsc does, and how long the processor works, for projects of 50, 100 and
 * 200 models with 20 fields, with and without calls of the client. Prints the table of `docs/client.md`:
 *
 * ```sh
 * deno run -A tests/compiler/client_cost.ts
 * ```
 *
 * @module
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const COUNTS = [50, 100, 200];
const ENTRIES = ["mod.ts", "src/client/mod.ts"];
const PACKAGES = [
  ...["typescript@5.9", "typescript-newest@npm:typescript@latest"],
  ...["mongoose@9", "express@5", "@types/express@5", "@types/node@22"],
];

/** What tsc says about a project. */
interface Cost {
  readonly instantiations: number;
  readonly types: number;
  readonly seconds: number;
}

/** Twenty fields: of several types, with references to the next model, and embedded entities. */
function writeModel(n: number, of: number): string {
  const next = (n + 1) % of;
  const scalars = Array.from({ length: 5 }, (_, i) =>
    `  @prop() text${i}?: string;
  @prop({ type: Number }) number${i}?: number;
  @prop({ type: Date }) date${i}?: Date;`);
  return `import { arrayProp, FrameworkModel, type Hidden, prop, type Ref } from "@mongrove/mongrove";
import { Model${next} } from "./model${next}.ts";
export class Part${n} extends FrameworkModel {
  @prop() city?: string;
}
export class Model${n} extends FrameworkModel {
${scalars.join("\n")}
  @prop({ ref: () => Model${next} }) one?: Ref<Model${next}>;
  @arrayProp({ items: () => Model${next} }) many?: Ref<Model${next}>[];
  @prop({ type: () => Part${n} }) part?: Part${n};
  @arrayProp({ items: String }) tags?: string[];
  @prop({ hidden: true }) secret?: Hidden<string>;
}
`;
}

/** What an application does with a resource. */
function writeCalls(n: number): string {
  return `import { connect } from "@mongrove/mongrove/client";
import type { Model${n} } from "./model${n}.ts";
const list = connect("https://example.org").resource<Model${n}>("/model${n}");
export async function use(id: string): Promise<string | undefined> {
  const { items } = await list.all({
    q: { number0: { $gte: 1 }, "part.city": "Rome", $or: [{ text1: "a" }, { tags: "b" }] },
    sort: ["-date0"], select: ["text0", "date1"], revive: ["date1"],
  });
  const one = await list.one(id, { populate: ["one", "many"] });
  await list.create({ text0: "a", part: { city: "Rome" } });
  await list.update(id, { number0: one.number1 ?? 0, text1: null }, { ifMatch: one });
  for await (const each of list.each()) if (each.text4 === id) return each.part?.city;
  return items[0]?.text0 ?? one.one?.text2;
}
`;
}

async function run(cwd: string, command: string, args: readonly string[]): Promise<string> {
  const running = new Deno.Command(command, { cwd, args: [...args], stdin: "null" });
  const { code, stdout, stderr } = await running.output();
  const text = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("\n");
  if (code !== 0) throw new Error(`Cannot run "${command} ${args.join(" ")}": ${text}`);
  return text;
}

/** A project to measure. */
interface Project {
  /** How many models it has. */
  readonly count: number;
  /** Whether it calls the client. */
  readonly calls: boolean;
}

/** Writes a project, and gives its folder. */
async function writeProject(folder: string, { count, calls }: Project): Promise<string> {
  const project = join(folder, `${count}-${calls}`);
  await Deno.mkdir(project);
  for (let n = 0; n < count; n++) {
    await Deno.writeTextFile(join(project, `model${n}.ts`), writeModel(n, count));
    if (calls) await Deno.writeTextFile(join(project, `use${n}.ts`), writeCalls(n));
  }
  const config = { extends: "../base.json", include: ["*.ts"] };
  await Deno.writeTextFile(join(project, "tsconfig.json"), JSON.stringify(config));
  return project;
}

async function tsc(folder: string, compiler: string, ...args: string[]): Promise<string> {
  // The time of the processor: other programs do not add to it
  const timed = 'TIMEFORMAT="Processor: %U"; time node "$@"';
  return await run(folder, "bash", [
    ...["-c", timed, "bash", `node_modules/${compiler}/bin/tsc`],
    ...args,
  ]);
}

function readCost(said: string): Cost {
  const read = (label: string) => Number(new RegExp(`^${label}: +([\\d.]+)`, "m").exec(said)?.[1]);
  return {
    instantiations: read("Instantiations"),
    types: read("Types"),
    seconds: read("Processor"),
  };
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

async function report(folder: string, project: Project): Promise<void> {
  const path = await writeProject(folder, project);
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
