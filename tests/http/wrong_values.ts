import { assertEquals } from "@std/assert";

/** Twelve values of which hardly an option can have one. */
const WRONG: Readonly<Record<string, unknown>> = {
  NaN,
  empty: "",
  text: "10 mb",
  "-1": -1,
  null: null,
  Infinity,
  "2^53": 2 ** 53,
  true: true,
  "{}": {},
  "[null]": [null],
  function: () => {},
  "an invalid date": new Date(NaN),
};

/** The wrong values that an option can have nevertheless. `undefined` stands for an option that can have any value. */
export type Takes = string | undefined;

/** Checks that an option refuses each wrong value by an error with its name, and starts with each other value. */
export function refuses(option: string, takes: Takes, start: (value: unknown) => unknown): void {
  if (takes === undefined) return;
  const started = Object.keys(WRONG).filter((name) => {
    try {
      start(WRONG[name]);
      return true;
    } catch (error) {
      checkNamed(option, { value: name, error });
      return false;
    }
  });
  checkStarted(option, { takes, started });
}

/** Does the same for a function that returns a promise. */
export async function refusesLate(
  option: string,
  takes: Takes,
  start: (value: unknown) => Promise<unknown>,
): Promise<void> {
  if (takes === undefined) return;
  const started: string[] = [];
  for (const [name, value] of Object.entries(WRONG)) {
    try {
      await start(value);
      started.push(name);
    } catch (error) {
      checkNamed(option, { value: name, error });
    }
  }
  checkStarted(option, { takes, started });
}

function checkNamed(option: string, { value, error }: { value: string; error: unknown }): void {
  assertEquals(error instanceof TypeError || error instanceof RangeError, true, String(error));
  const named = (option.split(".").at(-1) ?? option).replace(/^connections$/, "connection");
  assertEquals(String(error).includes(named), true, `${option}: ${value}: ${error}`);
}

function checkStarted(
  option: string,
  { takes, started }: { takes: string; started: readonly string[] },
): void {
  const expected = takes.split(" ").filter((name) => name !== "");
  assertEquals(started.toSorted(), expected.toSorted(), option);
}

/** Checks that a table has a row for each known option, and no other. */
export function hasRows(table: Readonly<Record<string, Takes>>, known: Iterable<string>): void {
  assertEquals(Object.keys(table).toSorted(), [...new Set(known)].toSorted());
}
