import { assertEquals } from "@std/assert";
import { median, quantile } from "./quantile.ts";

Deno.test("median() takes the value in the middle, or between the two", () => {
  assertEquals(median([9, 1, 5]), 5);
  assertEquals(median([4, 1, 2, 9]), 3);
  assertEquals(median([]), NaN);
});

Deno.test("quantile() leaves its values as they are", () => {
  const values = [3, 1, 2];
  assertEquals(quantile(values, 1), 3);
  assertEquals(values, [3, 1, 2]);
});
