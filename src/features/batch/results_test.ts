import { assertThrows } from "@std/assert";
import { RestError } from "../../errors/rest_error.ts";
import { Results } from "./results.ts";

Deno.test("the limit of copied values counts bytes, and not characters", () => {
  const results = new Results();
  results.add("a", () => "é".repeat(9_000_000));
  assertThrows(() => results.valueOf({ text: "a", id: "a", steps: [] }), RestError);
});
