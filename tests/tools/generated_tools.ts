import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { buildApp } from "../../examples/movies/app.ts";
import { SECRET_KEY } from "../../examples/movies/hooks/authenticated.ts";
import { seed } from "../../examples/movies/seed.ts";
import { test } from "../harness/testing.ts";
import { runCommand, tryCommand } from "../reach/support/run_command.ts";
import { asQuery } from "../support/support.ts";
import { openExample } from "./support/example.ts";
import { buildTextApp } from "./support/text_app.ts";

const PACKAGES = ["openapi-typescript@7", "openapi-fetch@0.17", "typescript@5.9"];

const TSCONFIG = {
  compilerOptions: {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    target: "es2022",
    lib: ["es2022", "dom"],
    module: "nodenext",
    types: [],
    skipLibCheck: true,
    outDir: "dist",
  },
  files: ["main.ts"],
};

/** Runs create, list, update and remove with the generated types, and tells what came. */
const MAIN = `import createClient from "openapi-fetch";
import type { components, paths } from "./movies.js";

declare const process: { readonly env: Readonly<Record<string, string>> };

type Movie = components["schemas"]["Movie"];

const client = createClient<paths>({ baseUrl: process.env.API ?? "" });
const headers = { authorization: process.env.KEY ?? "" };

const created = await client.POST("/movies", {
  headers,
  body: { name: "Ran away", description: "A test", year: 1985 },
});
const movie: Movie | undefined = created.data;
const id = movie?._id ?? "";

const q = JSON.stringify({ year: { $gte: 1984, $lte: 1985 } });
const listed = await client.GET("/movies", {
  params: { query: { q, limit: 5, sort: ["-year", "name"], select: ["name", "year"] } },
});
const names: string[] | undefined = listed.data?.map(({ name, year }) => name + " " + year);

const path = { id };
const updated = await client.PATCH("/movies/{id}", { params: { path }, headers, body: { year: 1986 } });
const year: number | null | undefined = updated.data?.year;

const removed = await client.DELETE("/movies/{id}", { params: { path }, headers });
const gone = await client.GET("/movies/{id}", { params: { path } });

console.log(JSON.stringify({
  created: [created.response.status, movie?.name],
  listed: names,
  updated: year,
  removed: [removed.response.status, removed.data],
  gone: [gone.response.status, gone.error?.code],
}));
`;

/** What a user may get wrong. */
const WRONG = [
  `await client.GET("/films", {});`,
  `await client.DELETE("/movies", {});`,
  `await client.POST("/movies", { body: { name: "A" } });`,
  `console.log(listed.data?.[0]?.title);`,
  `await client.PATCH("/movies/{id}", { body: {} });`,
];

/** A project with generated types. */
interface Project extends AsyncDisposable {
  /** Compiles its `main.ts`, with lines of one's own below it; gives the exit code and the output. */
  readonly compile: (lines?: string) => Promise<{ code: number; output: string }>;
  /** Runs what was compiled. */
  readonly run: (env: Record<string, string>) => Promise<unknown>;
}

/** Makes a project, and generates the types of the document that an application serves. */
async function makeProject(url: string): Promise<Project> {
  const cwd = await Deno.makeTempDir({ prefix: "mongrove-generated-" });
  await Deno.writeTextFile(join(cwd, "package.json"), '{ "type": "module", "private": true }');
  await Deno.writeTextFile(join(cwd, "tsconfig.json"), JSON.stringify(TSCONFIG));
  await runCommand("npm", ["install", "--no-audit", "--no-fund", ...PACKAGES], { cwd });
  const generate = ["node_modules/openapi-typescript/bin/cli.js", `${url}/openapi.json`];
  await runCommand("node", [...generate, "-o", "movies.ts"], { cwd });
  return {
    compile: async (lines = "") => {
      await Deno.writeTextFile(join(cwd, "main.ts"), MAIN + lines);
      return await tryCommand("node", ["node_modules/typescript/bin/tsc"], { cwd });
    },
    run: async (env) => JSON.parse(await runCommand("node", ["dist/main.js"], { cwd, env })),
    [Symbol.asyncDispose]: () => Deno.remove(cwd, { recursive: true }),
  };
}

test("openapi-typescript and openapi-fetch give a client that compiles and works", async () => {
  await using app = await openExample({ buildApp, seed });
  await using project = await makeProject(app.url);
  assertEquals(await project.compile(), { code: 0, output: "" });
  assertEquals(await project.run({ API: app.url, KEY: SECRET_KEY }), {
    created: [201, "Ran away"],
    listed: ["Ran 1985", "Ran away 1985"],
    updated: 1986,
    removed: [204, null],
    gone: [404, "NOT_FOUND"],
  });
  const { output } = await project.compile(WRONG.join("\n"));
  const lines = [...output.matchAll(/^main\.ts\((\d+),/gm)].map(([, line]) => Number(line));
  const first = MAIN.split("\n").length;
  assertEquals([...new Set(lines)], WRONG.map((_, index) => first + index), output);
});

/** Lists with the functions that orval writes, and tells what came. */
const ORVAL_MAIN = `import { allMovies } from "./api";

const { data, status } = await allMovies({ q: JSON.stringify({ year: 1979 }), limit: 5 });
const names: (string | undefined)[] = status === 200 ? data.map(({ name }) => name) : [];
console.log(JSON.stringify([status, names]));
`;

const TSC = ["--strict", "--target", "es2022", "--lib", "es2022,dom,dom.iterable"];
const MODULES = ["--module", "preserve", "--skipLibCheck", "--noEmit"];
const BUNDLE = ["--bundle", "--platform=node", "--format=esm", "--outfile=main.js"];

/** Generates a client by orval, compiles a program that uses it, and gives what that prints. */
async function runOrval(url: string): Promise<unknown> {
  const cwd = await Deno.makeTempDir({ prefix: "mongrove-orval-" });
  const output = { target: "api.ts", client: "fetch", baseUrl: url };
  const config = { movies: { input: `${url}/openapi.json`, output } };
  const write = (name: string, text: string) => Deno.writeTextFile(join(cwd, name), text);
  try {
    await write("package.json", '{ "type": "module", "private": true }');
    await write("orval.config.mjs", `export default ${JSON.stringify(config)}`);
    await write("main.ts", ORVAL_MAIN);
    const packages = ["orval@7", "typescript@5.9", "esbuild", "@types/node@22"];
    await runCommand("npm", ["install", "--no-audit", "--no-fund", ...packages], { cwd });
    await runCommand("node", ["node_modules/.bin/orval"], { cwd });
    const tsc = ["node_modules/typescript/bin/tsc", ...TSC, ...MODULES, "main.ts"];
    await runCommand("node", tsc, { cwd });
    await runCommand("node_modules/.bin/esbuild", ["main.ts", ...BUNDLE], { cwd });
    return JSON.parse(await runCommand("node", ["main.js"], { cwd }));
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
}

test("orval gives a client that compiles and filters, where q is written as a text", async () => {
  await using app = await openExample({ buildApp: buildTextApp, seed });
  const found = await app.read<{ name: string }[]>(`/movies${asQuery({ year: 1979 })}&limit=5`);
  assert(found.length > 0);
  assertEquals(await runOrval(app.url), [200, found.map(({ name }) => name)]);
});
