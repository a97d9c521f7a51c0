import { join } from "node:path";
import { ROOT } from "./run_deno.ts";

/** Most of the time of a small test file goes into loading the shared imports. */
export const GROUP_SIZE = 24;

/** The comment of a file that cannot share modules with others. */
const ALONE = /^\/\/ Runs alone: /m;

const LONG = /\b(?:longTest|casesOf)\(/;

export interface TestFile {
  readonly path: string;
  readonly text: string;
}

export interface TestGroups {
  readonly alone: readonly string[];
  readonly groups: readonly (readonly string[])[];
}

/**
 * Files that say so run alone, and files with long tests in the long form. Files of one folder are in different groups,
 * because the slow ones of a folder would make its group end last.
 */
export function groupTests(files: readonly TestFile[], isLong: boolean): TestGroups {
  const isAlone = ({ text }: TestFile) => ALONE.test(text) || isLong && LONG.test(text);
  const others = files.filter((file) => !isAlone(file)).map(({ path }) => path);
  const count = Math.ceil(others.length / GROUP_SIZE);
  const groups = Array.from(
    { length: count },
    (_, index) => others.filter((_, at) => at % count === index),
  );
  return { alone: files.filter(isAlone).map(({ path }) => path), groups };
}

export async function readTestFiles(): Promise<TestFile[]> {
  const lists = await Promise.all(["src", "tests"].map(pathsIn));
  const paths = lists.flat().filter((path) => path.endsWith("_test.ts")).sort();
  return await Promise.all(paths.map(async (path) => ({
    path,
    text: await Deno.readTextFile(new URL(path, ROOT)),
  })));
}

async function pathsIn(folder: string): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(new URL(folder, ROOT)));
  const paths = await Promise.all(entries.map(({ name, isDirectory }) => {
    const path = `${folder}/${name}`;
    return isDirectory ? pathsIn(path) : [path];
  }));
  return paths.flat();
}

/** Each module imports the files of a group. */
export async function writeGroups(
  groups: readonly (readonly string[])[],
  folder: string,
): Promise<string[]> {
  return await Promise.all(groups.map(async (paths, index) => {
    const file = join(folder, `group_${String(index + 1).padStart(2, "0")}_test.ts`);
    const imports = paths.map((path) => `import ${JSON.stringify(new URL(path, ROOT).href)};`);
    await Deno.writeTextFile(file, `${imports.join("\n")}\n`);
    return file;
  }));
}
