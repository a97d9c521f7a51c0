import { assertEquals } from "@std/assert";
import { findRounded, isLostInteger, mayBeRounded } from "./json_numbers.ts";

const CASES: readonly (readonly [text: string, lost: string | undefined, values: number[]])[] = [
  ["0", undefined, []],
  ["-0", undefined, []],
  ["0.1", undefined, []],
  ["1.50", undefined, []],
  ["9007199254740991", undefined, []],
  ["9007199254740992", undefined, []],
  ["9007199254740993", "9007199254740993", [9007199254740992]],
  ["-9007199254740993", "-9007199254740993", [-9007199254740992]],
  ["9007199254740994", undefined, []],
  // As JavaScript writes 2 ** 60, and its exact value.
  ["1152921504606847000", undefined, [2 ** 60]],
  ["1152921504606846976", undefined, [2 ** 60]],
  ["1152921504606846977", "1152921504606846977", [2 ** 60]],
  ["1.5e20", undefined, []],
  ["150000000000000000000", undefined, []],
  ["1e300", undefined, [1e300]],
  ["1e400", "1e400", [Infinity]],
  ["-1e400", "-1e400", [-Infinity]],
  ["0.12345678901234567890", undefined, [0.12345678901234568]],
  ["0.1234567890123456", undefined, []],
  ["1e-400", undefined, [0]],
  ["0e-400", undefined, []],
  ["1.000000000000000000000", undefined, []],
  ['{"9007199254740993":["9007199254740993","\\"9007199254740993"]}', undefined, []],
  ['{"a":[1,{"b":9007199254740993}]}', "9007199254740993", [9007199254740992]],
];

Deno.test("findRounded() finds the numbers that JavaScript does not hold as they are written", async (t) => {
  for (const [text, lost, values] of CASES) {
    await t.step(text, () => {
      JSON.parse(text);
      assertEquals(findRounded(text), { lost, values: new Set(values) });
    });
  }
});

Deno.test("findRounded() reads a long text in time that grows with its length", () => {
  const zeros = "0".repeat(200_000);
  const text = `[1${zeros}1, 0.${zeros}1, 1e${"9".repeat(2000)}, "${"\\\\".repeat(100_000)}"]`;
  assertEquals(findRounded(text).lost, `1${zeros}1`);
});

Deno.test("isLostInteger() knows the texts that become another integer", () => {
  const texts = ["9007199254740993", "+9007199254740993", "9007199254740992", "1e400", "x", ""];
  assertEquals(texts.map(isLostInteger), [true, true, false, false, false, false]);
});

Deno.test("mayBeRounded() knows integers that have no digits to spare", () => {
  const rounded = [9007199254740992, -9007199254740992, 1234567890123456789, 2 ** 60];
  const written = [0, 0.1, 2 ** 53 - 1, 1e18, 1.5e20, 1e300, 1.2345678901234567e25, Infinity, NaN];
  assertEquals(rounded.map(mayBeRounded), rounded.map(() => true));
  assertEquals(written.map(mayBeRounded), written.map(() => false));
});
