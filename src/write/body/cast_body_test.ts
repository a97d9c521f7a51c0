import { assertEquals } from "@std/assert";
import { arrayProp, prop } from "../../declare/decorators/prop.ts";
import { FrameworkModel } from "../../declare/model/framework_model.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { describeShape } from "../../schema/fields/shape.ts";
import { BodyCast } from "./cast_body.ts";

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

Deno.test("BodyCast.fields() takes what is declared and writable, cast, without null", () => {
  const cast = new BodyCast();
  const part = { size: "5", owner: "x", _id: "x", other: 1 };
  const body = { name: 5, part, parts: [part, null], named: { a: part, b: null }, free: null };
  const result = cast.fields({ ...body, other: 1, _id: "x", __v: 3 }, SHAPE);
  const size = { size: 5 };
  assertEquals(result, { name: "5", part: size, parts: [size, null], named: { a: size } });
  assertEquals(cast.problems, {});
});

Deno.test("BodyCast.fields() notes every problem under its whole path", () => {
  const cast = new BodyCast();
  const body = {
    name: {},
    part: { size: "x" },
    parts: [{ size: [] }, 1],
    named: { a: { size: {} } },
  };
  cast.fields(body, SHAPE);
  const kinds = Object.entries(cast.problems).map(([path, { kind }]) => [path, kind]);
  assertEquals(kinds, [
    ["name", "String"],
    ["part.size", "Number"],
    ["parts.0.size", "Number"],
    ["parts.1", "Object"],
    ["named.a.size", "Number"],
  ]);
});

Deno.test("BodyCast.fields() never says a value in a message", () => {
  const cast = new BodyCast();
  cast.fields({ part: { size: "leak" }, parts: "leak", named: "leak" }, SHAPE);
  assertEquals(JSON.stringify(cast.problems).includes("leak"), false);
});

Deno.test("BodyCast.free() copies what it is given, and changes nothing of it", () => {
  const given = { a: [1, { b: null }], c: { d: null, e: "x" } };
  const before = structuredClone(given);
  const result = new BodyCast().free(given) as typeof given;
  assertEquals(result, { a: [1, { b: null }], c: { e: "x" } } as never);
  assertEquals([given, result.c === given.c], [before, false]);
});

Deno.test("BodyCast.free() notes keys that the database could not address, in arrays too", () => {
  for (const key of ["", "$a", "a.b", "a\0b"]) {
    const cast = new BodyCast();
    cast.free({ list: [{ [key]: 1 }] });
    assertEquals(cast.problems["list.0"]?.kind, "key");
  }
});

Deno.test("BodyCast.free() leaves prototype keys out", () => {
  const given = JSON.parse(
    `{"__proto__":{"evil":1},"constructor":1,"prototype":2,"a":{"__proto__":3}}`,
  );
  const result = new BodyCast().free(given) as Record<string, unknown>;
  assertEquals([Object.keys(result), result.evil], [["a"], undefined]);
  assertEquals(Object.keys(result.a as object), []);
});
