import { join } from "node:path";
import { ROOT } from "./run_deno.ts";

/** How many test files one group has. Most of the time of a small file goes into loading what all of them import. */
export const GROUP_SIZE = 24;

/** How many files have a group in which each takes long. */
const LONG_GROUP_SIZE = 4;

/** The comment of a file that cannot share modules with other files. */
const ALONE = /^\/\/ Runs alone: /m;

/** What a file calls that takes longer in the long form. */
const LONG = /\b(?:longTest|casesOf)\(/;

/** A test file. */
export interface TestFile {
  /** Its path in the repository. */
  readonly path: string;
  /** Its text. */
  readonly text: string;
}

/** Test files that run in one isolate each, and files that share one. */
export interface TestGroups {
  /** The paths of files that run alone. */
  readonly alone: readonly string[];
  /** The paths of files that take long in the long form, group by group. */
  readonly long: readonly (readonly string[])[];
  /** The paths of the others, group by group. */
  readonly groups: readonly (readonly string[])[];
}

/**
 * Groups test files. A file runs alone if it says so. Files of one folder are in different groups, because the slow files
 * of a folder would make its group the last one to end.
 *
 * @param files The files, in the order in which they run.
 * @param isLong Whether long tests run.
 * @returns The files that run alone, and the groups.
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

/** Reads all test files of `src/` and `tests/`. */
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
 * Writes one module for each group, which imports its files.
 *
 * @param groups The groups.
 * @param where The folder to write them to, and how their names begin.
 * @returns The paths of the modules.
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
