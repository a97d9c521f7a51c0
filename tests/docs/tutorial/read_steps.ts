/** A request of the page, and its answer. */
export interface Turn {
  /** The curl line. */
  readonly line: string;
  /** The status and the body, as the page shows them, on one line or more. */
  readonly answer: string;
  /** Headers of the answer, as the page shows them. */
  readonly headers: readonly string[];
}

/** What stands below one heading. */
export interface Step {
  /** The heading. */
  readonly title: string;
  /** The files, by name. */
  readonly files: Record<string, string>;
  /** The requests. */
  readonly turns: readonly Turn[];
}

const FILE = /^```ts\n\/\/ (\S+\.ts)\n([^]*?)^```$/gm;
const CONSOLE = /^```console\n([^]*?)^```$/gm;

/** Reads the steps of the tutorial: blocks of code that start with a file's name, and curl lines with their answers. */
export function readSteps(page: string): Step[] {
  return page.split(/^## /m).slice(1).map((text) => ({
    title: text.split("\n")[0] ?? "",
    files: Object.fromEntries(
      [...text.matchAll(FILE)].map(([, name = "", code = ""]) => [name, code]),
    ),
    turns: [...text.matchAll(CONSOLE)].flatMap(([, block = ""]) => readTurns(block)),
  }));
}

function readTurns(block: string): Turn[] {
  return block.trim().split("\n\n").map((pair) => {
    const [line = "", ...answer] = pair.split("\n");
    const headers: string[] = [];
    while (/^[A-Z][\w-]+: /.test(answer.at(-1) ?? "")) headers.unshift(answer.pop() ?? "");
    if (!line.startsWith("$ curl ") || !/^\d{3}\b/.test(answer[0] ?? "")) {
      throw new TypeError(`Cannot read "${pair}": it is no curl line with an answer`);
    }
    return { line: line.slice(2), answer: answer.join("\n"), headers };
  });
}
