import { assertEquals, assertThrows } from "@std/assert";
import { arrayProp } from "../../declare/decorators/array_prop.ts";
import { prop } from "../../declare/decorators/prop.ts";
import type { Problems } from "../../errors/bad_data.ts";
import { RestError } from "../../errors/rest_error.ts";
import { FrameworkModel } from "../../declare/model/framework_model.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { describeShape } from "../../schema/fields/shape.ts";
import { castFields, castFree } from "./cast_body.ts";
import type { Cast } from "./cast_body.ts";

class Part extends FrameworkModel {
  @prop({ type: Number })
  size?: number;
  @prop({ readonly: true })
  owner?: string;
}

class Whole extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Part })
  part?: Part;
  @arrayProp({ items: Part, embedded: true })
  parts?: Part[];
  @prop({ type: Map, of: Part })
  named?: Map<string, unknown>;
  @prop({ type: Object })
  free?: object;
}

const SHAPE = describeShape(buildSchema(Whole).schema);

function open(): Cast & { readonly problems: Problems } {
  return { path: "", depth: 0, problems: {} };
}

Deno.test("castFields() takes what is declared and writable, cast, without null", () => {
  const cast = open();
  const part = { size: "5", owner: "x", _id: "x", other: 1 };
  const body = { name: 5, part, parts: [part, null], named: { a: part, b: null }, free: null };
  const result = castFields({ ...body, other: 1, _id: "x", __v: 3 }, SHAPE, cast);
  const size = { size: 5 };
  assertEquals(result, { name: "5", part: size, parts: [size, null], named: { a: size } });
  assertEquals(cast.problems, {});
});

Deno.test("castFields() notes every problem under its whole path", () => {
  const cast = open();
  const body = {
    name: {},
    part: { size: "x" },
    parts: [{ size: [] }, 1],
    named: { a: { size: {} } },
  };
  castFields(body, SHAPE, cast);
  const kinds = Object.entries(cast.problems).map(([path, { kind }]) => [path, kind]);
  assertEquals(kinds, [
    ["name", "String"],
    ["part.size", "Number"],
    ["parts.0.size", "Number"],
    ["parts.1", "Object"],
    ["named.a.size", "Number"],
  ]);
});

Deno.test("castFields() never says a value in a message", () => {
  const cast = open();
  castFields({ part: { size: "leak" }, parts: "leak", named: "leak" }, SHAPE, cast);
  assertEquals(JSON.stringify(cast.problems).includes("leak"), false);
});

Deno.test("castFree() copies what it is given, and changes nothing of it", () => {
  const given = { a: [1, { b: null }], c: { d: null, e: "x" } };
  const before = structuredClone(given);
  const result = castFree(given, open()) as typeof given;
  assertEquals(result, { a: [1, { b: null }], c: { e: "x" } } as never);
  assertEquals([given, result.c === given.c], [before, false]);
});

Deno.test("castFree() notes keys that the database could not address, in arrays too", () => {
  for (const key of ["", "$a", "a.b", "a\0b"]) {
    const cast = open();
    castFree({ list: [{ [key]: 1 }] }, cast);
    assertEquals(cast.problems["list.0"]?.kind, "key");
  }
});

Deno.test("castFree() leaves prototype keys out", () => {
  const given = JSON.parse(
    `{"__proto__":{"evil":1},"constructor":1,"prototype":2,"a":{"__proto__":3}}`,
  );
  const result = castFree(given, open()) as Record<string, unknown>;
  assertEquals([Object.keys(result), result.evil], [["a"], undefined]);
  assertEquals(Object.keys(result.a as object), []);
});

Deno.test("castFree() refuses what is nested more than a hundred deep", () => {
  const nest = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));
  castFree(nest(100), open());
  const error = assertThrows(() => castFree(nest(5000), open()), RestError);
  assertEquals(error.status, 400);
});
