import { existing, ROOT, runDeno } from "./run_deno.ts";

/** How much of a file is covered. */
export interface FileCoverage {
  /** Its path in the repository. */
  readonly file: string;
  /** The lines that can be covered. */
  readonly lines: number;
  /** Those that are. */
  readonly hit: number;
}

/** A coverage report. */
export interface CoverageReport {
  /** One line for each file that is shown, and one for the total. */
  readonly table: string;
  /** The covered lines of all files, in per cent. */
  readonly percent: number;
}

/**
 * Reads a report of `deno coverage --lcov`.
 *
 * @param lcov Its text.
 * @param root The folder that the paths shall be relative to.
 * @returns The files.
 */
export function parseLcov(lcov: string, root: string = ""): FileCoverage[] {
  return lcov.split("end_of_record").flatMap((record) => {
    const file = /^SF:(.*)$/m.exec(record)?.[1]?.replace(root, "");
    const lines = /^LF:(\d+)$/m.exec(record)?.[1];
    const hit = /^LH:(\d+)$/m.exec(record)?.[1];
    return file === undefined ? [] : [{ file, lines: Number(lines ?? 0), hit: Number(hit ?? 0) }];
  });
}

function percentOf({ lines, hit }: Omit<FileCoverage, "file">): number {
  return lines === 0 ? 100 : 100 * hit / lines;
}

/**
 * Writes a table of the files below a floor, and the total.
 *
 * @param files All files.
 * @param floor The files below it are shown, in per cent.
 * @returns The table and the total.
 */
export function reportCoverage(
  files: readonly FileCoverage[],
  floor: number,
): CoverageReport {
  const total = {
    file: "total",
    lines: files.reduce((sum, { lines }) => sum + lines, 0),
    hit: files.reduce((sum, { hit }) => sum + hit, 0),
  };
  const shown = files.filter((file) => percentOf(file) < floor)
    .sort((a, b) => percentOf(a) - percentOf(b));
  const table = [...shown, total].map((row) =>
    `${percentOf(row).toFixed(1).padStart(6)} %  ` +
    `${`${row.hit}/${row.lines}`.padStart(11)}  ${row.file}`
  );
  return { table: table.join("\n"), percent: percentOf(total) };
}

/**
 * Reads what a test run has covered of `src/`.
 *
 * @param folder The folder that `deno test --coverage` wrote.
 * @returns The files.
 * @throws {Error} If there is no coverage of `src/`.
 */
export async function readCoverage(folder: string): Promise<FileCoverage[]> {
  const sources = await existing(["src"]);
  const { code, output } = await runDeno([
    "coverage",
    "--lcov",
    `--include=^${RegExp.escape(new URL("src/", ROOT).href)}`,
    folder,
  ], { capture: true, env: { NO_COLOR: "1" } });
  const files = parseLcov(output, new URL(ROOT).pathname);
  if (files.length === 0 && sources.length > 0) {
    throw new Error(
      `Cannot read the coverage of src/: deno coverage ended with ${code}: ` +
        output,
    );
  }
  return files;
}
