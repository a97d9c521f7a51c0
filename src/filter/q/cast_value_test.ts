import { assertEquals, assertThrows } from "@std/assert";
import { RestError } from "../../errors/rest_error.ts";
import { isExtendedJson, readExtendedJson } from "./cast_value.ts";

const UUID = "0e7cdda8-3f5e-4b8e-9f6b-1d4f5f1c2a3b";

Deno.test("isExtendedJson() knows a value by its one key, when that is a form that is read", async (t) => {
  const cases: [object, boolean][] = [
    [{ $oid: "x" }, true],
    [{ $date: 0 }, true],
    [{ $numberLong: "1" }, true],
    [{}, false],
    [{ $oid: "x", more: 1 }, false],
    [{ oid: "x" }, false],
    [{ $eq: 1 }, false],
    [{ $code: "1" }, false],
    [{ $regularExpression: { pattern: "a", options: "" } }, false],
    [{ $minKey: 1 }, false],
    [{ toString: 1 }, false],
    [JSON.parse('{"__proto__":1}'), false],
    [{ constructor: 1 }, false],
  ];
  for (const [value, expected] of cases) {
    await t.step(JSON.stringify(value), () => {
      assertEquals(isExtendedJson(value as Record<string, unknown>), expected);
    });
  }
});

Deno.test("readExtendedJson() gives the value that a form stands for", async (t) => {
  const cases: [Record<string, unknown>, string][] = [
    [{ $oid: "507f1f77bcf86cd799439011" }, "507f1f77bcf86cd799439011"],
    [{ $numberInt: "-5" }, "-5"],
    [{ $numberLong: "9007199254740993" }, "9007199254740993"],
    [{ $numberDouble: "1.5e3" }, "1500"],
    [{ $numberDouble: "-Infinity" }, "-Infinity"],
    [{ $numberDouble: "NaN" }, "NaN"],
    [{ $numberDecimal: "1.10" }, "1.10"],
    [{ $uuid: UUID }, UUID],
  ];
  for (const [value, expected] of cases) {
    await t.step(JSON.stringify(value), () => {
      assertEquals(String(readExtendedJson(value, "path")), expected);
    });
  }
});

Deno.test("readExtendedJson() reads a date in every relaxed form", () => {
  const forms = ["1970-01-01T00:00:01Z", 1000, { $numberLong: "1000" }];

  const dates = forms.map(($date) => readExtendedJson({ $date }, "path"));

  assertEquals(dates, forms.map(() => new Date(1000)));
});

Deno.test("readExtendedJson() reads bytes with their subtype", () => {
  const read = readExtendedJson({ $binary: { base64: "AQID", subType: "05" } }, "path") as {
    buffer: Uint8Array;
    sub_type: number;
  };

  assertEquals([...read.buffer], [1, 2, 3]);
  assertEquals(read.sub_type, 5);
});

const MALFORMED: readonly Record<string, unknown>[] = [
  { $oid: "xyz" },
  { $oid: "507f1f77bcf86cd79943901" },
  { $oid: 5 },
  { $oid: null },
  { $oid: { $oid: "507f1f77bcf86cd799439011" } },
  { $date: "never" },
  { $date: null },
  { $date: {} },
  { $date: { $oid: "507f1f77bcf86cd799439011" } },
  { $date: { $date: {} } },
  { $numberInt: "1.5" },
  { $numberLong: "1e3" },
  { $numberLong: 5 },
  { $numberLong: "12345678901234567890" },
  { $numberDouble: "one" },
  { $numberDecimal: "one" },
  { $uuid: "short" },
  { $binary: "AQID" },
  { $binary: { base64: "!", subType: "00" } },
  { $binary: { base64: "AQID", subType: "xyz" } },
  { $binary: { base64: "EAE=", subType: "09" } },
];

Deno.test("readExtendedJson() answers 400 and names the path when the value is malformed", async (t) => {
  for (const value of MALFORMED) {
    await t.step(JSON.stringify(value), () => {
      const error = assertThrows(() => readExtendedJson(value, "a.b"), RestError);
      assertEquals(error.status, 400);
      assertEquals((error.body as { code: string }).code, "BAD_FORMAT");
      assertEquals((error.body as { field: string }).field, "a.b");
    });
  }
});

Deno.test("readExtendedJson() refuses an integer when 64 bits cannot hold it", () => {
  assertThrows(() => readExtendedJson({ $numberLong: "9223372036854775808" }, "path"), RestError);
});
