/**
 * Stand-ins for `@std/assert`, used where JSR is out of reach. `tests/harness/std_test.ts` holds both to one table of
 * cases.
 *
 * @module
 */
export { assertArrayIncludes } from "./array_includes.ts";
export { AssertionError } from "./assertion_error.ts";
export { equal } from "./equal.ts";
export {
  assertEquals,
  assertNotEquals,
  assertNotStrictEquals,
  assertStrictEquals,
} from "./equals.ts";
export { assertInstanceOf, assertNotInstanceOf } from "./instance_of.ts";
export { assertIsError } from "./is_error.ts";
export {
  assertAlmostEquals,
  assertGreater,
  assertGreaterOrEqual,
  assertLess,
  assertLessOrEqual,
} from "./numbers.ts";
export { assertObjectMatch } from "./object_match.ts";
export { assertRejects } from "./rejects.ts";
export { assertMatch, assertNotMatch, assertStringIncludes } from "./strings.ts";
export { assertThrows } from "./throws.ts";
export { assert, assertExists, assertFalse, fail, unimplemented, unreachable } from "./truth.ts";
