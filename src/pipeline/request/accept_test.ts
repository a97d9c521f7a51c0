import { assertEquals } from "@std/assert";
import { test } from "../../../tests/harness/testing.ts";
import { chooseType, namesType } from "./accept.ts";

const TYPES = ["application/json", "application/x-ndjson", "text/csv"];

const CHOSEN: readonly [string | undefined, string | undefined][] = [
  [undefined, "application/json"],
  ["", "application/json"],
  ["application/json; charset=utf-8", "application/json"],
  ["text/csv; charset=utf-8; header=present", "text/csv"],
  ["TEXT/CSV ; CHARSET=UTF-8", "text/csv"],
  ['text/csv;a="x,application/json;q=1\\"";q=0.5, application/x-ndjson;q=0.4', "text/csv"],
  ["text/csv;header=absent;q=0.1, application/x-ndjson;v=2;q=0.2", "application/x-ndjson"],
  ["text/csv; charset=utf-8; q=0, text/*", undefined],
  ["text/csv; level=1; q=0, text/csv; q=0.5", "text/csv"],
  ["*/*;q=0.1, text/*;q=0.2", "text/csv"],
  ["application/json; profile=x", undefined],
  ['application/json; Profile="https://a.example/b", text/csv; q=0.1', "text/csv"],
  ["application/json; q=much", undefined],
  ["nonsense", undefined],
  ["*", undefined],
  [';;,,==,"', undefined],
];

test("chooseType() ignores parameters of media types, except the weight and the profile", () => {
  for (const [accept, type] of CHOSEN) {
    assertEquals([accept, chooseType(accept, TYPES)], [accept, type]);
  }
});

test("namesType() wants the type itself, with a weight", () => {
  const named = (accept?: string) => namesType(accept, "text/csv");
  assertEquals(["text/csv;a=b", "a/b, Text/CSV ;q=0.1"].map(named), [true, true]);
  assertEquals(["text/*", "*/*", "text/csv;q=0", undefined].map(named), Array(4).fill(false));
});
