import { join } from "node:path";
import { longTest } from "./harness/testing.ts";
import { runCommand } from "./reach/support/run_command.ts";
import { makeProject } from "./tutorial/make_project.ts";
import { readSteps } from "./tutorial/read_steps.ts";

type Files = Record<string, string>;

/** Gives the files of a page, step by step. */
async function stepsOf(page: string): Promise<Files[]> {
  const text = await Deno.readTextFile(new URL(`../docs/${page}.md`, import.meta.url));
  return readSteps(text).map(({ files }) => files);
}

/** The files of a page that goes on from step to step, as they are at its end. */
async function filesAtEnd(page: string): Promise<Files> {
  return Object.assign({}, ...await stepsOf(page));
}

/** The files of a page whose steps are applications of their own: each has another name. */
async function filesOfAll(page: string): Promise<Files> {
  const steps = (await stepsOf(page)).map(({ "app.ts": app, ...others }, index) => ({
    ...others,
    ...app !== undefined && { [`app_${index}.ts`]: app, "app.ts": app },
  }));
  return Object.assign({}, ...steps);
}

const PAGES: readonly (readonly [string, (page: string) => Promise<Files>])[] = [
  ["client", filesAtEnd],
  ["cookbook", filesOfAll],
  ["live", filesAtEnd],
  ["tracing", filesOfAll],
  ["tutorial", filesAtEnd],
];

// At once: most of the time of a check goes into the types of Mongoose and of src/
longTest(`docs/ has files that compile: ${PAGES.map(([page]) => page).join(", ")}`, async () => {
  await using project = await makeProject();
  const names: string[] = [];
  for (const [page, read] of PAGES) {
    await Deno.mkdir(join(project.folder, page));
    const files = Object.entries(await read(page))
      .map(([name, text]) => [`${page}/${name}`, text] as const);
    await project.write(Object.fromEntries(files));
    names.push(...files.map(([name]) => name));
  }
  const options = { cwd: project.folder, env: {} };
  await runCommand(Deno.execPath(), ["check", "--quiet", "--no-lock", ...names], options);
});
