import { assert } from "@std/assert";
import { join } from "node:path";
import { longTest } from "../harness/testing.ts";
import { runCommand } from "../reach/support/run_command.ts";
import { toDefine } from "../support/forms/to_define.ts";
import { makeProject } from "./tutorial/make_project.ts";
import { readSteps } from "./tutorial/read_steps.ts";

type Files = Record<string, string>;

const read = (page: string) => Deno.readTextFile(new URL(`../../${page}`, import.meta.url));

/** Gives the files of a page, step by step. */
async function stepsOf(page: string): Promise<Files[]> {
  return readSteps(await read(page)).map(({ files }) => files);
}

/** The files of a page that goes on from step to step, as they are at its end. */
async function filesAtEnd(page: string): Promise<Files> {
  return Object.assign({}, ...await stepsOf(page));
}

/** The same, with models that `define()` declares. */
async function definedAtEnd(page: string): Promise<Files> {
  const files = Object.entries(await filesAtEnd(page))
    .map(([name, text]) => [name, toDefine(text).text] as const);
  const all = files.map(([, text]) => text).join("");
  assert(all.includes("$define(") && !/^@rest|^ +@prop/m.test(all), page);
  return Object.fromEntries(files);
}

/** The files of a page whose steps are applications of their own: each has another name. */
async function filesOfAll(page: string): Promise<Files> {
  const steps = (await stepsOf(page)).map(({ "app.ts": app, ...others }, index) => ({
    ...others,
    ...app !== undefined && { [`app_${index}.ts`]: app, "app.ts": app },
  }));
  return Object.assign({}, ...steps);
}

/** All blocks of a page, each of which is a module of its own. */
async function blocksOf(page: string): Promise<Files> {
  const blocks = (await read(page)).matchAll(/^```ts\b[^\n]*\n([^]*?)^```$/gm);
  return Object.fromEntries([...blocks].map(([, text = ""], index) => [`block_${index}.ts`, text]));
}

const PAGES: readonly (readonly [string, (page: string) => Promise<Files>])[] = [
  ["SKILL.md", filesAtEnd],
  ["docs/adopt.md", filesAtEnd],
  ["docs/client.md", filesAtEnd],
  ["docs/keys.md", filesOfAll],
  ["docs/live.md", filesAtEnd],
  ["docs/models.md", blocksOf],
  ["docs/openapi.md", filesOfAll],
  ["docs/production.md", filesOfAll],
  ["docs/tutorial.md", filesAtEnd],
  ["docs/tutorial.md", definedAtEnd],
  ["docs/work.md", filesAtEnd],
];

// At once: most of the time of a check goes into the types of Mongoose and of src/
longTest("pages of the documentation have files that compile", async () => {
  await using project = await makeProject();
  const names: string[] = [];
  for (const [index, [page, filesOf]] of PAGES.entries()) {
    const folder = `page_${index}`;
    await Deno.mkdir(join(project.folder, folder));
    const files = Object.entries(await filesOf(page))
      .map(([name, text]) => [`${folder}/${name}`, text] as const);
    assert(files.length > 1, page);
    await project.write(Object.fromEntries(files));
    names.push(...files.map(([name]) => name));
  }
  const options = { cwd: project.folder, env: {} };
  await runCommand(Deno.execPath(), ["check", "--quiet", "--no-lock", ...names], options);
});
