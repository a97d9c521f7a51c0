import { assertEquals } from "@std/assert";
import { loneSurrogateAt, namesNoDay } from "./texts.ts";

Deno.test("namesNoDay() knows the calendar", () => {
  const wrong = [
    ...["2026-02-30", "2026-13-01", "2026-00-10", "2026-01-00", "2026-01-32", "2026-04-31"],
    ...["2025-02-29T10:00:00Z", "1900-02-29", "2100-02-29", " 2026-02-30", "+002026-02-30"],
  ];
  assertEquals(wrong.filter(namesNoDay), wrong);
  const right = [
    ...["2026-02-28", "2024-02-29", "2000-02-29T00:00", "2026-12-31", "0000-02-29", "30 Feb 2026"],
    ...["2026", "2026-02", "1700000000000", "", "2026-2-30", "-000004-02-29"],
  ];
  assertEquals(right.filter(namesNoDay), []);
});

Deno.test("loneSurrogateAt() finds texts and keys at any depth", () => {
  const cases: readonly (readonly [value: unknown, path: string | undefined])[] = [
    ["\ud800", ""],
    [{ a: "\udc00" }, "a"],
    [{ a: [{ b: "x\ud800y" }] }, "a.0.b"],
    [{ a: { "\ud800": 1 } }, "a"],
    [{ a: "😀", b: ["\ud83d\ude00"], c: null, d: 1 }, undefined],
  ];
  for (const [value, path] of cases) assertEquals(loneSurrogateAt(value), path);
  const deep = JSON.parse(`${"[".repeat(50_000)}"\\ud800"${"]".repeat(50_000)}`);
  assertEquals(typeof loneSurrogateAt(deep), "string");
});
