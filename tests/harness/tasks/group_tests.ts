import { join } from "node:path";
import { ROOT } from "./run_deno.ts";

/** Most of the time of a small test file goes into loading the shared imports. */
export const GROUP_SIZE = 24;

/** For groups of files that each take long. */
const LONG_GROUP_SIZE = 4;

/** The comment of a file that cannot share modules with others. */
const ALONE = /^\/\/ Runs alone: /m;

const LONG = /\b(?:longTest|casesOf)\(/;

export interface TestFile {
  readonly path: string;
  readonly text: string;
}

/** Files that run in one isolate each, and files that share one. */
export interface TestGroups {
  readonly alone: readonly string[];
  /** The files that take long in the long form. */
  readonly long: readonly (readonly string[])[];
  readonly groups: readonly (readonly string[])[];
}

/**
 * A file runs alone if it says so. Files of one folder are in different groups, because the slow ones of a folder would
 * make its group end last.
 */
export function groupTests(files: readonly TestFile[], isLong: boolean): TestGroups {
  const isAlone = ({ text }: TestFile) => ALONE.test(text);
  const takesLong = ({ text }: TestFile) => isLong && LONG.test(text);
  const others = files.filter((file) => !isAlone(file));
  return {
    alone: files.filter(isAlone).map(({ path }) => path),
    long: deal(others.filter(takesLong), LONG_GROUP_SIZE),
    groups: deal(others.filter((file) => !takesLong(file)), GROUP_SIZE),
  };
}

function deal(files: readonly TestFile[], size: number): string[][] {
  const count = Math.ceil(files.length / size);
  return Array.from(
    { length: count },
    (_, index) => files.filter((_, at) => at % count === index).map(({ path }) => path),
  );
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

/**
 * Each module imports the files of a group.
 *
 * @param where The folder, and how the names of the modules begin.
 */
export async function writeGroups(
  groups: readonly (readonly string[])[],
  { folder, name }: { readonly folder: string; readonly name: string },
): Promise<string[]> {
  return await Promise.all(groups.map(async (paths, index) => {
    const file = join(folder, `${name}_${String(index + 1).padStart(2, "0")}_test.ts`);
    const imports = paths.map((path) => `import ${JSON.stringify(new URL(path, ROOT).href)};`);
    await Deno.writeTextFile(file, `${imports.join("\n")}\n`);
    return file;
  }));
}
