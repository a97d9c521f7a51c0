import { basename } from "node:path";
import { followTests } from "./follow_tests.ts";
import { type DenoResult, isInterrupted, type RunDenoOptions } from "./run_deno.ts";

/** More failures are no chance. */
const MOST = 4;

/** Runs of `deno test --parallel` side by side. */
export class FollowedRuns {
  readonly #failed: string[] = [];

  /** Shows how far a run of so many files is. */
  follow(files: number): NonNullable<RunDenoOptions["follow"]> {
    return (output) =>
      followTests(output, {
        files,
        tell: (text) => Deno.stderr.writeSync(new TextEncoder().encode(text)),
        isTerminal: Deno.stderr.isTerminal(),
        isStopped: isInterrupted,
        fail: (file) => this.#failed.push(file),
      });
  }

  /** Those of the files whose tests have failed, if few have. */
  fewFailed(results: readonly DenoResult[], files: readonly string[]): readonly string[] {
    const counts = results.filter(({ code }) => code !== 0)
      .map(({ output }) => Number(/^FAILED \| .*?(\d+) failed/m.exec(output)?.[1]));
    const count = counts.reduce((sum, each) => sum + each, 0);
    // A run may also fail without a failed test.
    const areAll = count === this.#failed.length && count > 0;
    return areAll && count <= MOST
      ? files.filter((path) => this.#failed.includes(basename(path)))
      : [];
  }
}

/** Each separate run has a separate report. */
export function besideReport(arg: string, name: string): string {
  return arg.replace(/^(--junit-path=.*)\.xml$/, `$1_${name}.xml`);
}
