import { basename } from "node:path";
import { stripVTControlCharacters } from "node:util";

export interface FollowTestsOptions {
  readonly files: number;
  /** Gets the progress, without a line feed if a terminal renews the line, and each failure at once. */
  readonly tell: (text: string) => void;
  readonly isTerminal: boolean;
  /** After a stop, `deno test` lists all tests that have not ended as failures. */
  readonly isStopped: () => boolean;
  /** Gets the file of each failed test. */
  readonly fail?: (file: string) => void;
}

/** How often the progress is told without a terminal. */
const TELL_MS = 30_000;

/** Clears a terminal's line. */
const RENEW = "\r\x1b[K";

/** The result of a test or a step: `path => test ... step ... ok (5ms)`. One job tells the path before, and indents. */
const RESULT = /^(?:(\S+) => )?(\S.*) \.\.\. (ok|ignored|FAILED)\b/;
const FROM = /^running \d+ tests? from (\S+)$/;
/** The start of the name of a test in a group. */
const FILE = /^\w+_test\.ts(?=: )/;
/** The first line after all results. */
const END = /^ ?ERRORS ?$|^(?:ok|FAILED) \| /;

/**
 * Shows how many test files of `deno test --parallel` have begun and how many tests have failed. Returns the errors and
 * the summary.
 */
export async function followTests(
  output: ReadableStream<Uint8Array<ArrayBuffer>>,
  { files, tell, isTerminal, isStopped, fail = () => {} }: FollowTestsOptions,
): Promise<string> {
  const begun = new Set<string>();
  let failed = 0;
  const progress = () => `${begun.size} of ${files} test files, ${failed} failed`;
  const renew = isTerminal ? RENEW : "";
  const kept: string[] = [];
  const timer = setInterval(
    () => tell(isTerminal ? `${RENEW}${progress()}` : `${progress()}\n`),
    isTerminal ? 1_000 : TELL_MS,
  );
  try {
    let isOver = false;
    let current: string | undefined;
    for await (const line of linesOf(output)) {
      if (isStopped()) break;
      const text = stripVTControlCharacters(line);
      isOver ||= END.test(text);
      const from = FROM.exec(text)?.[1];
      current = from ?? current;
      const [, path = current, name = "", result] = RESULT.exec(text) ?? [];
      const file = FILE.exec(name)?.[0] ?? path;
      if (file !== undefined) begun.add(file);
      if (result === "FAILED" && !name.includes(" ... ")) {
        failed++;
        fail(basename(file ?? ""));
      }
      if (result === "FAILED") tell(`${renew}${line}\n`);
      else if (isOver || (result ?? from) === undefined && line !== "") kept.push(line);
    }
  } finally {
    clearInterval(timer);
    if (isTerminal) tell(RENEW);
  }
  return isStopped() ? `Stopped after ${progress()}` : kept.join("\n");
}

async function* linesOf(output: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let rest = "";
  for await (const text of output.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}
