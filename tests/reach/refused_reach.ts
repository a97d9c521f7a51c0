import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { test } from "../harness/testing.ts";
import { swcBuild } from "./support/compilers.ts";
import { runCommand, tryCommand } from "./support/run_command.ts";
import { openWorkspace } from "./support/workspace.ts";

const { denoProject, denoEnv, nodeProject: cwd, nodes } = openWorkspace();

const FIXES = [
  "Cannot apply @",
  'remove "experimentalDecorators"',
  '"target" to "es2022"',
  '"jsc.transform.decoratorVersion" to "2022-03"',
  'in esbuild set "target" to "node22"',
];

/** What was compiled ends at once, with the one error that names the fixes. */
async function assertRefused(file: string): Promise<void> {
  const { code, output } = await tryCommand(nodes[0].path, [file], { cwd });
  assert(code !== 0);
  for (const fix of FIXES) assertStringIncludes(output, fix);
  assertEquals(output.match(/^TypeError: /gm)?.length, 1);
}

test("legacy decorators of tsc are refused with the fix, by the compiler and at run time", async () => {
  const options = ["--ignoreConfig", "--module", "nodenext", "--target", "es2022"];
  const tsc = ["node_modules/typescript/bin/tsc", "main.ts", ...options];
  const args = [...tsc, "--experimentalDecorators", "--outDir", "dist/legacy"];
  const compiled = await tryCommand(nodes[1].path, args, { cwd });
  assertStringIncludes(
    compiled.output,
    "@rest needs standard decorators: remove",
  );
  await assertRefused("dist/legacy/main.js");
});

test("swc's default decorators are refused with the fix", async () => {
  const parser = `{ "syntax": "typescript", "decorators": true }`;
  const config = `{ "jsc": { "parser": ${parser}, "target": "es2022" } }`;
  await Deno.writeTextFile(join(cwd, "swc-default.json"), config);
  const [, ...args] = swcBuild("dist/swc-default", "swc-default.json");
  await runCommand(nodes[0].path, args, { cwd });
  await assertRefused("dist/swc-default/main.js");
});

test("esbuild's legacy decorators are refused with the fix", async () => {
  const legacy = JSON.stringify({ compilerOptions: { experimentalDecorators: true } });
  const args = ["main.ts", "--format=esm", "--outdir=dist/esbuild-legacy"];
  await runCommand("node_modules/.bin/esbuild", [...args, `--tsconfig-raw=${legacy}`], { cwd });
  await assertRefused("dist/esbuild-legacy/main.js");
});

test("esbuild without a target leaves decorators, which Node cannot read", async () => {
  const args = ["main.ts", "--format=esm", "--outdir=dist/esbuild-default"];
  await runCommand("node_modules/.bin/esbuild", args, { cwd });
  for (const { path } of nodes) {
    const { output } = await tryCommand(path, ["dist/esbuild-default/main.js"], { cwd });
    assertStringIncludes(output, "SyntaxError: Invalid or unexpected token");
  }
});

test("Node's own type stripping leaves decorators, which Node cannot read", async () => {
  const { output } = await tryCommand(nodes[1].path, ["main.ts"], { cwd });
  assertStringIncludes(output, "SyntaxError: Invalid or unexpected token");
});

test("legacy decorators of Deno are refused with the fix", async () => {
  const config = JSON.parse(await Deno.readTextFile(join(denoProject, "deno.json")));
  const path = join(denoProject, "legacy.json");
  const legacy = { ...config, compilerOptions: { experimentalDecorators: true } };
  await Deno.writeTextFile(path, JSON.stringify(legacy));
  const args = ["run", "-A", "--no-check", "--config", path, "main.ts"];
  const options = { cwd: denoProject, env: denoEnv };
  const { output } = await tryCommand(Deno.execPath(), args, options);
  for (const fix of FIXES) assertStringIncludes(output, fix);
});
