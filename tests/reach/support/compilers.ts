/** A way to run the README's application on Node. */
export interface Compiler {
  /** How it is called in the names of tests. */
  readonly name: string;
  /** The command that compiles `main.ts`; `node` stands for the Node that is tested. */
  readonly build?: readonly [string, ...string[]];
  /** The arguments of Node. */
  readonly run: readonly string[];
  /** What the README has to say about it. */
  readonly setting?: string;
}

const BIN = "node_modules/.bin/";

/** The setting that swc needs. */
export const SWC_SETTING = `"jsc": { "transform": { "decoratorVersion": "2022-03" } }`;

/** The arguments of swc; they come from a file, as a transform cannot be said on its command line. */
export function swcBuild(outDir: string, config: string): readonly [string, ...string[]] {
  const swc = "node_modules/@swc/cli/bin/swc.js";
  return ["node", swc, "main.ts", "--no-swcrc", "--config-file", config, "-o", `${outDir}/main.js`];
}

/** Those that work. */
export const COMPILERS: readonly Compiler[] = [
  {
    name: "tsc 5.9",
    build: ["node", "node_modules/typescript-oldest/bin/tsc", "--outDir", "dist/tsc-oldest"],
    run: ["dist/tsc-oldest/main.js"],
    setting: `"target": "es2022"`,
  },
  {
    name: "the newest tsc",
    build: ["node", "node_modules/typescript/bin/tsc", "--outDir", "dist/tsc"],
    run: ["dist/tsc/main.js"],
  },
  { name: "tsx", run: ["--import", "tsx", "main.ts"], setting: "tsx" },
  {
    name: "esbuild",
    build: [`${BIN}esbuild`, "main.ts", "--target=node22", "--format=esm", "--outdir=dist/esbuild"],
    run: ["dist/esbuild/main.js"],
    setting: "--target=node22",
  },
  {
    name: "swc",
    build: swcBuild("dist/swc", "swc.json"),
    run: ["dist/swc/main.js"],
    setting: SWC_SETTING,
  },
];
