import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { test } from "../harness/testing.ts";
import { runCommand } from "./support/run_command.ts";
import { openWorkspace } from "./support/workspace.ts";

const { denoProject, denoEnv, nodeProject, nodes: [node], jsrUrl } = openWorkspace();

/** Tells what the page of an application answers, and a file that it loads. */
const MAIN = `import express from "express";
import { all, Framework, FrameworkModel, prop, rest } from "@mongrove/mongrove";
import { openapi } from "@mongrove/mongrove/openapi";
import { serve } from "@mongrove/mongrove/testing";

@rest({ route: "/notes", methods: [all()] })
class Note extends FrameworkModel {
  @prop()
  text?: string;
}

const api = Framework.initialize({ models: [Note] });
const app = express().use(api, openapi(api, { info: { title: "Notes", version: "1" } }));
const served = await serve(app);
for (const path of ["/docs", "/docs/swagger-ui-bundle.js"]) {
  const answer = await fetch(served.url + path);
  console.log(answer.status, (await answer.text()).split("\\n")[0].slice(0, 200));
}
await served.stop();
`;

const SHOWN = /^200 <!DOCTYPE html>\n200 \S/;
const NEEDS = '404 This page needs the package swagger-ui-dist: run "npm i swagger-ui-dist" or ' +
  '"deno add npm:swagger-ui-dist"\n404 <!DOCTYPE html>';
const MAY_NOT_READ = "404 This page needs to read the files of swagger-ui-dist: run Deno with " +
  "--allow-read\n";

async function runDeno(...permissions: string[]): Promise<string> {
  await Deno.writeTextFile(join(denoProject, "docs.ts"), MAIN);
  const args = ["run", "--quiet", "--no-prompt", ...permissions, "docs.ts"];
  return await runCommand(Deno.execPath(), args, { cwd: denoProject, env: denoEnv });
}

test("/docs in Deno says what to install, then that it may not read, then shows the page", async () => {
  const base = ["--allow-env", "--allow-net", "--allow-sys"];
  assertEquals(await runDeno(...base), NEEDS);
  const options = { cwd: denoProject, env: denoEnv };
  await runCommand(Deno.execPath(), ["add", "--quiet", "npm:swagger-ui-dist"], options);
  assertStringIncludes(await runDeno(...base), MAY_NOT_READ);
  assertMatch(await runDeno(...base, "--allow-read"), SHOWN);
  await runCommand(Deno.execPath(), ["remove", "--quiet", "swagger-ui-dist"], options);
});

test("/docs in Node says what to install, and then shows the page", async () => {
  const cwd = nodeProject;
  await Deno.writeTextFile(join(cwd, "docs.ts"), MAIN);
  const run = () => runCommand(node.path, ["--import", "tsx", "docs.ts"], { cwd });
  assertEquals(await run(), NEEDS);
  const npm = ["--no-audit", "--no-fund", "--ignore-scripts", "swagger-ui-dist"];
  const options = { cwd, env: { JSR_URL: jsrUrl } };
  await runCommand("npm", ["install", ...npm], options);
  assertMatch(await run(), SHOWN);
  await runCommand("npm", ["uninstall", ...npm], options);
});
