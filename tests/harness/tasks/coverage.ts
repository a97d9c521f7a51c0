import { existing, ROOT, runDeno } from "./run_deno.ts";

export interface FileCoverage {
  readonly file: string;
  readonly lines: number;
  readonly hit: number;
}

export interface CoverageReport {
  readonly table: string;
  readonly percent: number;
}

/** @param root The paths become relative to this folder. */
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

/** @param floor In per cent. Only files below it are shown. */
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

/** Throws if there is no coverage of `src/`. */
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
